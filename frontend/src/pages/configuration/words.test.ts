import { describe, expect, it } from "vitest";

import type { EffectiveChange, PluginCell, PluginRow, Problem } from "@/api/configurationTypes";

import { cellTitle, cellWord, changesCount, draftLabel, freeName, shortMessage, subjects, yamlNote } from "./words";

const row = { plugin: "Fit", origin: "default", changed: false, has_args: false } as PluginRow;
const cell = (change: Partial<PluginCell>): PluginCell => ({
  state: "default",
  origin: "default",
  position: 0,
  weight: null,
  default_weight: null,
  moved: false,
  disabled_in: null,
  ...change,
});
const problem = (message: string, line: number | null = null) => ({ message, line }) as Problem;

describe("a cell says why it is as it is", () => {
  it("names the origin", () => {
    expect(cellTitle(row, "Permit", cell({ state: "added", origin: "added" }))).toBe(
      "Fit at Permit: added by this profile",
    );
    expect(cellTitle(row, "Score", cell({ state: "disabled", origin: "disabled by *", disabled_in: "score" }))).toBe(
      "Fit at Score: disabled by * in score",
    );
    expect(
      cellTitle(row, "PreFilter", cell({ state: "disabled", origin: "disabled by name", disabled_in: "multiPoint" })),
    ).toBe("Fit at PreFilter: disabled by name in multiPoint");
    expect(cellTitle(row, "Filter", undefined)).toBe("Fit at Filter: off, press to add it");
  });

  it("names the weight beside the default and the saved one", () => {
    expect(cellTitle(row, "Score", cell({ weight: 5, default_weight: 1 }), cell({ weight: 3 }))).toBe(
      "Fit at Score: weight 5, on by default, default weight 1, saved 3",
    );
    expect(cellWord(cell({ weight: 5 }))).toBe("default, weight 5");
    expect(cellWord(undefined)).toBe("off");
  });
});

describe("a draft", () => {
  const changes: EffectiveChange[] = [
    { profile: "default-scheduler", plugin: "Fit", what: ["weight 1 → 5", "type A → B"] },
    { profile: "gpu", plugin: "Image", what: ["no longer scores"] },
    { profile: null, plugin: null, what: ["parallelism 16 → 8"] },
  ];
  it("counts what changed, of everything or of one profile", () => {
    expect(changesCount(changes)).toBe(4);
    expect(changesCount(changes, "gpu")).toBe(1);
    const diff = { added: 0, removed: 0, lines: [], cut: false };
    expect(draftLabel({ changes, diff }, true)).toBe("Draft, 4 changes");
    expect(draftLabel({ changes: [], diff }, true)).toBe("Draft, no change in effect");
    expect(draftLabel({ changes: [], diff }, false)).toBe("Draft, cannot be read");
  });
  it("says what another version is about", () => {
    expect(subjects(changes)).toBe("Fit, Image and all profiles");
    expect(subjects(changes.slice(0, 1))).toBe("Fit");
  });
});

describe("errors", () => {
  it("leave out the value that stands in the field", () => {
    expect(shortMessage(problem("Invalid value: 120: resource weight of cpu not in valid range (0, 100]"))).toBe(
      "resource weight of cpu not in valid range (0, 100]",
    );
    expect(shortMessage(problem('Invalid value: "a: b": no'))).toBe("no");
    expect(shortMessage(problem("Required value"))).toBe("Required value");
  });
  it("name their line, and whether the form still works", () => {
    expect(yamlNote([problem("x", 30)], true)).toBe("1 error on line 30 keeps Save off, switching to Form is fine");
    expect(yamlNote([problem("x", null), problem("y", 4)], true)).toBe(
      "2 errors, the first on line 4, keep Save off, switching to Form is fine",
    );
    expect(yamlNote([problem("x", 7)], false)).toBe("Line 7 cannot be read, which keeps Form and Save off");
  });
});

it("a name that is taken gets a number", () => {
  expect(freeName("Team", ["team", "Team 2"])).toBe("Team 3");
  expect(freeName("Team", ["other"])).toBe("Team");
});
