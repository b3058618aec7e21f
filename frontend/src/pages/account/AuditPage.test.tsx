// @vitest-environment jsdom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { AuditEntry } from "@/api/accounts";
import { askedLast, fill, isOff, press, reads } from "@/testing/press";
import { type Answers, ok, refused, serve, showAt } from "@/testing/showPage";

import { ACTIONS, GROUPS } from "./actions";
import { AuditPage } from "./AuditPage";

const anEntry = (id: number, more: Partial<AuditEntry> = {}): AuditEntry =>
  ({
    id,
    at: "2026-11-28T10:00:00.123456Z",
    username: "ada",
    address: "10.0.0.1",
    via: "session",
    action: "account.role",
    result: "done",
    target: "vera",
    details: { role: "operator", before: ["viewer"] },
    ...more,
  }) as AuditEntry;

async function audit(address = "/audit", answers: Answers = {}, entries = [anEntry(1)], count = entries.length) {
  const calls = serve({
    "GET /me/": ok({ username: "ada", role: "admin" }),
    "GET /audit/": ok({ count, offset: 0, limit: 100, results: entries }),
    ...answers,
  });
  const page = await showAt(address, "/audit", <AuditPage />);
  return { calls, asked: () => askedLast(calls, "/audit/"), ...page };
}

const rows = () => screen.getAllByRole("row").slice(1);
const PLAIN = { offset: "0", limit: "100" };

describe("the audit log", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it.each([
    ["Who", " ada ", "who=ada", { who: "ada" }],
    ["To what, or where from", "10.0.0.1", "q=10.0.0.1", { q: "10.0.0.1" }],
    ["What", "account.role", "action=account.role", { action: "account.role" }],
    ["What", "decision", "action=decision", { action: "decision" }],
    ["Result", "refused", "result=refused", { result: "refused" }],
    ["From", "2026-11-24", "since=2026-11-24", { since: "2026-11-24T00:00:00.000Z" }],
    // The last day is within.
    ["To", "2026-11-24", "until=2026-11-24", { until: "2026-11-25T00:00:00.000Z" }],
  ])("narrowed by %s to %s is read from its beginning, and taken along so", async (label, value, search, filter) => {
    const { address, asked } = await audit("/audit?offset=100", {}, [anEntry(1)], 300);
    await screen.findByRole("table");
    fill(label, value);
    await waitFor(() => expect(asked()).toEqual({ ...PLAIN, ...filter }));
    expect(address()).toBe(`/audit?${search}`);
    for (const as of ["csv", "json"]) {
      const link = screen.getByRole("link", { name: as.toUpperCase() }).getAttribute("href") ?? "";
      expect(link).toMatch(/^\/api\/v1\/audit\/export\/\?/);
      expect(Object.fromEntries(new URLSearchParams(link.split("?")[1]))).toEqual({ as, ...filter });
    }
    fill(label, "");
    await waitFor(() => expect(address()).toBe("/audit"));
  });

  it("keeps one filter while another is chosen", async () => {
    const { asked } = await audit("/audit?who=ada");
    await screen.findByRole("table");
    fill("Result", "done");
    await waitFor(() => expect(asked()).toEqual({ ...PLAIN, who: "ada", result: "done" }));
  });

  it("offers every group and every action in words", async () => {
    await audit();
    const options = [...screen.getByLabelText<HTMLSelectElement>("What").options];
    expect(options.map(({ value }) => value)).toEqual(["", ...GROUPS, ...ACTIONS]);
    expect(options.filter(({ text }) => text === "" || /^(action|group)\./.test(text))).toEqual([]);
  });

  it("leafs", async () => {
    const { address, asked } = await audit("/audit?result=done", {}, [anEntry(1)], 150);
    await screen.findByText("1 to 100 of 150");
    expect(isOff("Before")).toBe(true);
    press("After");
    await waitFor(() => expect(asked()).toEqual({ limit: "100", offset: "100", result: "done" }));
    await waitFor(() => expect(isOff("After")).toBe(true));
    press("Before");
    await waitFor(() => expect(address()).toBe("/audit?result=done"));
  });

  it("says who did what to what, from where, and what was refused", async () => {
    await audit("/audit", {}, [
      anEntry(3),
      anEntry(2, { username: "", via: "server", address: "", action: "audit.prune", target: "", details: {} }),
      anEntry(1, { username: "", via: "token ci", action: "login", result: "refused", details: {} }),
    ]);
    await screen.findByRole("table");
    const told = rows().map((row) => [...row.children].map((cell) => cell.textContent));
    expect(told[0]?.slice(1)).toEqual(["ada10.0.0.1", expect.any(String), 'verarole: operator; before: ["viewer"]']);
    expect(told[0]?.[0]).toMatch(/^2026-11-28 10:00:00/);
    expect(told[1]?.[1]).toBe("the server");
    expect(told[2]?.[1]).toBe("somebody10.0.0.1, with token ci");
    expect(rows().map((row) => row.dataset.refused)).toEqual(["false", "false", "true"]);
    expect(told[2]?.[2]).toMatch(/refused$/);
  });

  it("says that there is nothing of the kind", async () => {
    await audit("/audit?who=nobody", {}, []);
    expect(await screen.findByText("Nothing of the kind was done or tried.")).toBeTruthy();
    expect(screen.queryByRole("table")).toBeNull();
  });

  it("says why it cannot be read, and reads it again", async () => {
    let isBusy = true;
    const { calls } = await audit("/audit", {
      "GET /audit/": () =>
        isBusy ? refused("Busy.", 503)() : ok({ count: 1, offset: 0, limit: 100, results: [anEntry(1)] })(),
    });
    expect((await screen.findByRole("alert")).textContent).toBe("The audit log could not be read.Busy.Try again");
    isBusy = false;
    press("Try again");
    await screen.findByRole("table");
    expect(reads(calls, "/audit/")).toBe(2);
  });
});
