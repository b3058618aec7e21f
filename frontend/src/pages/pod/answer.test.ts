import { describe, expect, it } from "vitest";

import type { FilterAnswer, FilterGroup, NodeAmount, Scores } from "@/api/podTypes";

import { refusedAnswer, wonAnswer } from "./answer";

const cells = (...points: number[]) => points.map((one) => ({ raw: one, normalized: one, points: one }));
const row = (node: string, rank: number, ...points: number[]) => {
  const total = points.reduce((sum, one) => sum + one, 0);
  return { node, rank, tied: false, chosen: false, total, to_best: total - 700, cells: cells(...points) };
};
const rows = [row("node-00", 1, 616, 84), row("node-03", 1, 616, 84), row("node-09", 1, 616, 84), row("node-21", 4, 616, 79)];
const scores: Scores = {
  scored: true, plugins: ["InterPodAffinity", "NodeResourcesFit"].map((name) => ({ name, weight: 1, equal_for_all: false })), feasible: 26, best: 700,
  chosen: rows[0] ?? null, histogram: [], tie: { count: 3, chosen_by: "seed 7" }, decided_by: "NodeResourcesFit",
  runner_up: { node: "node-21", total: 695 }, count: 4, offset: 0, limit: 50, rows,
};
const sampling = { checked: 28, feasible: 26, of: 28 };

describe("wonAnswer", () => {
  it("names the equals, the margin and what made it", () => {
    expect(wonAnswer("node-00", scores, sampling)).toEqual({
      headline: "node-00 won with 700 points, equal with node-03 and node-09.",
      detail: "Seed 7 chose 1 of 3. They beat node-21 by 5 points, all from NodeResourcesFit. 26 of 28 nodes were feasible and all 26 were scored.",
    });
  });

  it("says when a plugin only gave most of the margin, and what was not looked at", () => {
    const close = { ...scores, tie: { count: 1, chosen_by: "" }, rows: [row("node-00", 1, 616, 84), row("node-21", 2, 614, 81)] };
    expect(wonAnswer("node-00", close, { checked: 100, feasible: 26, of: 1000 })).toEqual({
      headline: "node-00 won with 700 points.",
      detail: "It beat node-21 by 5 points, most of it from NodeResourcesFit. 26 of 1,000 nodes were feasible and all 26 were scored; 900 were not looked at.",
    });
  });

  it("has nothing to say when nothing was scored", () => {
    expect(wonAnswer("node-00", { ...scores, scored: false }, sampling)).toBeNull();
  });
});

const amounts = (name: string, allocatable: number, requested: number, wanted: number): NodeAmount => ({
  name, allocatable, requested, free: allocatable - requested, wanted, short: Math.max(0, wanted - allocatable + requested),
});
const group = (more: Partial<FilterGroup>): FilterGroup => ({
  plugin: "NodeResourcesFit", code: "Unschedulable", reasons: ["Insufficient nvidia.com/gpu"], text: "Insufficient nvidia.com/gpu", count: 1,
  can_become_free: true, nearest_note: "", nodes: [{ name: "gpu-1", zone: "", type: "", resources: [amounts("nvidia.com/gpu", 8, 2, 8)] }], ...more,
});
const taint = group({
  plugin: "TaintToleration", code: "UnschedulableAndUnresolvable", reasons: ["node(s) had untolerated taint(s)"], text: "node(s) had untolerated taint(s)",
  can_become_free: false, count: 6, nodes: [{ name: "db-1", zone: "", type: "", resources: [amounts("nvidia.com/gpu", 8, 0, 8)] }],
});
const answer = (groups: FilterGroup[]): FilterAnswer => ({ feasible: 0, not_checked: 0, groups, count: groups.length, offset: 0, limit: 50, nodes: [], rows: [] });

describe("refusedAnswer", () => {
  it("says what no node has when every node lacks it", () => {
    expect(refusedAnswer(answer([group({}), group({ can_become_free: false, count: 24 })]))).toEqual({
      headline: "No node has 8 free GPUs. The nearest, gpu-1, has 6.",
      detail: "NodeResourcesFit refuses 25 of 25 nodes. Pods that go can make room on 1 of them, not on the other 24.",
    });
  });

  it("does not claim it of nodes that were refused for something else", () => {
    expect(refusedAnswer(answer([group({}), taint]))?.headline).toBe("No node fits. The nearest, gpu-1, has 6 free GPU and the pod wants 8.");
  });

  it("lists everything that the nearest lacks", () => {
    const both = group({ nodes: [{ name: "gpu-1", zone: "", type: "", resources: [amounts("nvidia.com/gpu", 8, 2, 8), amounts("cpu", 4000, 3500, 1000)] }] });
    expect(refusedAnswer(answer([both]))?.headline).toBe("No node fits. The nearest, gpu-1, is short of 2 GPU and 0.5 cpu.");
  });

  it("repeats the one reason that all nodes share, and leaves the rest to the server", () => {
    expect(refusedAnswer(answer([taint]))?.headline).toBe("All 6 nodes refuse it: node(s) had untolerated taint(s).");
    expect(refusedAnswer(answer([taint, { ...taint, plugin: "NodeAffinity" }]))).toBeNull();
    expect(refusedAnswer(answer([]))).toBeNull();
  });
});
