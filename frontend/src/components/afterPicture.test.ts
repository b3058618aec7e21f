import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { afterPicture } from "./afterPicture";

let frames: (() => void)[] = [];

beforeEach(() => {
  frames = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.stubGlobal("window", { setTimeout, clearTimeout });
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => frames.push(callback));
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => {
    frames[frame - 1] = () => undefined;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const picture = () => frames.splice(0).forEach((callback) => callback());

it("waits for the picture, and then does not hold it up", () => {
  const called = vi.fn();
  afterPicture(called);
  vi.runAllTimers();
  expect(called).not.toHaveBeenCalled();
  picture();
  expect(called).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(called).toHaveBeenCalledOnce();
});

it("is called off before the picture and between the picture and its turn", () => {
  const called = vi.fn();
  afterPicture(called)();
  picture();
  vi.runAllTimers();
  const callOff = afterPicture(called);
  picture();
  callOff();
  vi.runAllTimers();
  expect(called).not.toHaveBeenCalled();
});
