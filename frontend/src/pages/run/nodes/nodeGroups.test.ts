import { describe, expect, it } from "vitest";

import type { NodesTable } from "@/api/types";
import { NodeColumns } from "@/live/nodeColumns";

import { barsOf, groupNodes, groupShare, tileLayout } from "./nodeGroups";

function nodes(zones: string[], pools: string[] = zones.map(() => "p")): NodeColumns {
  const coded = (texts: string[]) => [...new Set(texts)];
  const table: NodesTable = {
    seq: 1,
    count: zones.length,
    resources: ["cpu", "pods", "gpu"],
    zones: coded(zones).map((name) => ({ name, nodes: 1 })),
    row: zones.map((_, row) => row),
    names: zones.map((_, row) => `n${row}`),
    zone: zones.map((zone) => coded(zones).indexOf(zone)),
    pools: coded(pools),
    pool: pools.map((pool) => coded(pools).indexOf(pool)),
    types: ["t"],
    type: zones.map(() => 0),
    cordoned: zones.map(() => 0),
    tainted: zones.map(() => 0),
    allocatable: zones.map(() => [100, 10, 0]),
    requested: zones.map((_, row) => [row * 10, 1, 0]),
    reserved: zones.map(() => [5, 0, 0]),
    pods: zones.map(() => [1, 0, 0]),
  };
  return NodeColumns.from(table);
}

describe("groups of nodes", () => {
  it("by zone, by pool, or all together", () => {
    const table = nodes(["a", "b", "a", ""], ["x", "x", "y", ""]);
    expect(groupNodes(table, "zone")).toEqual([
      { name: "a", rows: [0, 2] },
      { name: "b", rows: [1] },
      { name: "no zone", rows: [3] },
    ]);
    expect(groupNodes(table, "pool")).toEqual([
      { name: "x", rows: [0, 1] },
      { name: "y", rows: [2] },
      { name: "no pool", rows: [3] },
    ]);
    expect(groupNodes(table, "none")).toEqual([{ name: "All nodes", rows: [0, 1, 2, 3] }]);
    expect(groupNodes(nodes([]), "none")).toEqual([]);
  });
  it("split a zone of more than 2,000 nodes by pool", () => {
    const table = nodes(
      Array.from({ length: 2001 }, () => "a"),
      Array.from({ length: 2001 }, (_, index) => (index < 5 ? "x" : "y")),
    );
    expect(groupNodes(table, "zone").map((group) => [group.name, group.rows.length])).toEqual([
      ["a · x", 5],
      ["a · y", 1996],
    ]);
  });
  it("say how much of a resource is requested or reserved", () => {
    expect(groupShare(nodes(["a", "a"]), [0, 1], 0)).toBeCloseTo(0.1);
    expect(groupShare(nodes(["a"]), [0], 2)).toBe(0);
  });
  it("draw a bar only for what a node has", () => expect(barsOf(nodes(["a"]), 0)).toEqual([0, 1]));
});

describe("the layout of tiles", () => {
  it("puts three zones beside each other in as few rows as fit", () => {
    expect(tileLayout([13, 12, 11], 1066)).toEqual({ columns: [5, 4, 4], rows: 3 });
  });
  it("stacks the groups when there are many, or little room", () => {
    expect(tileLayout([4, 4, 4, 4, 4], 1066).columns).toEqual([]);
    expect(tileLayout([4, 4], 360).columns).toEqual([]);
  });
});
