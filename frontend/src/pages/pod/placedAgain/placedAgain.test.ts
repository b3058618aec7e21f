import { expect, it } from "vitest";

import type { PlacedAgainAnswer } from "@/api/analyses";

import { againDetail, againHeadline } from "./placedAgain";

const answer = (more: Partial<PlacedAgainAnswer>): PlacedAgainAnswer => ({
  pod: "shop/web",
  node: "a",
  to: "a",
  nodes: 5,
  feasible: 3,
  tied: 1,
  rank: 1,
  plugin: "",
  reasons: [],
  message: "",
  plugins: ["Fit"],
  weights: [1],
  ranked: [
    { node: "b", rank: 1, total: 300, scores: [300] },
    { node: "a", rank: 2, total: 250, scores: [250] },
  ],
  ...more,
});

it.each<[string, Partial<PlacedAgainAnswer>, string, string[]]>([
  ["is the best", {}, "It would come to a again: it is the best node.", []],
  [
    "is the only one",
    { feasible: 1, tied: 0, ranked: [] },
    "It would come to a again: it is the best node.",
    ["Of 5 nodes it is the only feasible one."],
  ],
  ["is drawn again", { tied: 2 }, "It would come to a again: 2 nodes are equally good, and the seed draws it.", []],
  [
    "another is drawn",
    { tied: 2, to: "b" },
    "It would go to b, which is as good as a: 2 nodes are equally good, and the seed draws.",
    [],
  ],
  [
    "another is better",
    { to: "b", rank: 2 },
    "It would go to b.",
    ["a is number 2 of 3 feasible nodes, 50 points behind the best."],
  ],
  [
    "is refused where it is",
    { to: "b", rank: 0, plugin: "TaintToleration", reasons: ["node(s) had untolerated taint(s)"] },
    "It would go to b.",
    ["a would refuse it now: TaintToleration, node(s) had untolerated taint(s)."],
  ],
  ["its node is gone", { to: "b", rank: 0, reasons: ["gone"] }, "It would go to b.", ["a is no longer there."]],
  [
    "nowhere",
    { to: "", rank: 0, plugin: "NodeName", reasons: ["x"], message: "0/5 nodes are available.", ranked: [] },
    "It would find no place.",
    ["a would refuse it now: NodeName, x.", "0/5 nodes are available."],
  ],
  [
    "held",
    { to: "", rank: 0, nodes: 0, message: "waits for gates", ranked: [] },
    "It would be held before the queue.",
    ["waits for gates"],
  ],
])("says where it would go: %s", (_, more, headline, detail) => {
  expect(againHeadline(answer(more))).toBe(headline);
  expect(againDetail(answer(more))).toEqual(detail);
});
