import { beforeEach, describe, expect, it } from "vitest";

import { pacedFrames } from "./frames";

describe("the drawing of a live page", () => {
  let clock: number;
  let timers: { at: number; run: () => void }[];
  let pictures: (() => void)[];
  let frame: (draw: () => void) => void;
  let drawn: number[];
  let cost: number;
  let touched: number;

  beforeEach(() => {
    clock = 1000;
    timers = [];
    pictures = [];
    drawn = [];
    cost = 20;
    touched = -Infinity;
    frame = pacedFrames({
      now: () => clock,
      setTimer: (run, milliseconds) => timers.push({ at: clock + milliseconds, run }),
      beforePicture: (run) => pictures.push(run),
      touchedAt: () => touched,
    });
  });

  const draw = () => {
    drawn.push(clock);
    clock += cost;
  };
  /** What was asked for before it, then the timers that are due. */
  const picture = () => {
    for (const run of pictures.splice(0)) run();
    const due = timers.filter((one) => one.at <= clock);
    timers = timers.filter((one) => one.at > clock);
    for (const one of due) one.run();
  };
  const pass = (milliseconds: number) => {
    clock += milliseconds;
    picture();
  };

  it("rests four times as long as the last drawing took", () => {
    frame(draw);
    picture();
    frame(draw);
    pass(79);
    pass(0);
    expect(drawn).toEqual([1000]);
    pass(1);
    pass(0);
    expect(drawn).toEqual([1000, 1100]);
  });

  it("rests no longer than half a second", () => {
    cost = 3000;
    frame(draw);
    picture();
    frame(draw);
    pass(500);
    pass(0);
    expect(drawn).toEqual([1000, 4500]);
  });

  it("draws what was asked for while nobody looked as soon as somebody does", () => {
    frame(draw);
    clock += 600_000;
    expect(drawn).toEqual([]);
    picture();
    expect(drawn).toEqual([601_000]);
  });

  it("waits until a hand has rested for 150 ms, also one that comes before the picture", () => {
    touched = 950;
    frame(draw);
    pass(99);
    expect(drawn).toEqual([]);
    pass(1);
    touched = 1105;
    pass(10);
    pass(140);
    expect(drawn).toEqual([]);
    pass(5);
    pass(0);
    expect(drawn).toEqual([1255]);
  });

  it("waits half a second at most for a hand that never rests", () => {
    frame(draw);
    for (let turn = 0; turn < 60 && drawn.length === 0; turn += 1) {
      touched = clock;
      pass(10);
    }
    expect(drawn).toEqual([1510]);
  });
});
