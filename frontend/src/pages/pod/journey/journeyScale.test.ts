import { describe, expect, it } from "vitest";

import type { Journey } from "@/api/podTypes";

import { layOut, shares, SHORTEST } from "./journeyScale";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const millis = (seconds: number) => Date.parse(at(seconds));

const journey: Journey = {
  start: at(0),
  end: at(100),
  lanes: [
    {
      queue: "active",
      spans: [
        { start: at(0), end: at(0) },
        { start: at(46), end: at(46) },
      ],
    },
    {
      queue: "in_flight",
      spans: [
        { start: at(0), end: at(0) },
        { start: at(46), end: at(46) },
      ],
    },
    {
      queue: "unschedulable",
      spans: [
        { start: at(0), end: at(46) },
        { start: at(46), end: null },
      ],
    },
  ],
  events: [
    { at: at(0), text: "Pod added" },
    { at: at(0), text: "Attempt began" },
    { at: at(46), text: "Pod deleted", strong: true },
  ],
};

describe("shares", () => {
  it("fills the axis and gives everything a visible width", () => {
    const widths = shares([0, 0, 46, 0, 0, 54]).map((one) => one.width);
    expect(widths.reduce((sum, one) => sum + one, 0)).toBeCloseTo(100);
    expect(Math.min(...widths)).toBeCloseTo(SHORTEST);
    expect(widths[5]).toBeGreaterThan(widths[2] ?? 0);
  });

  it("folds what would leave nothing for the others", () => {
    const [first, long, last] = shares([10, 9_000, 20]);
    expect([first?.folded, long?.folded, last?.folded]).toEqual([false, true, false]);
    expect(long?.width).toBeLessThan(50);
    expect(last?.width).toBeGreaterThan(first?.width ?? 0);
  });

  it("splits evenly when no time passed, and stays within the axis with hundreds of stays", () => {
    expect(shares([0, 0]).map((one) => one.width)).toEqual([50, 50]);
    const many = shares(Array.from({ length: 300 }, (_, index) => index % 7));
    expect(many.reduce((sum, one) => sum + one.width, 0)).toBeCloseTo(100);
  });
});

describe("layOut", () => {
  const layout = layOut(journey, millis(100));

  it("keeps the order of what happened at one moment", () => {
    const queues = layout.stays.map((stay) => stay.queue);
    expect(queues).toEqual(["active", "in_flight", "unschedulable", "active", "in_flight", "unschedulable"]);
    for (let index = 1; index < layout.stays.length; index += 1) {
      const before = layout.stays[index - 1];
      expect(layout.stays[index]?.left).toBeCloseTo((before?.left ?? 0) + (before?.width ?? 0));
    }
  });

  it("puts an event at the stay that begins with it and gathers what is too close", () => {
    expect(layout.marks).toHaveLength(2);
    expect(layout.marks[0]).toMatchObject({ left: 0, text: "Pod added", more: ["Attempt began"] });
    expect(layout.marks[1]?.left).toBeCloseTo(layout.stays[3]?.left ?? -1);
  });

  it("ends the axis now, with ticks that do not run into each other", () => {
    expect(layout.ticks.at(-1)).toEqual({ at: millis(100), left: 100 });
    for (let index = 1; index < layout.ticks.length; index += 1) {
      expect((layout.ticks[index]?.left ?? 0) - (layout.ticks[index - 1]?.left ?? 0)).toBeGreaterThan(8);
    }
  });

  it("places an event in the middle of a stay by time", () => {
    const open = layOut({ ...journey, events: [{ at: at(73), text: "Node updated" }] }, millis(100));
    const last = open.stays.at(-1);
    expect(open.marks[0]?.left).toBeCloseTo((last?.left ?? 0) + (last?.width ?? 0) / 2);
  });

  it("ends the last bar of a pod that is gone where it went, also when no time passed till then", () => {
    for (const end of [0, 40]) {
      const gone: Journey = {
        start: at(0),
        end: at(100),
        lanes: [{ queue: "bound", spans: [{ start: at(0), end: at(end) }] }],
        events: [
          { at: at(0), text: "Pod added, on its node" },
          { at: at(end), text: "Pod deleted" },
          { at: at(end), text: "Preempted by shop/vip", strong: true },
        ],
      };
      const { stays, marks, ticks } = layOut(gone, millis(100));
      const ends = (stays[0]?.left ?? 0) + (stays[0]?.width ?? 0);
      expect(ends).toBeLessThan(50);
      expect(ticks.at(-1)).toEqual({ at: millis(100), left: 100 });
      const texts = marks.flatMap((mark) => [mark.text, ...mark.more]);
      expect(texts).toContain("Preempted by shop/vip");
      if (end > 0) expect(marks.at(-1)?.left).toBeCloseTo(ends);
    }
    const atOnce = layOut(
      { ...journey, end: at(0), lanes: [{ queue: "bound", spans: [{ start: at(0), end: at(0) }] }] },
      0,
    );
    expect(atOnce.stays[0]?.width).toBeCloseTo(50);
  });
});
