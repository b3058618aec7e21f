import { describe, expect, it } from "vitest";

import type { EffectiveProfile, FeatureGate, PluginCell, PluginDescription, PluginRow } from "@/api/configurationTypes";

import { addEdits, argEdits, gateEdits, pruned, removeEdits, toggleEdits } from "./edits";

const cell = (state: PluginCell["state"]): PluginCell => ({
  state,
  origin: state === "disabled" ? "disabled by name" : state,
  position: state === "disabled" ? null : 0,
  weight: null,
  default_weight: null,
  moved: false,
  disabled_in: null,
});
const effective = {
  points: {
    QueueSort: [
      { name: "PrioritySort", state: "default", origin: "default", weight: null },
      { name: "Old", state: "disabled", origin: "disabled by name", weight: null },
    ],
  },
} as unknown as EffectiveProfile;

describe("a click in the grid", () => {
  it("switches off what runs and on what does not", () => {
    expect(toggleEdits(1, effective, "NodeName", "PreFilter", cell("default"))).toEqual([
      { type: "disablePlugin", profile: 1, point: "preFilter", name: "NodeName" },
    ]);
    expect(toggleEdits(1, effective, "NodeName", "PreFilter", cell("disabled"))).toEqual([
      { type: "enablePlugin", profile: 1, point: "preFilter", name: "NodeName" },
    ]);
    expect(toggleEdits(0, effective, "NodeName", "Filter", undefined)).toEqual([
      { type: "enablePlugin", profile: 0, point: "filter", name: "NodeName" },
    ]);
  });

  it("keeps one QueueSort: the one that sorted steps back", () => {
    expect(toggleEdits(0, effective, "Coscheduling", "QueueSort", undefined)).toEqual([
      { type: "disablePlugin", profile: 0, point: "queueSort", name: "PrioritySort" },
      { type: "enablePlugin", profile: 0, point: "queueSort", name: "Coscheduling" },
    ]);
  });

  it("adds a plugin at all its points, and only a sorter takes the sorting over", () => {
    const plugin = (points: string[]) => ({ name: "P", points }) as unknown as PluginDescription;
    expect(addEdits(0, effective, plugin(["Permit"]))).toEqual([
      { type: "enablePlugin", profile: 0, point: "multiPoint", name: "P" },
    ]);
    expect(addEdits(0, effective, plugin(["QueueSort", "Permit"]))[0]).toEqual({
      type: "disablePlugin",
      profile: 0,
      point: "queueSort",
      name: "PrioritySort",
    });
  });

  it("removes an added plugin with its arguments, and only switches off a default one", () => {
    const row = (origin: "added" | "default") =>
      ({ plugin: "P", origin, cells: { Permit: cell("added"), Score: cell("disabled") } }) as unknown as PluginRow;
    expect(removeEdits(0, row("added")).map((edit) => edit.type)).toEqual([
      "disablePlugin",
      "disablePlugin",
      "removeArgs",
    ]);
    expect(removeEdits(0, row("default")).map((edit) => edit.type)).toEqual(["disablePlugin", "disablePlugin"]);
  });
});

describe("a switch of a feature gate", () => {
  const gate = (name: string, depends_on: string[] = [], enabled = false, byDefault = false): FeatureGate => ({
    name,
    stage: "alpha",
    default: byDefault,
    enabled,
    written: enabled !== byDefault,
    description: "",
    depends_on,
  });
  const set = (name: string, enabled: boolean | null) => ({ type: "setFeatureGate", name, enabled });

  it("takes what it depends on along", () => {
    const gates = [gate("Gang", ["Workload", "Elsewhere"]), gate("Preemption", ["Gang"]), gate("Workload")];
    expect(gateEdits(gates, "Preemption", true)).toEqual([
      set("Preemption", true),
      set("Gang", true),
      set("Workload", true),
    ]);
    expect(gateEdits(gates, "Workload", true)).toEqual([set("Workload", true)]);
  });

  it("takes what depends on it back, and back to the default is no entry", () => {
    const gates = [gate("Gang", ["Workload"], true), gate("Other", ["Workload"]), gate("Workload", [], true)];
    expect(gateEdits(gates, "Workload", false)).toEqual([set("Workload", null), set("Gang", null)]);
    expect(gateEdits([gate("Early", [], true, true)], "Early", false)).toEqual([set("Early", false)]);
    expect(gateEdits([gate("Early", [], false, true)], "Early", true)).toEqual([set("Early", null)]);
  });
});

describe("edits of arguments", () => {
  const defaults = {
    scoringStrategy: {
      type: "LeastAllocated",
      resources: [
        { name: "cpu", weight: 1 },
        { name: "memory", weight: 1 },
      ],
    },
  };
  const withWeight = (weight: number) => ({
    scoringStrategy: {
      type: "LeastAllocated",
      resources: [
        { name: "cpu", weight },
        { name: "memory", weight: 1 },
      ],
    },
  });

  it("are as deep as the text allows", () => {
    expect(argEdits(0, "Fit", defaults, withWeight(120), defaults)).toEqual([
      { type: "setArgs", profile: 0, plugin: "Fit", path: ["scoringStrategy", "resources", 0, "weight"], value: 120 },
    ]);
  });

  it("write an object and a list out that were only a default, or what stands beside in them would be lost", () => {
    expect(argEdits(0, "Fit", defaults, withWeight(5), null)).toEqual([
      { type: "setArgs", profile: 0, plugin: "Fit", path: ["scoringStrategy"], value: withWeight(5).scoringStrategy },
    ]);
    expect(argEdits(0, "Fit", defaults, withWeight(5), { scoringStrategy: { type: "LeastAllocated" } })).toEqual([
      {
        type: "setArgs",
        profile: 0,
        plugin: "Fit",
        path: ["scoringStrategy", "resources"],
        value: withWeight(5).scoringStrategy.resources,
      },
    ]);
  });

  it("replace a list whose length changed", () => {
    const one = { list: ["a", "b"] };
    expect(argEdits(0, "P", one, { list: ["a"] }, one)).toEqual([
      { type: "setArgs", profile: 0, plugin: "P", path: ["list"], value: ["a"] },
    ]);
  });

  it("remove what was emptied and say nothing of what is equal", () => {
    expect(argEdits(0, "P", { a: 1, b: null }, { b: undefined }, { a: 1 })).toEqual([
      { type: "removeArgs", profile: 0, plugin: "P", path: ["a"] },
    ]);
    expect(argEdits(0, "P", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, null)).toEqual([]);
  });

  it("leave null out of what they write", () => {
    expect(pruned({ a: null, b: { c: undefined, d: [null, { e: null }] } })).toEqual({ b: { d: [null, {}] } });
  });
});
