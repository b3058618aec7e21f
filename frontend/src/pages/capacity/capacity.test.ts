import { describe, expect, it } from "vitest";

import type { NodesAnswer, PodsAnswer } from "@/api/analyses";

import { csv, nodesRows, nodesSentence, podsRows, podsSentence, roomOf, shapesOf } from "./capacity";

const pods: PodsAnswer = {
  pod: "shop/web",
  fits: 7,
  at_limit: false,
  message: "0/4 nodes are available.",
  nodes: [
    {
      node: "a",
      fits: 2,
      plugin: "NodeResourcesFit",
      reasons: ["Insufficient cpu", "Insufficient memory"],
      can_become_free: true,
    },
    { node: "b", fits: 5, plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"], can_become_free: true },
    { node: "c", fits: 0, plugin: "TaintToleration", reasons: ["untolerated taint"], can_become_free: false },
    { node: "d", fits: 0, plugin: "TaintToleration", reasons: ["untolerated taint"], can_become_free: false },
  ],
};
const nodes: NodesAnswer = {
  shape: "a",
  nodes: 3,
  helped: 12,
  with_one_less: 4,
  never: [{ pod: "shop/huge", message: "Insufficient cpu, memory" }],
  limit: 200,
};

describe("how many more fit", () => {
  it("puts nodes that take most first and groups the full ones", () => {
    const { taking, full } = roomOf(pods);
    expect(taking.map((one) => one.node)).toEqual(["b", "a"]);
    expect(full).toEqual([{ plugin: "TaintToleration", reasons: "untolerated taint", nodes: ["c", "d"] }]);
  });
  it("says it in a sentence", () => {
    expect(podsSentence(pods)).toBe("7 more like shop/web fit.");
    expect(podsSentence({ ...pods, fits: 1 })).toBe("1 more like shop/web fits.");
    expect(podsSentence({ ...pods, fits: 1000, at_limit: true })).toBe("At least 1,000 more like shop/web fit.");
    expect(podsSentence({ ...pods, fits: 0 })).toBe("No more like shop/web fits.");
  });
  it("writes every node into the file", () => {
    expect(csv(podsRows(pods)).split("\r\n")).toHaveLength(6);
    expect(csv(podsRows(pods))).toContain("a,2,NodeResourcesFit,Insufficient cpu; Insufficient memory,true");
  });
});

describe("how many nodes", () => {
  it("says it in a sentence", () => {
    expect(nodesSentence(nodes)).toBe(
      "3 more nodes like a give 12 pending pods a place; with 2, 5 pods would still be pending.",
    );
    expect(nodesSentence({ ...nodes, nodes: 1, helped: 1, with_one_less: 1 })).toBe(
      "1 more node like a gives 1 pending pod a place; with 0, 2 pods would still be pending.",
    );
    expect(nodesSentence({ ...nodes, nodes: 0, helped: 0, with_one_less: 0 })).toBe(
      "No number of nodes like a helps anybody who is pending.",
    );
    expect(nodesSentence({ ...nodes, nodes: 0, never: [] })).toBe("Every pending pod has room already.");
  });
  it("writes who stays pending", () => {
    expect(csv(nodesRows(nodes))).toContain('a,,,,shop/huge,"Insufficient cpu, memory"');
  });
});

describe("csv", () => {
  it("quotes what would break a row, and formulas", () => {
    expect(csv([['say "hi"', "two\nlines", "=1+1", -3]])).toBe('"say ""hi""","two\nlines",\'=1+1,-3\r\n');
  });
});

describe("shapesOf", () => {
  it("counts nodes of one type and size once", () => {
    const shapes = shapesOf({
      names: ["a", "b", "c"],
      types: ["m5", ""],
      type: [0, 0, 1],
      pools: [""],
      pool: [0, 0, 0],
      resources: ["cpu", "memory", "pods"],
      allocatable: [
        Float64Array.of(4000, 4000, 8000),
        Float64Array.of(2 ** 33, 2 ** 33, 2 ** 33),
        Float64Array.of(110, 110, 110),
      ],
    });
    expect(shapes).toEqual([
      { node: "a", nodes: 2, label: "m5: 4 cpu, 8 Gi" },
      { node: "c", nodes: 1, label: "c: 8 cpu, 8 Gi" },
    ]);
  });
});
