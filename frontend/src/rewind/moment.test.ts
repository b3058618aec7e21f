import { describe, expect, it } from "vitest";

import { isMoment, keyAt, momentKey, runAt, runOf } from "./moment";

describe("moment", () => {
  it("reads what it writes", () => {
    expect(runAt(momentKey("r", 340))).toEqual({ run: "r", at: 340 });
    expect(runAt("r")).toEqual({ run: "r", at: null });
    expect([runOf("r@0"), runOf("r")]).toEqual(["r", "r"]);
    expect([isMoment("r@0"), isMoment("r")]).toEqual([true, false]);
  });

  it("leads to the run itself at the end, and never before the beginning", () => {
    expect(keyAt("r", 12, 12)).toBe("r");
    expect(keyAt("r", 99, 12)).toBe("r");
    expect(keyAt("r", 11, 12)).toBe("r@11");
    expect(keyAt("r", -1, 12)).toBe("r@0");
  });
});
