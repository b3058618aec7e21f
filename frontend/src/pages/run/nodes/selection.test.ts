import { describe, expect, it } from "vitest";

import type { Selection } from "@/api/types";

import { reasonCounts, runnerUp, shortReason, verdictOf } from "./selection";

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
  batched_with: null,
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
