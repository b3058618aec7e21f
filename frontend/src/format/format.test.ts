import { describe, expect, it } from "vitest";

import { commonPrefix, middle } from "./names";
import { bytes, count, fixed, rounded, shortPriority } from "./number";
import { amount, quantity, requestText, resourceLabel } from "./resources";
import { age, countdown, day, exact, runTime, seconds, shortSeconds, sinceDay } from "./time";

describe("time", () => {
  it.each([
    [400, "0.4s"],
    [9940, "9.9s"],
    [9960, "10s"],
    [54_000, "54s"],
    [134_000, "2m 14s"],
    [120_000, "2m"],
    [7_500_000, "2h 5m"],
    [900_000_000, "10d"],
    [46, "0s"],
    [-5, "0s"],
  ])("age of %d ms", (milliseconds, want) => expect(age(milliseconds)).toBe(want));
  it.each([
    [38_000, "0:38"],
    [37_100, "0:38"],
    [800_000, "13:20"],
    [3_723_000, "1:02:03"],
    [-1, "0:00"],
  ])("countdown of %d ms", (milliseconds, want) => expect(countdown(milliseconds)).toBe(want));
  it("short seconds in a ring", () =>
    expect([800, 3700, 12_300, -10].map(shortSeconds)).toEqual(["0.8", "3.7", "12", "0.0"]));
  it("run time in UTC", () => {
    expect(runTime("2026-11-20T10:01:22.418Z")).toBe("10:01:22.418");
    expect(runTime("2026-11-20T10:01:22.418Z", false)).toBe("10:01:22");
    expect(runTime("nonsense")).toBe("nonsense");
    expect(exact("2026-11-20T10:01:22.418123Z")).toBe("2026-11-20 10:01:22.418 UTC");
    expect(exact("2026-11-20T10:01:22Z")).toBe("2026-11-20 10:01:22 UTC");
  });
  it("days as people say them", () => {
    const now = new Date(2026, 10, 20, 15, 0).getTime();
    const at = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString();
    expect(day(at(2026, 10, 20, 9, 57), now)).toBe("today 09:57");
    expect(day(at(2026, 10, 20, 9, 57), now, true)).toBe("09:57 today");
    expect(day(at(2026, 10, 19, 23, 59), now)).toBe("yesterday");
    expect([sinceDay(at(2026, 10, 20, 9, 57), now), sinceDay(at(2026, 10, 19, 23, 59), now)]).toEqual([
      "09:57",
      "yesterday",
    ]);
    expect(day(at(2026, 10, 17, 1, 0), now)).toBe("17 Nov");
    expect(day(at(2025, 10, 17, 1, 0), now)).toBe("17 Nov 2025");
    expect(day(at(2026, 10, 21, 0, 10), now)).toBe("21 Nov");
    expect(day(at(2027, 0, 3, 1, 0), now)).toBe("3 Jan 2027");
  });
  it("seconds in prose", () => expect([0.1, 46.2, 300].map(seconds)).toEqual(["0.1 s", "46 s", "5 min"]));
});

describe("numbers", () => {
  it("a minus is the sign, however a number is written", () => {
    expect([count(-1200), fixed(-0.5, 2), rounded(-7.926, 2), shortPriority(-10)]).toEqual([
      "−1,200",
      "−0.50",
      "−7.93",
      "−10",
    ]);
  });
  it.each([
    [100_000, "100k"],
    [-10, "−10"],
    [2_000_000_000, "2B"],
    [1500, "1.5k"],
    [0, "0"],
  ])("priority %d", (value, want) => expect(shortPriority(value)).toBe(want));
  it.each([
    [999, "999 B"],
    [1_700_531, "1.7 MB"],
    [512_000_000, "512 MB"],
  ])("%d bytes", (value, want) => expect(bytes(value)).toBe(want));
});

describe("resources", () => {
  it("requests in words", () => {
    expect(requestText({ cpu: "6", memory: "24Gi", "nvidia.com/gpu": "1" })).toBe("6 cpu · 24 Gi · 1 GPU");
    expect(requestText({ cpu: "250m", memory: "0" })).toBe("0.25 cpu");
    expect(requestText({ "example.com/fpga": "2" })).toBe("2 example.com/fpga");
    expect(requestText({})).toBe("no requests");
  });
  it("raw amounts", () => {
    expect([amount("cpu", 7920), amount("memory", 31 * 2 ** 30), amount("pods", 110), amount("memory", 500)]).toEqual([
      "7.92",
      "31 Gi",
      "110",
      "500",
    ]);
  });
  it("quantities", () => expect(["20050m", "96.1Gi", "8"].map(quantity)).toEqual(["20.05", "96.1 Gi", "8"]));
  it("short labels", () =>
    expect([
      resourceLabel("memory"),
      resourceLabel("nvidia.com/gpu"),
      resourceLabel("example.com/accelerator"),
    ]).toEqual(["mem", "gpu", "accele"]));
});

describe("names", () => {
  it("leave out what all begin with, up to a separator", () => {
    expect(commonPrefix(["ip-10-0-1-10", "ip-10-0-2-4"])).toBe("ip-10-0-");
    expect(commonPrefix(["node-1", "node-12"])).toBe("node-");
    expect(commonPrefix(["alpha", "beta"])).toBe("");
    expect(commonPrefix(["only"])).toBe("");
    expect(commonPrefix(["a-", "a-b"])).toBe("");
  });
  it("lose their middle, never their ends", () => {
    expect(middle("a-very-long-workload-name", 13)).toBe("a-very…d-name");
    expect(middle("short", 13)).toBe("short");
  });
});
