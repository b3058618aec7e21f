// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { looksOf } from "./pluginColours";
import { StepByStep } from "./StepByStep";

const SAID = "The less it raises the node's power consumption, the more points.";
const ROW = {
  rank: 1,
  tied: false,
  node: "n1",
  chosen: true,
  total: 90,
  to_best: 0,
  cells: [
    { raw: 5, normalized: 90, points: 90 },
    { raw: 0, normalized: 0, points: 0 },
    { raw: 0, normalized: 0, points: 0 },
  ],
};

describe("the points of a node, step by step", () => {
  afterEach(cleanup);

  it("says what a plugin's points stand for where they tell nodes apart", () => {
    const looks = looksOf([
      { name: "Peaks", weight: 1, equal_for_all: false, about: SAID },
      { name: "PodState", weight: 1, equal_for_all: true, about: "More terminating pods give more points." },
      { name: "Own", weight: 1, equal_for_all: false, about: "" },
    ]);
    render(<StepByStep row={ROW} looks={looks} />);
    const notes = screen
      .getAllByRole("row")
      .map((row) => [...row.querySelectorAll("em")].map((each) => each.textContent));
    expect(notes.slice(1, 4)).toEqual([[], [SAID], ["equal for all nodes"]]);
  });
});
