import { expect, test } from "vitest";

import type { RunTiming } from "@/api/podTypes";
import { milliseconds } from "@/format/milliseconds";

import { timingAnswer } from "./TimingPanel";

const summary = (share: number, p50 = 280, p99 = 4600) => ({ count: 3, mean_us: 300, p50_us: p50, p99_us: p99, share });

test("the answer names the middle, the slowest and the largest part", () => {
  const timing: RunTiming = {
    timed: 3, attempts: 900, cycle: summary(1),
    points: [{ point: "PreFilter", ...summary(0.1), plugins: [] }, { point: "Filter", ...summary(0.314), plugins: [] }],
  };
  expect(timingAnswer(timing)).toBe("Half of the cycles take at most 0.28 ms, 99 of 100 at most 4.6 ms; most of it is Filter (31 %).");
  expect(timingAnswer({ timed: 0, attempts: 0, cycle: null, points: [] })).toBe("");
});

test.each([[280, "0.28 ms"], [4600, "4.6 ms"], [120_400, "120 ms"], [0, "0.00 ms"]])("%i µs are %s", (us, want) => {
  expect(milliseconds(us)).toBe(want);
});
