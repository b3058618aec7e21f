import { describe, expect, it } from "vitest";

import type { Card } from "@/api/types";

import { holds } from "./cardHolds";

describe("a group's card", () => {
  it("is marked for every member that it names", () => {
    const card = {
      kind: "group",
      namespace: "ml",
      name: "serve-6859b459fc-pqp79",
      workload: "serve",
      pods: ["pqp79", "g58m6"],
    } as Card;
    expect(holds(card, "ml/serve-6859b459fc-g58m6")).toBe(true);
    expect(holds(card, "ml/serve-6859b459fc-pqp79")).toBe(true);
    expect(holds(card, "ml/serve-6859b459fc-zzzzz")).toBe(false);
    expect(holds(card, "data/serve-6859b459fc-g58m6")).toBe(false);
    expect(holds(card, undefined)).toBe(false);
  });
});
