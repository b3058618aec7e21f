// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "@/api/client";
import type { Cycle, Run } from "@/api/types";
import type { RunView } from "@/live/runStore";
import { aRun, viewOf } from "@/testing/run";
import { OPERATOR, serve, showAt } from "@/testing/showPage";

import { CycleStrip } from "./CycleStrip";

const cycle = {
  pod: { namespace: "shop", name: "web-1", workload: "web", tail: "1" },
  attempt: 2,
  note: "",
  points: [
    { point: "PreFilter", state: "done" },
    { point: "Filter", state: "current" },
    { point: "Score", state: "next" },
  ],
  filtered: { of: 12, left: 5 },
} as unknown as Cycle;
const counts = aRun().counts;

async function strip(run: Partial<Run> = {}, view: Partial<RunView> = {}, held = false) {
  serve({ "GET /me/": OPERATOR });
  const onReload = vi.fn();
  const shown = viewOf(aRun(run), view);
  const onTryAgain = vi.fn();
  const props = { run: aRun(run), view: shown, cycle: shown.cycle, onReload, onTryAgain, held };
  await showAt("/runs/r", "/runs/$run", <CycleStrip {...props} />);
  return { onReload, onTryAgain, strip: screen.getByRole("region", { name: "Current cycle" }) };
}

describe("the strip of the cycle says", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("in which cycle the run stands, at which point, and how many nodes are left", async () => {
    const { strip: shown } = await strip({}, { cycle });
    expect(shown.textContent).toContain("5 of 12 nodes left");
    expect(within(shown).getByRole("status").textContent).toMatch(/^Paused.*web.*attempt 2$/);
    const current = within(shown)
      .getAllByRole("listitem")
      .filter((item) => item.ariaCurrent === "step");
    expect(current.map((item) => item.textContent)).toEqual(["Filter, now"]);
  });

  it("that the board is not the newest, in a whole line, and asks again", async () => {
    const error = new ApiError(503, { code: "503", message: "The server is busy." });
    const { strip: shown, onReload } = await strip({}, { error });
    const line = within(shown).getByRole("status");
    expect(line.textContent).toContain("The board could not be brought up to date.");
    expect([line.title, shown.dataset.stuck]).toEqual(["The server is busy.", "true"]);
    fireEvent.click(within(shown).getByRole("button", { name: "Try again" }));
    expect(onReload).toHaveBeenCalledOnce();
  });

  it.each<[string, Partial<Run>, Partial<RunView>, RegExp]>([
    ["how fast it plays", { state: "playing" }, { rate: 12 }, /^Playing12/],
    ["that it stands between two cycles", {}, {}, /^PausedBetween two cycles$/],
    ["that it is over", { state: "finished" }, {}, /^Finished20 attempts$/],
    ["that its pods are still being written", { unwritten: 9400 }, {}, /9,400/],
    ["that it is looked back at", { moment: { at: 3 } as unknown as Run["moment"] }, {}, /^As it was/],
    ["that another worker takes over", { state: "playing", worker: { state: "lost", since: null } }, {}, /takes over/],
  ])("%s", async (_, run, view, want) => {
    const { strip: shown } = await strip(run, view);
    expect(within(shown).getByRole("status").textContent).toMatch(want);
    expect(shown.dataset.stuck).toBe("false");
  });

  it("aloud that the run is parked, and why, and has it tried again", async () => {
    const { strip: shown, onTryAgain } = await strip({ state: "parked", error: "Out of memory." });
    expect(within(shown).getByRole("alert").textContent).toContain("Parked: Out of memory.");
    fireEvent.click(within(shown).getByRole("button", { name: "Try again" }));
    expect(onTryAgain).toHaveBeenCalledOnce();
  });

  it("that the clock waits for a person, and leads to the inbox or to who waits for a device", async () => {
    await strip({ state: "waiting_for_person", counts: { ...counts, waiting: 2 } });
    expect(screen.getByRole("link", { name: "Decide in the inbox" })).toBeDefined();
    cleanup();
    await strip({ state: "waiting_for_person", counts });
    expect(screen.getByRole("link", { name: /wait for devices/ })).toBeDefined();
  });

  it("at which breakpoint it stopped, and leads to the pod", async () => {
    const hit = { id: "b", pod: "shop/web-1", text: "web-1 was bound" };
    await strip({ hit, breakpoints: [{ id: "a" }, { id: "b" }] } as unknown as Partial<Run>);
    expect(screen.getByRole("link", { name: "web-1 was bound" }).getAttribute("href")).toBe("/runs/r/pods/shop/web-1");
    expect(screen.getByRole("status").textContent).toContain("2");
  });

  it.each<[string, Partial<Run>, RegExp]>([
    ["and the run plays", { state: "playing" }, /^PlayingAsking http:\/\/topology: \d\.\ds of 5\.0s$/],
    ["in a cycle that was stepped into", {}, /^PausedAsking http:\/\/topology: \d\.\ds of 5\.0s$/],
  ])("whom the attempt waits for, since when and how long, %s", async (_, run, want) => {
    const since = new Date(Date.now() - 2100).toISOString();
    const asking: NonNullable<Cycle["asking"]> = { extenders: ["http://topology"], verb: "filter", since, timeout: 5 };
    const { strip: shown } = await strip(run, { cycle: { ...cycle, asking }, rate: 12 });
    const line = within(shown).getByRole("status");
    expect(line.textContent).toMatch(want);
    expect(line.querySelector(".num[aria-hidden=true]")?.textContent).toMatch(/of 5\.0s$/);
  });

  it("nothing of an extender that was asked just now, and no more than its time-out of one that is late", async () => {
    const asked = (ago: number): NonNullable<Cycle["asking"]> => {
      const since = new Date(Date.now() - ago).toISOString();
      return { extenders: ["http://a", "http://b"], verb: "prioritize", since, timeout: 2.5 };
    };
    const soon = await strip({ state: "playing" }, { cycle: { ...cycle, asking: asked(-5_000) }, rate: 12 });
    expect(within(soon.strip).getByRole("status").textContent).toBe("Playing12/s");
    cleanup();
    const late = await strip({ state: "playing" }, { cycle: { ...cycle, asking: asked(60_000) } });
    expect(within(late.strip).getByRole("status").textContent).toBe(
      "PlayingAsking http://a and http://b: 2.5s of 2.5s",
    );
  });

  it("aloud that the server does not answer for the step that was asked for", async () => {
    const { strip: shown } = await strip({}, {}, true);
    expect(within(shown).getByRole("alert").textContent).toContain("step 40");
    expect(shown.dataset.stuck).toBe("true");
  });
});
