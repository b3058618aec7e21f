// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { WaitingRow } from "@/api/waitingTypes";
import { approvals } from "@/decisions/decide";
import { type Answers, type Call, ok, OPERATOR, refused, serve, showAt } from "@/testing/showPage";
import { at, waitingRow as row } from "@/testing/waitingRow";

import { WaitingPage } from "./WaitingPage";

const windowOf = (rows: WaitingRow[]) => ({ count: rows.length, person: rows.length, gang: 0, rows });
const gangRow = (name: string) =>
  row(name, 40, {
    gang: { name: "trainer", have: 2, need: 3 },
    decidable: false,
    waiting_on: [{ plugin: "Coscheduling", deadline: at(40), total_seconds: 60, asks_person: false }],
  });
const applied = { id: "j1", status: "applied", text: "", result: {} };

async function inbox(rows: WaitingRow[], answers: Answers = {}, search = ""): Promise<Call[]> {
  const calls = serve({
    "GET /me/": OPERATOR,
    "GET /waiting/": ({ path }) => ok(windowOf(rows.filter((one) => one.name.includes(asked(path)))))(),
    "GET /decisions/": ok({ count: 0, results: [] }),
    "POST /runs/r1/commands/": ok({ id: "j1", status: "pending" }),
    "GET /runs/r1/journal/j1/": ok(applied),
    ...answers,
  });
  await showAt(`/waiting${search}`, "/waiting", <WaitingPage />);
  return calls;
}
const asked = (path: string) => new URLSearchParams(path.split("?")[1]).get("q") ?? "";
const sent = (calls: readonly Call[]) => calls.filter((call) => call.method === "POST").map((call) => call.body);
const list = () => screen.getByRole("region", { name: "Pods that wait on Permit" });

describe("the waiting page", () => {
  beforeEach(() => localStorage.clear());
  afterEach(() => {
    while (approvals.cancel());
    cleanup();
    vi.unstubAllGlobals();
  });

  it("rejects with a reason, which it does not do without", async () => {
    const calls = await inbox([row("web-1", 60)]);
    fireEvent.click(await screen.findByRole("button", { name: "Reject web-1" }));
    const drawer = await screen.findByRole("dialog", { name: "Reject 1 pod" });
    const button = within(drawer).getByRole("button", { name: /^Reject 1 pod/ });
    expect(button).toHaveProperty("disabled", true);
    expect(within(drawer).getByText("A reason is needed.")).toBeDefined();
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: " too large " } });
    fireEvent.click(button);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(sent(calls)).toMatchObject([
      { type: "decide", decision: "reject", reason: "too large", pods: [{ namespace: "ml", name: "web-1" }] },
    ]);
  });

  it("keeps the reason of a rejection that was refused, and says why", async () => {
    await inbox([row("web-1", 60)], { "POST /runs/r1/commands/": refused("The run has ended.") });
    fireEvent.click(await screen.findByRole("button", { name: "Reject web-1" }));
    const drawer = await screen.findByRole("dialog");
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: "too large" } });
    fireEvent.click(within(drawer).getByRole("button", { name: /^Reject 1 pod/ }));
    expect(await within(drawer).findByText(/The run has ended\./)).toBeDefined();
    expect(within(drawer).getByRole("textbox")).toHaveProperty("value", "too large");
  });

  it("counts an approval down where the buttons were, and sends nothing that is cancelled", async () => {
    const calls = await inbox([row("web-1", 60), row("web-2", 60)]);
    fireEvent.click(await screen.findByRole("button", { name: "Approve web-1" }));
    expect(await screen.findByText(/^approving in \d s/)).toBeDefined();
    expect(screen.queryByRole("button", { name: "Reject web-1" })).toBeNull();
    expect(screen.getByRole("button", { name: "Reject web-2" })).toBeDefined();
    approvals.cancel();
    expect(await screen.findByRole("button", { name: "Approve web-1" })).toBeDefined();
    expect(sent(calls)).toEqual([]);
  });

  it("decides about all that are marked at once", async () => {
    await inbox([row("web-1", 60), row("web-2", 60)]);
    fireEvent.click(await screen.findByRole("checkbox", { name: "Mark all" }));
    const bar = screen.getByRole("toolbar", { name: "Marked pods" });
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve 2/ }));
    expect(await screen.findAllByText(/^approving in/)).toHaveLength(2);
    expect(approvals.getPending().map((one) => one.pods.map((pod) => pod.name))).toEqual([["web-1", "web-2"]]);
    expect(screen.queryByRole("toolbar")).toBeNull();
  });

  it("lets a gang go only with a reason, as a whole and with its plugin", async () => {
    const calls = await inbox([gangRow("t-1"), gangRow("t-2")]);
    fireEvent.click(await screen.findByRole("button", { name: /^Override.*trainer/ }));
    const drawer = await screen.findByRole("dialog");
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: "two are enough" } });
    fireEvent.click(within(drawer).getByRole("button", { name: /^Override/ }));
    await waitFor(() => expect(sent(calls)).toHaveLength(1));
    expect(sent(calls)).toMatchObject([
      { decision: "override", plugin: "Coscheduling", pods: [{ name: "t-1" }, { name: "t-2" }] },
    ]);
  });

  it("shows what another filter finds also while the order is held", async () => {
    await inbox([row("web-1", 60), row("db-1", 60)]);
    await screen.findByRole("button", { name: "Approve web-1" });
    fireEvent.click(screen.getByRole("button", { name: /Hold order/ }));
    fireEvent.change(screen.getByRole("searchbox"), { target: { value: "db" } });
    await waitFor(() => expect(within(list()).getAllByRole("row")).toHaveLength(2));
    expect(within(list()).getByRole("button", { name: "Approve db-1" })).toBeDefined();
    expect(screen.queryByText("no longer waiting")).toBeNull();
  });

  it("says why nobody is listed, and leads on", async () => {
    await inbox([], {}, "?q=nothing");
    fireEvent.click(await screen.findByRole("button", { name: "Clear the filter" }));
    expect(await screen.findByRole("link", { name: /Add ManualApproval/ })).toBeDefined();
  });
});
