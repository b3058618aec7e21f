import { expect, test } from "vitest";

import type { RunTiming } from "@/api/podTypes";
import { milliseconds } from "@/format/milliseconds";
import { shareText } from "@/format/number";

import { ownOf, timingAnswer } from "./TimingPanel";

const summary = (share: number, p50 = 280, p99 = 4600) => ({ count: 3, mean_us: 300, p50_us: p50, p99_us: p99, share });

test("the answer names the middle, the slowest and the largest part", () => {
  const timing: RunTiming = {
    timed: 3,
    attempts: 900,
    cycle: summary(1),
    points: [
      { point: "PreFilter", ...summary(0.1), plugins: [] },
      { point: "Filter", ...summary(0.314), plugins: [] },
    ],
  };
  expect(timingAnswer(timing)).toBe(
    "Half of the cycles take at most 0.28 ms, 99 of 100 at most 4.6 ms; the largest part is Filter (31 %).",
  );
  expect(timingAnswer({ timed: 0, attempts: 0, cycle: null, points: [] })).toBe("");
});

test.each([
  [280, "0.28 ms"],
  [4600, "4.6 ms"],
  [120_400, "120 ms"],
  [0, "0 µs"],
  [0.44, "0.4 µs"],
  [4, "4 µs"],
  [12, "0.01 ms"],
])("%i µs are %s", (us, want) => {
  expect(milliseconds(us)).toBe(want);
});

test("what no plugin of a point used is the framework's own, per cycle that came to the point", () => {
  const plugin = (share: number, mean_us: number, count: number) => ({
    plugin: "p",
    count,
    mean_us,
    p50_us: 0,
    p99_us: 0,
    share,
  });
  const point = {
    point: "Filter",
    count: 4,
    mean_us: 100,
    p50_us: 0,
    p99_us: 0,
    share: 0.5,
    plugins: [plugin(0.1, 20, 4), plugin(0.1, 40, 2)],
  };
  expect(ownOf(point)).toEqual({ share: expect.closeTo(0.3) as number, mean_us: 60 });
  expect(ownOf({ ...point, plugins: [plugin(0.5000001, 100.1, 4)] })).toEqual({ share: 0, mean_us: 0 });
});

test.each([
  [0, "0 %"],
  [0.004, "< 1 %"],
  [0.006, "1 %"],
  [0.314, "31 %"],
])("a share of %f is %s", (share, want) => {
  expect(shareText(share)).toBe(want);
});
