// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Storage, StoredRun } from "@/api/keeping";
import { askedLast, fill, isOff, press, reads, sent } from "@/testing/press";
import { type Answers, ok, OPERATOR, refused, serve, showAt } from "@/testing/showPage";

import { StoragePage } from "./StoragePage";

const MB = 1_000_000;
const aStorage = (more: Partial<Storage> = {}): Storage =>
  ({
    database_bytes: 100 * MB,
    free_bytes: 10 * MB,
    kinds: [
      { kind: "pods", bytes: 60 * MB },
      { kind: "feed", bytes: 0 },
    ],
    limits: {
      breakdowns_days: 30,
      runs_days: null,
      total_bytes: 500 * MB,
      per_person_bytes: null,
      deleted_days: 30,
      pruned_days: 7,
    },
    next: { breakdowns: 1, runs: 2, bytes: 5 * MB, over_bytes: 3 * MB },
    runs: { bytes: 80 * MB, deleted_count: 1, deleted_bytes: 2 * MB },
    people: [
      { name: "mira", runs: 2, bytes: 50 * MB },
      { name: "olga", runs: 1, bytes: 30 * MB },
    ],
    snapshots: [{ id: "s1", name: "shop", bytes: MB, runs: 3, runs_bytes: 9 * MB }],
    ...more,
  }) as unknown as Storage;

const aRow = (number: string, more: Partial<StoredRun> = {}): StoredRun =>
  ({
    id: number,
    number,
    snapshot: "shop",
    started_by: "mira",
    used_at: "2026-11-27T10:00:00Z",
    bytes: 4 * MB,
    parts: [{ kind: "pods", bytes: 4 * MB }],
    deleted_at: null,
    needed: "",
    breakdowns_gone_at: null,
    goes: { breakdowns_at: null, run_at: null },
    ...more,
  }) as StoredRun;

async function storage(
  rows: StoredRun[] = [aRow("r-0001")],
  answers: Answers = {},
  address = "/storage",
  count = rows.length,
) {
  const calls = serve({
    "GET /me/": OPERATOR,
    "GET /storage/": ok(aStorage()),
    "GET /storage/runs/": ok({ count, offset: 0, limit: 50, results: rows }),
    ...answers,
  });
  const page = await showAt(address, "/storage", <StoragePage />);
  return { calls, asked: () => askedLast(calls, "/storage/runs/"), ...page };
}

/** On the page: notices of before may still be there. */
const refusal = async () =>
  (await screen.findByText("Could not read what is stored.")).closest("[role=alert]")?.textContent;
const list = (name: string | RegExp) => within(screen.getByRole("region", { name }));

describe("the page of storage", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("sets a star and takes it away, and reads what that changes", async () => {
    let starred = false;
    const { calls } = await storage([], {
      "GET /storage/runs/": () =>
        ok({ count: 1, offset: 0, limit: 50, results: [aRow("r-0001", { needed: starred ? "starred" : "" })] })(),
      "POST /runs/r-0001/star/": () => {
        starred = true;
        return { status: 200, body: {} };
      },
      "DELETE /runs/r-0001/star/": () => {
        starred = false;
        return { status: 200, body: null };
      },
    });
    const off = await screen.findByRole("button", { name: "Keep r-0001: set a star" });
    expect(off.getAttribute("aria-pressed")).toBe("false");
    const before = reads(calls, "/storage/");
    press("Keep r-0001: set a star");
    const on = await screen.findByRole("button", { name: "Keep r-0001: take the star away" });
    expect(on.getAttribute("aria-pressed")).toBe("true");
    expect(screen.getByText(/starred: stays/)).toBeTruthy();
    expect(reads(calls, "/storage/")).toBe(before + 1);
    press("Keep r-0001: take the star away");
    await screen.findByRole("button", { name: "Keep r-0001: set a star" });
    expect(sent(calls).map(([what]) => what)).toEqual(["POST /runs/r-0001/star/", "DELETE /runs/r-0001/star/"]);
  });

  it("says why a star was not set, and leaves the run without", async () => {
    await storage([aRow("r-0001")], { "POST /runs/r-0001/star/": refused("r-0001 was deleted.", 404) });
    await screen.findByRole("button", { name: "Keep r-0001: set a star" });
    press("Keep r-0001: set a star");
    expect(await screen.findByText("The star was not changed.")).toBeTruthy();
    expect(screen.getByText(/r-0001 was deleted\./)).toBeTruthy();
    await waitFor(() => expect(isOff("Keep r-0001: set a star")).toBe(false));
  });

  it("shows whoever may not change runs no star, and of a deleted run neither star nor link", async () => {
    await storage([aRow("r-0001")], { "GET /me/": ok({ username: "vera", role: "viewer" }) });
    expect((await screen.findByRole("link", { name: "r-0001, shop" })).getAttribute("href")).toBe("/runs/r-0001");
    expect(screen.queryByRole("button", { name: /star/ })).toBeNull();
    cleanup();
    await storage([aRow("r-0002", { deleted_at: "2026-11-28T09:00:00Z" })]);
    await screen.findByText("r-0002, shop");
    expect(screen.queryByRole("link", { name: /r-0002/ })).toBeNull();
    expect(screen.queryByRole("button", { name: /star/ })).toBeNull();
  });

  it("chooses whose runs, from the first window on, and leafs", async () => {
    const { address, asked } = await storage([aRow("r-0001")], {}, "/storage?offset=50", 120);
    await screen.findByText("51 to 100 of 120");
    fill("Whose runs", "olga");
    await waitFor(() => expect(asked()).toEqual({ person: "olga", offset: "0", limit: "50" }));
    expect(address()).toBe("/storage?person=olga");
    press("After");
    await waitFor(() => expect(asked()).toEqual({ person: "olga", offset: "50", limit: "50" }));
    press("Before");
    await waitFor(() => expect(address()).toBe("/storage?person=olga"));
    fill("Whose runs", "");
    await waitFor(() => expect(address()).toBe("/storage"));
    expect(asked()).toEqual({ offset: "0", limit: "50" });
  });

  it("offers somebody of whom nothing is stored any more where the address names them", async () => {
    await storage([], {}, "/storage?person=nils");
    expect(await screen.findByText("No runs.")).toBeTruthy();
    const whose = screen.getByLabelText<HTMLSelectElement>("Whose runs");
    expect([whose.value, [...whose.options].map(({ value }) => value)]).toEqual(["nils", ["", "nils", "mira", "olga"]]);
  });

  it("leads to a person's runs, a cluster's runs and what was deleted", async () => {
    await storage();
    await screen.findByText("By person");
    const href = (name: string) => decodeURIComponent(screen.getByRole("link", { name }).getAttribute("href") ?? "");
    expect(href("olga")).toBe("/storage?person=olga");
    expect(href("shop")).toBe("/runs?snapshot=s1");
    expect(href("Recently deleted")).toBe("/deleted");
  });

  it("says what uses the space, and what goes next", async () => {
    await storage();
    await screen.findByText("By person");
    const space = list(/^The database has/);
    expect(space.getAllByRole("term").map((one) => one.textContent)).toEqual(["Pods of runs"]);
    expect(space.getByText(/are free and are used before it grows/)).toBeTruthy();
    const rules = list("What goes when");
    expect(rules.getByText(/^Next: 1 run loses what the plugins said, 2 runs go to Recently deleted\./)).toBeTruthy();
    expect(rules.getByText("Runs stay, whatever their age.")).toBeTruthy();
    expect(rules.getByText(/stay all the same, as somebody needs them/)).toBeTruthy();
  });

  it("reads again what was refused, the runs alone as well", async () => {
    let isBusy = true;
    const busy = (body: unknown) => () => (isBusy ? refused("Busy.", 503)() : ok(body)());
    const { calls } = await storage([], { "GET /storage/": busy(aStorage()) });
    expect(await refusal()).toBe("Could not read what is stored.Busy.Try again");
    isBusy = false;
    press("Try again");
    expect(await screen.findByText("No runs.")).toBeTruthy();
    expect(reads(calls, "/storage/")).toBe(2);
    cleanup();
    isBusy = true;
    await storage([], { "GET /storage/runs/": busy({ count: 1, offset: 0, limit: 50, results: [aRow("r-0001")] }) });
    expect(await refusal()).toBe("Could not read what is stored.Busy.Try again");
    isBusy = false;
    press("Try again");
    expect(await screen.findByText("r-0001, shop")).toBeTruthy();
  });
});
