import { describe, expect, it } from "vitest";

import { placeOf, ticksOf, within } from "./ticks";

const mark = (position: number) => ({ kind: "failure" as const, position, text: "", count: 1 });

describe("where steps stand on the line", () => {
  it.each([
    [0, 0, 100, 0],
    [50, 0, 100, 150],
    [60, 60, 100, 0],
    [80, 60, 100, 150],
    [100, 60, 100, 300],
    // Outside of what is kept they stand at its ends.
    [5, 60, 100, 0],
    [200, 60, 100, 300],
    // All there is is now.
    [60, 60, 60, 300],
    [0, 0, 0, 300],
  ])("step %d of %d to %d at pixel %d of 300", (step, first, last, x) => {
    expect(placeOf(step, { first, last }, 300)).toBe(x);
  });

  it("keeps a step within what is kept", () => {
    expect([5, 70, 200].map((step) => within(step, { first: 60, last: 100 }))).toEqual([60, 70, 100]);
  });

  it("places marks between the first step that is kept and the last", () => {
    expect(ticksOf([mark(60), mark(90)], { first: 60, last: 100 }, 300).map(({ x }) => x)).toEqual([0, 225]);
  });
});
