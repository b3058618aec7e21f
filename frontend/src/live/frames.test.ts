import { beforeEach, describe, expect, it } from "vitest";

import { pacedFrames } from "./frames";

describe("the drawing of a live page", () => {
  let clock: number;
  let timers: { at: number; run: () => void }[];
  let pictures: (() => void)[];
  let frame: (draw: () => void) => void;
  let drawn: number[];
  let cost: number;

  beforeEach(() => {
    clock = 1000;
    timers = [];
    pictures = [];
    drawn = [];
    cost = 20;
    frame = pacedFrames({
      now: () => clock,
      setTimer: (run, milliseconds) => timers.push({ at: clock + milliseconds, run }),
      beforePicture: (run) => pictures.push(run),
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
});
