import { describe, expect, it } from "vitest";

import type { EffectiveProfile } from "@/api/configurationTypes";

import { labelsIn, limitIn, listed, ownNodes } from "./mayBeScheduled";

const profile = (terms: unknown): EffectiveProfile => ({
  scheduler_name: "ours",
  percentage_of_nodes_to_score: 0,
  plugins_count: 0,
  points: {},
  rows: [],
  args: {
    NodeAffinity: {
      addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    },
  },
});

describe("what somebody writes into the dialog", () => {
  it.each([
    ["", []],
    ["ml, batch", ["ml", "batch"]],
    [" ml batch ,ml\n", ["ml", "batch"]],
  ])("namespaces %j", (text, names) => expect(listed(text)).toEqual(names));

  it.each([
    ["", {}],
    ["pool=batch, topology.kubernetes.io/zone=a", { pool: "batch", "topology.kubernetes.io/zone": "a" }],
    ["pool==batch spare=", { pool: "batch", spare: "" }],
    ["pool", null],
    ["pool!=batch", null],
    ["pool=a,pool=b", null],
  ])("labels %j", (text, labels) => expect(labelsIn(text)).toEqual(labels));

  it.each([
    ["", 0],
    [" 60 ", 60],
    ["-1", null],
    ["a few", null],
    ["1.5", null],
  ])("limit %j", (text, limit) => expect(limitIn(text)).toBe(limit));
});

describe("nodes to which a configuration keeps", () => {
  it("are none without an addedAffinity", () => {
    expect(ownNodes({ ...profile([]), args: {} })).toEqual([]);
    expect(ownNodes({ ...profile([]), args: { NodeAffinity: { addedAffinity: null } } })).toEqual([]);
  });

  it("are written as kubectl writes selectors, a text per term", () => {
    const one = { key: "playground", operator: "In", values: ["ours"] };
    const many = { key: "zone", operator: "In", values: ["a", "b"] };
    const absent = { key: "gpu", operator: "DoesNotExist" };
    const large = { key: "cores", operator: "Gt", values: ["8"] };
    const other = { key: "pool", operator: "NotIn", values: ["web"] };
    expect(
      ownNodes(profile([{ matchExpressions: [one, many] }, { matchExpressions: [absent, large, other] }])),
    ).toEqual(["playground=ours,zone in (a,b)", "!gpu,cores>8,pool notin (web)"]);
  });
});
