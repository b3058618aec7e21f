// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Scheduled } from "@/api/scheduling";
import { ok, serve, showAt } from "@/testing/showPage";

import { Facts } from "./Facts";

const SCHEDULED: Scheduled = {
  context: "prod",
  state: "scheduling",
  since: "2026-01-01T10:02:11Z",
  problem: "",
  holder: "",
  schedulers: ["ours"],
  namespaces: [],
  bindings_per_minute: 60,
  node_selector: {},
  dry_run: false,
  bound_last_minute: 14,
  lease: null,
  written: 4,
  refused: 1,
  on_their_way: 0,
  rejected: [],
  other_schedulers: [],
  stopped_by: "",
  lacks: null,
};

async function others(seen: Scheduled["other_schedulers"]): Promise<string> {
  serve({ "GET /runs/r/schedule/": ok({ ...SCHEDULED, other_schedulers: seen }) });
  await showAt("/runs/r/writes", "/runs/$run/writes", <Facts run="r" />);
  return (await screen.findByRole("region", { name: "Other schedulers here" })).textContent;
}

describe("how a run that schedules a real cluster stands", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("says that no other scheduler was seen", async () => {
    expect(await others([])).toContain("None was seen");
  });

  it("names the other schedulers that place pods on its nodes, how many, and what that leads to", async () => {
    const at = "2026-01-01T10:05:00Z";
    const seen = ["default-scheduler", "batch", "a", "b", "c", "d", "e"].map((scheduler, place) => ({
      scheduler,
      count: 7 - place,
      last_at: at,
    }));
    const text = await others(seen);
    expect(text).toMatch(/default-scheduler 7 pods, the last at .*batch 6 pods/);
    expect(text).toContain("c 3 pods");
    expect(text).not.toContain("d 2 pods");
    expect(text).toContain("and 2 more");
    expect(text).toContain("may overfill them");
  });

  it("counts one pod as one", async () => {
    expect(await others([{ scheduler: "batch", count: 1, last_at: "2026-01-01T10:05:00Z" }])).toContain("batch 1 pod,");
  });
});
