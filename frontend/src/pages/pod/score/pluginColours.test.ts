import { expect, it } from "vitest";

import { looksOf } from "./pluginColours";

const plugin = (name: string) => ({ name, weight: 1, equal_for_all: false });

it("stacks in the fixed order whatever the profile's order, and remembers the cell", () => {
  const looks = looksOf(["ImageLocality", "NodeResourcesFit", "TaintToleration"].map(plugin));
  expect(looks.map((look) => [look.name, look.colour, look.cell])).toEqual([
    ["TaintToleration", "taint", 2],
    ["NodeResourcesFit", "fit", 1],
    ["ImageLocality", "image", 0],
  ]);
});

it("gives others the next free colours by name, hatched when none is left", () => {
  const names = [
    "TaintToleration",
    "NodeAffinity",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DynamicResources",
    "Zeta",
    "CostScore",
  ];
  const looks = looksOf(names.map(plugin));
  expect(looks.slice(-2).map((look) => [look.name, look.colour, look.hatched])).toEqual([
    ["CostScore", "volume", false],
    ["Zeta", "taint", true],
  ]);
  expect(new Set(looks.map((look) => look.cell)).size).toBe(names.length);
});
