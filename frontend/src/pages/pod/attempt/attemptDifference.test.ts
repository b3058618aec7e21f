import { expect, test } from "vitest";

import type { AttemptDifference, AttemptRow } from "@/api/podTypes";

import { differenceAnswer, verdictText } from "./attemptDifference";

const row = (attempt: number, node: string | null, result = node === null ? "unschedulable" : "bound"): AttemptRow => ({
  number: attempt,
  pod: { namespace: "shop", name: "web", workload: "web", tail: "" },
  attempt,
  at: "2026-01-01T00:00:00Z",
  result,
  node,
  message: "",
  score: null,
  duration_us: null,
});

const between = (more: Partial<AttemptDifference>): AttemptDifference => ({
  before: row(1, null),
  after: row(2, "b"),
  feasible: [0, 1],
  nodes_changed: 2,
  groups: [],
  nodes: [],
  scored_in_both: false,
  plugins: [],
  count: 0,
  offset: 0,
  limit: 100,
  rows: [],
  ...more,
});

test("the answer names both ends, what changed and how many fit now", () => {
  expect(differenceAnswer(between({}))).toBe(
    "Attempt 1 found no node, attempt 2 went to b: 2 nodes changed their verdict, 1 more fits.",
  );
  expect(differenceAnswer(between({ nodes_changed: 1, feasible: [5, 3], before: row(1, "a", "waiting") }))).toBe(
    "Attempt 1 waits on a, attempt 2 went to b: 1 node changed its verdict, 2 fewer fit.",
  );
  expect(differenceAnswer(between({ feasible: [4, 4], after: row(2, "b", "unschedulable") }))).toBe(
    "Attempt 1 found no node, attempt 2 chose b and was not bound: 2 nodes changed their verdict, 4 fit, as before.",
  );
});

test("without another verdict it speaks of points", () => {
  expect(differenceAnswer(between({ nodes_changed: 0, count: 3, scored_in_both: true }))).toContain(
    "no node changed its verdict, 3 nodes got other points.",
  );
  expect(differenceAnswer(between({ nodes_changed: 0, scored_in_both: true }))).toContain(
    "every node got the same verdict and the same points.",
  );
  expect(differenceAnswer(between({ nodes_changed: 0, before: row(1, null, "error"), after: row(2, null) }))).toBe(
    "Attempt 1 ended in an error, attempt 2 found no node; every node got the same verdict.",
  );
});

test("a verdict in words", () => {
  expect(
    verdictText({ kind: "rejected", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu", "Too many pods"] }),
  ).toBe("NodeResourcesFit: Insufficient cpu, Too many pods");
  expect(verdictText({ kind: "rejected", plugin: "NodePorts", reasons: [] })).toBe("NodePorts");
  expect(verdictText({ kind: "not there", plugin: "", reasons: [] })).toBe("not there");
});
