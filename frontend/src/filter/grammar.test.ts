import { describe, expect, it } from "vitest";

import { isEmpty, matches, parseFilter } from "./grammar";

describe("the filter grammar", () => {
  it.each([
    ["", { include: [], exclude: [], labels: [] }],
    ["web", { include: ["web"], exclude: [], labels: [] }],
    ["Web !CI", { include: ["web"], exclude: ["ci"], labels: [] }],
    ["-l app=serve", { include: [], exclude: [], labels: [{ key: "app", operator: "=", value: "serve" }] }],
    [
      "-l app==serve,tier!=db",
      {
        include: [],
        exclude: [],
        labels: [
          { key: "app", operator: "=", value: "serve" },
          { key: "tier", operator: "!=", value: "db" },
        ],
      },
    ],
    [
      "-l app,!old x",
      {
        include: ["x"],
        exclude: [],
        labels: [
          { key: "app", operator: "exists" },
          { key: "old", operator: "absent" },
        ],
      },
    ],
    ["-l=app=a", { include: [], exclude: [], labels: [{ key: "app", operator: "=", value: "a" }] }],
    ["-l", { include: [], exclude: [], labels: [] }],
    ["!", { include: [], exclude: [], labels: [] }],
  ])("reads %j", (text, want) => {
    expect(parseFilter(text)).toEqual(want);
  });

  it.each([
    ["shop web", "shop/web-1", {}, true],
    ["shop !web", "shop/web-1", {}, false],
    ["-l app=web", "x", { app: "web" }, true],
    ["-l app!=web", "x", {}, true],
    ["-l !app", "x", { app: "web" }, false],
    ["-l app", "x", {}, false],
    ["", "anything", {}, true],
  ])("%j on %s", (text, subject, labels, want) => {
    expect(matches(parseFilter(text), subject, labels)).toBe(want);
  });

  it("knows when it asks for nothing", () => {
    expect(isEmpty(parseFilter("  "))).toBe(true);
    expect(isEmpty(parseFilter("!x"))).toBe(false);
  });
});
