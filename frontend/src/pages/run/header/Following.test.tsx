// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";
import { aRun } from "@/testing/run";
import { ok, serve, showAt } from "@/testing/showPage";

import { useCommand } from "../useCommand";
import { Following } from "./Following";

function Strip({ run }: { run: Run }) {
  return <Following run={run} commander={useCommand(run.id)} operates />;
}

async function strip(thinned: Run["thinned"]) {
  const run = aRun({ follows: "prod", thinned });
  serve({
    "GET /me/": ok({ username: "mira", role: "operator" }),
    "GET /runs/r/follow/": ok({
      state: "live",
      behind: null,
      since: null,
      problem: "",
      shadow: false,
      refused: [],
      until: null,
    }),
  });
  await showAt("/runs/r", "/runs/$run", <Strip run={run} />);
  await screen.findByText("live");
}

describe("what a run that follows a cluster says of itself", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("says from when on it is kept, and why not before", async () => {
    const text = "The past of r-0001 before 2026-11-28 10:15:00 UTC (step 40) went to make room.";
    await strip({ position: 40, at: "2026-11-28T10:15:00.000Z", text });
    expect(screen.getByTitle(text).textContent).toMatch(/^kept since .*10:15:00/);
  });

  it("says nothing of a past that is all there", async () => {
    await strip(null);
    expect(screen.queryByText(/^kept since/)).toBeNull();
  });
});
