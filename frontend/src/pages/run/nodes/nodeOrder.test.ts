import { describe, expect, it } from "vitest";

import { nextSorting, ranksOf, sortRows, type Sorting } from "./nodeOrder";

describe("the order of the node table", () => {
  it("goes through both directions and back to none, texts ascending first and numbers descending", () => {
    const clicks = (isNumber: boolean) => {
      const seen: (Sorting | null)[] = [];
      let now: Sorting | null = null;
      for (let click = 0; click < 3; click += 1) seen.push((now = nextSorting(now, "a", isNumber)));
      return seen.map((one) => one?.descending);
    };
    expect(clicks(false)).toEqual([false, true, undefined]);
    expect(clicks(true)).toEqual([true, false, undefined]);
    expect(nextSorting({ column: "a", descending: true }, "b", false)).toEqual({ column: "b", descending: false });
  });

  it("keeps equals as they stood, in both directions, and leaves the rows alone", () => {
    const rows = [0, 1, 2, 3];
    const keys = Float64Array.of(5, 7, 5, 7);
    expect(sortRows(rows, keys, false)).toEqual([0, 2, 1, 3]);
    expect(sortRows(rows, keys, true)).toEqual([1, 3, 0, 2]);
    expect(rows).toEqual([0, 1, 2, 3]);
  });

  it("ranks texts with their numbers as numbers, and equal texts equally", () => {
    expect([...ranksOf(["node-10", "node-2", "Node-3", "node-2", ""])]).toEqual([3, 1, 2, 1, 0]);
  });
});
