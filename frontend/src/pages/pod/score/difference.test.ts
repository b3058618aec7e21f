import { describe, expect, it } from "vitest";

import type { ScoreRow } from "@/api/podTypes";

import { differences, differenceSentence, signed } from "./difference";
import { looksOf } from "./pluginColours";

const NAMES = ["TaintToleration", "NodeResourcesFit", "ImageLocality"];
const LOOKS = looksOf(NAMES.map((name, index) => ({ name, weight: index === 0 ? 3 : 1, equal_for_all: false })));

function row(node: string, ...points: number[]): ScoreRow {
  const total = points.reduce((sum, each) => sum + each, 0);
  return {
    rank: 1,
    tied: false,
    node,
    chosen: false,
    total,
    to_best: 0,
    cells: points.map((each) => ({ raw: each, normalized: each, points: each })),
  };
}

const said = (one: ScoreRow, other: ScoreRow) => differenceSentence(one, other, differences(one, other, LOOKS));

describe("two nodes side by side", () => {
  it("gives the difference of every plugin, in their order", () => {
    const all = differences(row("a", 300, 84, 46), row("b", 300, 79, 50), LOOKS);
    expect(all.map(({ look, ahead }) => [look.name, ahead])).toEqual([
      ["TaintToleration", 0],
      ["NodeResourcesFit", 5],
      ["ImageLocality", -4],
    ]);
  });

  it.each([
    [row("a", 300, 84, 46), row("b", 300, 79, 46), "a is 5 points ahead of b, all from NodeResourcesFit."],
    [row("b", 300, 79, 46), row("a", 300, 80, 46), "a is 1 point ahead of b, all from NodeResourcesFit."],
    [
      row("a", 300, 90, 40),
      row("b", 300, 79, 46),
      "a is 5 points ahead of b; NodeResourcesFit decides: NodeResourcesFit +11, ImageLocality −6.",
    ],
    [
      row("b", 300, 79, 46),
      row("a", 300, 90, 40),
      "a is 5 points ahead of b; NodeResourcesFit decides: NodeResourcesFit −11, ImageLocality +6.",
    ],
    [row("a", 300, 82, 48), row("b", 300, 79, 46), "a is 5 points ahead of b: NodeResourcesFit +3, ImageLocality +2."],
    [row("a", 300, 84, 46), row("b", 300, 84, 46), "Both have 430 points, the same from every plugin."],
    [
      row("a", 300, 84, 46),
      row("b", 300, 80, 50),
      "Both have 430 points, but not from the same plugins: NodeResourcesFit +4, ImageLocality −4.",
    ],
  ])("says what decides", (one, other, sentence) => {
    expect(said(one, other)).toBe(sentence);
  });

  it("writes signs", () => {
    expect([signed(5), signed(-1200), signed(0)]).toEqual(["+5", "−1,200", "0"]);
  });
});
