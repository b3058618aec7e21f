import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { atMostOften } from "./often";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first is done at once, those of a while together, and none is lost", () => {
  const done: string[] = [];
  const ask = atMostOften(1000, (key) => done.push(key));
  ask("a");
  ask("a");
  ask("a");
  ask("b");
  expect(done).toEqual(["a", "b"]);
  vi.advanceTimersByTime(1000);
  expect(done).toEqual(["a", "b", "a"]);
  vi.advanceTimersByTime(5000);
  expect(done).toEqual(["a", "b", "a"]);
  ask("a");
  expect(done).toEqual(["a", "b", "a", "a"]);
});
