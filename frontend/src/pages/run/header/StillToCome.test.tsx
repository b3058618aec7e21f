// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import type { Run } from "@/api/types";
import { aRun } from "@/testing/run";

import { StillToCome } from "./StillToCome";

const came = { cluster: "prod", changes: 8, first: "2026-01-01T09:00:10Z", last: "2026-01-01T10:12:00Z" };

function shown(more: Partial<Run>): string {
  render(<StillToCome run={aRun({ later_arrivals: came, ...more })} />);
  return document.body.textContent;
}

describe("a fork that takes what came to the cluster it left", () => {
  afterEach(cleanup);

  it("says how much is still to come, and from when to when it came", () => {
    expect(shown({ arrivals: { left: 5, total: 8, next_at: "2026-01-01T09:30:00Z" } })).toMatch(
      /^5 of 8 still to come, next .*9:30/,
    );
    screen.getByTitle(/What came to prod .* without the real scheduler’s decisions: 8 changes, .*9:00:10.* to .*10:12/);
  });

  it("says when all has come", () => {
    expect(shown({ arrivals: { left: 0, total: 8, next_at: null } })).toBe("all that came there has come");
  });

  it.each<Partial<Run>>([{ later_arrivals: null, arrivals: { left: 5, total: 8, next_at: null } }, { arrivals: null }])(
    "of other runs says nothing (%j)",
    (more) => {
      expect(shown(more)).toBe("");
    },
  );
});
