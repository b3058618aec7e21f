import { describe, expect, it } from "vitest";

import type { Cause, Comparison, PodDifference } from "@/api/compareQueries";

import { causeWords, headline, namesOf, shareText, signed, waitDifference } from "./words";

const NAMES = { a: "r-0001", b: "r-0002" };
const ROW = { kind: "elsewhere", a: { node: "east-1" }, b: { node: "west-1" } } as unknown as PodDifference;

const SPREAD = { name: "Default", version: 1, builtin: true };
const PACKED = { name: "Packed", version: 3, builtin: false };

function comparison(
  counts: Partial<Comparison["counts"]>,
  placedA: number,
  placedB: number,
  packed = PACKED,
): Comparison {
  const none = { elsewhere: 0, only_a: 0, only_b: 0, neither: 0, gated: 0, missing_a: 0, missing_b: 0, same: 0 };
  const side = (number: string, placed: number, configuration: object) => ({ placed, run: { number, configuration } });
  const [a, b] = [side("r-0001", placedA, SPREAD), side("r-0002", placedB, packed)];
  return { same_cluster: true, counts: { ...none, ...counts }, a, b } as unknown as Comparison;
}

const cause = (why: Cause["why"], rest: Partial<Cause> = {}): Cause => ({
  why,
  side: "",
  plugin: "",
  reasons: [],
  ...rest,
});

describe("the first sentence", () => {
  it("says when nothing differs", () => {
    expect(headline(comparison({ same: 4 }, 4, 4))).toBe("Every pod went to the same node.");
    expect(headline(comparison({ same: 3, neither: 1 }, 3, 3))).toBe(
      "Every pod that was placed went to the same node; 1 pod fitted in neither.",
    );
    expect(headline(comparison({ same: 3, gated: 2 }, 3, 3))).toBe(
      "Every pod that was placed went to the same node; 2 pods are held by a gate.",
    );
    expect(headline(comparison({ same: 3, neither: 2, gated: 1 }, 3, 3))).toBe(
      "Every pod that was placed went to the same node; 2 pods fitted in neither; 1 pod is held by a gate.",
    );
  });
  it("counts what moved and names what placed more", () => {
    expect(headline(comparison({ elsewhere: 1, only_b: 2 }, 3, 5))).toBe(
      "1 pod is on another node; Packed v3 placed 2 more.",
    );
    expect(headline(comparison({ elsewhere: 5, only_a: 1 }, 6, 5))).toBe(
      "5 pods are on another node; Default placed 1 more.",
    );
    expect(headline(comparison({ elsewhere: 5 }, 6, 6))).toBe(
      "5 pods are on another node; both placed the same number.",
    );
  });
});

describe("what the sides are called", () => {
  it("is their configurations, and their runs where these are the same", () => {
    expect(namesOf(comparison({}, 1, 1))).toEqual({ a: "Default", b: "Packed v3" });
    expect(namesOf(comparison({}, 1, 1, SPREAD))).toEqual({ a: "r-0001", b: "r-0002" });
  });
});

describe("why a pod went another way", () => {
  it("names the plugin that scored or refused, in which run, and the other run's node", () => {
    expect(causeWords(cause("score", { plugin: "NodeResourcesFit" }), ROW, NAMES)).toBe(
      "NodeResourcesFit made the difference.",
    );
    expect(
      causeWords(cause("filter", { side: "a", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] }), ROW, NAMES),
    ).toBe("NodeResourcesFit refused west-1 in r-0001 (Insufficient cpu).");
    expect(causeWords(cause("filter", { side: "b", plugin: "NodePorts" }), ROW, NAMES)).toBe(
      "NodePorts refused east-1 in r-0002.",
    );
  });
});

describe("numbers", () => {
  it("have a sign unless they are nothing", () => {
    expect([signed(3), signed(-2), signed(0), signed(-0.004, 2), signed(1.25, 1)]).toEqual([
      "+3",
      "−2",
      "0",
      "0.00",
      "+1.3",
    ]);
  });
  it("of waiting times keep their unit", () => {
    expect([waitDifference(4.24), waitDifference(-300), waitDifference(0), waitDifference(-0.01)]).toEqual([
      "+4.2 s",
      "−5 min",
      "0 s",
      "0 s",
    ]);
  });
  it("say that there is no share", () => {
    expect([shareText(0.8751), shareText(null)]).toEqual(["87.5 %", "none"]);
  });
});
