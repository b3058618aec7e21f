import { describe, expect, it } from "vitest";

import type { Card, NodesTable, Selection } from "@/api/types";
import { NodeColumns } from "@/live/nodeColumns";

import { holds } from "./cardHolds";
import { cellAt, cellLayout, MOST_CELLS, pitchFor } from "./cells";
import { barsOf, groupNodes, groupShare, tileLayout } from "./nodeGroups";
import { reasonCounts, runnerUp, shortReason, verdictOf } from "./selection";

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

describe("cells", () => {
  it("are as large as fit, within bounds", () => {
    const pitch = pitchFor([1668, 1666, 1666], 320, 320);
    expect(Math.ceil(1668 / Math.floor(320 / pitch)) * pitch).toBeLessThanOrEqual(320);
    expect(pitchFor([3], 320, 320)).toBe(22);
    expect(pitchFor([100_000], 320, 320)).toBe(6);
  });
  it("find the cell under the pointer, and none in the empty end of a line", () => {
    const layout = cellLayout(10, 10, 40, 10);
    expect(layout).toMatchObject({ columns: 4, cells: 10, per: 1, height: 30 });
    expect(cellAt(layout, 15, 12)).toBe(5);
    expect(cellAt(layout, 39, 29)).toBeNull();
    expect(cellAt(layout, -1, 0)).toBeNull();
  });
  it("stand for several nodes above twenty thousand", () => {
    expect(cellLayout(30_000, 30_000, 300, 6)).toMatchObject({ per: 2, cells: 15_000 });
    expect(cellLayout(MOST_CELLS, MOST_CELLS, 300, 6).per).toBe(1);
  });
});

const selection: Selection = {
  attempt: 3,
  verdict: [-1, 0, -1, 1, 0, -2],
  reasons: [
    { plugin: "NodeResourcesFit", text: "Insufficient cpu" },
    { plugin: "TaintToleration", text: "t" },
  ],
  total: [640, null, 600, null, null, null],
  rank: [1, null, 2, null, null, null],
  chosen: 0,
  nominated: null,
};

describe("what a selected pod says of the nodes", () => {
  it("one by one", () => {
    expect(verdictOf(selection, 0)).toEqual({ kind: "chosen", rank: 1, total: 640 });
    expect(verdictOf(selection, 2)).toEqual({ kind: "feasible", rank: 2, total: 600 });
    expect(verdictOf(selection, 1)).toEqual({
      kind: "refused",
      reason: "Insufficient cpu",
      plugin: "NodeResourcesFit",
    });
    expect(verdictOf(selection, 5)).toEqual({ kind: "unseen", reason: "not checked" });
    expect(verdictOf(selection, 99).kind).toBe("unseen");
  });
  it("counted, most first", () => {
    const counts = reasonCounts(selection);
    expect([counts.feasible, counts.scored, counts.unseen]).toEqual([2, 2, 1]);
    expect(counts.reasons.map((reason) => [reason.text, reason.nodes])).toEqual([
      ["Insufficient cpu", [1, 4]],
      ["t", [3]],
    ]);
  });
  it("and who came second", () => {
    expect(runnerUp(selection)).toBe(2);
    expect(runnerUp({ ...selection, total: [640, null, null, null, null, null] })).toBeNull();
  });
  it.each([
    ["Insufficient nvidia.com/gpu", "no GPU"],
    ["Insufficient cpu, Insufficient memory", "no cpu +1"],
    ["Insufficient cpu, Insufficient nvidia.com/gpu", "no GPU +1"],
    ["node(s) were unschedulable", "cordoned"],
    ["node(s) didn't match Pod's node affinity/selector", "affinity"],
    ["node(s) had untolerated taint(s) {dedicated: data}", "taint dedicated"],
    ["node(s) had untolerated taint(s)", "taint"],
    ["node(s) didn't match pod topology spread constraints", "spread"],
    ["node(s) didn't match pod anti-affinity rules", "pod affinity"],
  ])("in short: %s", (text, want) => expect(shortReason(text)).toBe(want));
});

describe("a group's card", () => {
  it("is marked for every member that it names", () => {
    const card = {
      kind: "group",
      namespace: "ml",
      name: "serve-6859b459fc-pqp79",
      workload: "serve",
      pods: ["pqp79", "g58m6"],
    } as Card;
    expect(holds(card, "ml/serve-6859b459fc-g58m6")).toBe(true);
    expect(holds(card, "ml/serve-6859b459fc-pqp79")).toBe(true);
    expect(holds(card, "ml/serve-6859b459fc-zzzzz")).toBe(false);
    expect(holds(card, "data/serve-6859b459fc-g58m6")).toBe(false);
    expect(holds(card, undefined)).toBe(false);
  });
});
