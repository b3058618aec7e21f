// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";
import { aRun } from "@/testing/run";
import { OPERATOR, serve, showAt } from "@/testing/showPage";

import { useCommand } from "../useCommand";
import { Transport } from "./Transport";

function Bar({ run }: { run: Run }) {
  return <Transport run={run} commander={useCommand(run.id)} operates />;
}

describe("rewinding to the start", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it.each<[string, Partial<Run>, string]>([
    ["step 0", {}, "/runs/r@0"],
    ["step 0 of one that did nothing yet", { position: 0 }, "/runs/r@0"],
    ["what is kept", { thinned: { position: 30, at: "2026-01-01T09:00:00Z", text: "" } }, "/runs/r@30"],
  ])("leads to %s", async (_, more, address) => {
    serve({ "GET /me/": OPERATOR });
    await showAt("/runs/r", "/runs/$run", <Bar run={aRun(more)} />);
    const link = await screen.findByRole("link", { name: /start/i });
    expect(decodeURIComponent(link.getAttribute("href") ?? "")).toBe(address);
  });
});
