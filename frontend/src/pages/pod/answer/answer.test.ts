import { describe, expect, it } from "vitest";

import type { Scores } from "@/api/podTypes";

import { wonAnswer } from "./answer";

const cells = (...points: number[]) => points.map((one) => ({ raw: one, normalized: one, points: one }));
const row = (node: string, rank: number, ...points: number[]) => {
  const total = points.reduce((sum, one) => sum + one, 0);
  return { node, rank, tied: false, chosen: false, total, to_best: total - 700, cells: cells(...points) };
};
const rows = [
  row("node-00", 1, 616, 84),
  row("node-03", 1, 616, 84),
  row("node-09", 1, 616, 84),
  row("node-21", 4, 616, 79),
];
const scores: Scores = {
  scored: true,
  plugins: ["InterPodAffinity", "NodeResourcesFit"].map((name) => ({
    name,
    weight: 1,
    equal_for_all: false,
    about: "",
  })),
  feasible: 26,
  best: 700,
  chosen: rows[0] ?? null,
  histogram: [],
  tie: { count: 3, chosen_by: "seed 7", seeded: true },
  decided_by: "NodeResourcesFit",
  runner_up: { node: "node-21", total: 695 },
  count: 4,
  offset: 0,
  limit: 50,
  rows,
};
const sampling = { checked: 28, feasible: 26, of: 28, sampled: false, nominated: null, batched_with: null };

describe("wonAnswer", () => {
  it("names the equals, the margin and what made it", () => {
    expect(wonAnswer("node-00", scores, sampling)).toEqual({
      headline: "node-00 won with 700 points, equal with node-03 and node-09.",
      detail:
        "Seed 7 chose 1 of 3. They beat node-21 by 5 points, all from NodeResourcesFit. 26 of 28 nodes were feasible and all 26 were scored.",
    });
  });

  it("says when a plugin only gave most of the margin, and what was not looked at", () => {
    const close = {
      ...scores,
      tie: { count: 1, chosen_by: "", seeded: false },
      rows: [row("node-00", 1, 616, 84), row("node-21", 2, 614, 81)],
    };
    expect(
      wonAnswer("node-00", close, {
        checked: 100,
        feasible: 26,
        of: 1000,
        sampled: true,
        nominated: null,
        batched_with: null,
      }),
    ).toEqual({
      headline: "node-00 won with 700 points.",
      detail:
        "It beat node-21 by 5 points, most of it from NodeResourcesFit. 26 of 1,000 nodes were feasible and all 26 were scored; 900 were not looked at.",
    });
  });

  it("has nothing to say when nothing was scored", () => {
    expect(wonAnswer("node-00", { ...scores, scored: false }, sampling)).toBeNull();
  });
});
