// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Scheduled } from "@/api/scheduling";
import { type Answers, ok, serve, showAt } from "@/testing/showPage";

import { LiveBand } from "./LiveBand";

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

async function band(more: Partial<Scheduled> = {}, answers: Answers = {}, role = "operator") {
  const calls = serve({
    "GET /me/": ok({ username: "mira", role }),
    "GET /runs/r/schedule/": ok({ ...SCHEDULED, ...more }),
    ...answers,
  });
  await showAt("/runs/r", "/runs/$run", <LiveBand run="r" />);
  await screen.findByRole("region", { name: "This run writes to a cluster" });
  return calls;
}
const stopButton = () => screen.queryByRole("button", { name: /Stop scheduling/ });

describe("the band of a run that schedules a real cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("stops with one click, says who did it, and has no such button afterwards", async () => {
    let isStopped = false;
    const calls = await band(
      {},
      {
        "GET /runs/r/schedule/": () => ({
          status: 200,
          body: isStopped ? { ...SCHEDULED, state: "stopped", stopped_by: "mira", on_their_way: 1 } : SCHEDULED,
        }),
        "POST /runs/r/commands/": () => {
          isStopped = true;
          return { status: 202, body: { id: "j1", status: "pending", warnings: [] } };
        },
        "GET /runs/r/journal/j1/": ok({ id: "j1", status: "applied", text: "", result: {} }),
      },
    );
    expect(await screen.findByText("Binds real pods in prod")).toBeDefined();
    expect(screen.getByRole("link", { name: /4 written/ }).textContent).toContain("1 refused");
    fireEvent.click(await screen.findByRole("button", { name: /Stop scheduling/ }));
    expect(await screen.findByText(/^Stopped by you at .* 1 answer is awaited\.$/)).toBeDefined();
    expect(screen.getByText("Not writing to prod")).toBeDefined();
    await waitFor(() => expect(stopButton()).toBeNull());
    expect(screen.getByRole("link", { name: "Schedule again…" })).toBeDefined();
    expect(calls.filter((call) => call.method === "POST").map((call) => call.body)).toMatchObject([{ type: "stop" }]);
  });

  it("names the rights that are missing, each since when, with the roles to apply", async () => {
    const rule = { group: "", resource: "pods/binding", name: "", namespace: "ml", verbs: ["create"] };
    const since = "2026-01-01T10:05:00Z";
    const rules = [{ ...rule, missing: ["create"], why: "to bind", since }];
    await band({ state: "lacks_rights", lacks: { rules, yaml: "kind: ClusterRole" } });
    const fault = await screen.findByRole("alert");
    expect(fault.textContent).toMatch(/lack what scheduling needs.*create pods\/binding -n ml.*to bind.*10:05/);
    expect(fault.textContent).not.toContain("kind: ClusterRole");
    fireEvent.click(screen.getByRole("button", { name: "Rule to apply" }));
    expect(screen.getByText("kind: ClusterRole")).toBeDefined();
    expect(screen.getByText("Not writing to prod")).toBeDefined();
  });

  it("is for looking only to a viewer", async () => {
    await band({}, {}, "viewer");
    expect(await screen.findByText("Binds real pods in prod")).toBeDefined();
    expect(stopButton()).toBeNull();
  });

  it("says what is wrong, what goes on and whose words it has, until that is closed", async () => {
    await band({ state: "stale", problem: "connection refused" });
    const fault = await screen.findByRole("alert");
    expect(fault.textContent).toMatch(/API server unreachable since .*It goes on by itself\.connection refused/);
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByText("Not writing to prod")).toBeDefined();
  });

  it("says which pods kubelets rejected because two schedulers overfilled a node, until it is closed", async () => {
    const pod = { namespace: "shop", node: "n1", reason: "OutOfcpu", message: "", at: "2026-01-01T10:02:11Z" };
    const rejected = [
      { ...pod, name: "web-1", scheduler: "ours", is_ours: true },
      { ...pod, name: "web-2", scheduler: "default-scheduler", is_ours: false },
    ];
    await band({ rejected });
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("2 pods were rejected by their kubelets in prod");
    expect(alert.textContent).toContain("Another scheduler places pods on the same nodes");
    expect(alert.textContent).toContain("OutOfcpu: shop/web-2 on n1, bound by default-scheduler at");
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("alert")).toBeNull();
  });
});
