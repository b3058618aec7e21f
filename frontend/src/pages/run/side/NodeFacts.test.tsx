// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { NodeDetail } from "@/api/types";
import { serve, showAt } from "@/testing/showPage";

import NodeFacts from "./NodeFacts";

const cpu = (cores: number) => ({ amount: 1000 * cores, text: cores.toString() });
const HELD = {
  name: "training",
  resources: [{ name: "cpu", held: cpu(3), allocatable: cpu(6), allocated: cpu(3) }],
};
const ZONE = {
  name: "node-0",
  fits: true,
  costs: [{ name: "node-1", value: 21 }],
  resources: [{ name: "cpu", free: cpu(6), allocatable: cpu(24), asked: null, short: null }],
};
const FIGURE = { type: "CPU", average: 40, deviation: 4, step: 60, history: [20, 30, 35] };

async function facts(more: Partial<Record<"held" | "numa" | "load", unknown>>) {
  serve({});
  const node = { name: "a", held: [], numa: null, load: null, ...more } as unknown as NodeDetail;
  await showAt("/runs/r", "/runs/$run", <NodeFacts run="r" node={node} />);
}
/** How far a bar is filled. */
const filled = (place: HTMLElement) => place.querySelector<HTMLElement>("[aria-hidden] i")?.style.width;

describe("what plugins of the catalogue read of a node", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is nothing where they read nothing", async () => {
    await facts({});
    expect(screen.queryAllByRole("region")).toEqual([]);
  });

  it("names the reservations that hold something there, with how much, and leads to them", async () => {
    await facts({ held: [HELD] });
    const held = screen.getByRole("region", { name: "Held by Reservations" });
    expect(within(held).getByText("3 of 6 held")).toBeTruthy();
    expect(filled(held)).toBe("50%");
    const address = decodeURIComponent(within(held).getByRole("link", { name: "training" }).getAttribute("href") ?? "");
    expect(address).toContain("/runs/r/objects?kind=Reservation&object=Reservation//training");
    expect(screen.getAllByRole("region")).toHaveLength(1);
  });

  it("shows of each zone what is free, and what it costs to reach the others", async () => {
    await facts({ numa: { policy: "single-numa-node", scope: "pod", zones: [ZONE, { ...ZONE, name: "node-1" }] } });
    const numa = screen.getByRole("region", { name: "NUMA zones" });
    expect(within(numa).getByText("single-numa-node · scope pod")).toBeTruthy();
    const [first, second] = within(numa).getAllByRole("listitem");
    expect(first?.textContent).toContain("node-0");
    expect(first?.textContent).toContain("cost to node-1: 21");
    expect(first?.textContent).toContain("6 of 24 free");
    expect(first === undefined ? "" : filled(first)).toBe("75%");
    expect(second?.textContent).toContain("node-1");
  });

  it("draws the load where there is more than one value of it", async () => {
    const memory = { ...FIGURE, type: "Memory", average: 60, history: [60] };
    await facts({ load: { source: "node-load.json", figures: [FIGURE, memory] } });
    const load = screen.getByRole("region", { name: "Load" });
    expect(within(load).getByText("40 %")).toBeTruthy();
    expect(within(load).getByText("deviation 4 %", { selector: "div:first-child > p" })).toBeTruthy();
    expect(within(load).getByText("60 %")).toBeTruthy();
    expect(
      within(load)
        .getAllByRole("img")
        .map((one) => one.getAttribute("aria-label")),
    ).toEqual(["cpu load of 2 minutes, at last 35 %"]);
    expect(within(load).getByText("From: node-load.json")).toBeTruthy();
  });

  it("shows the value alone where nothing else was told", async () => {
    await facts({ load: { source: "", figures: [{ ...FIGURE, deviation: null, step: 0, history: [] }] } });
    const load = screen.getByRole("region", { name: "Load" });
    expect(within(load).getByText("40 %")).toBeTruthy();
    expect(within(load).queryByRole("img")).toBeNull();
    expect(within(load).queryByText(/deviation/)).toBeNull();
  });

  it("names no source of a load that has none", async () => {
    await facts({ load: { source: "", figures: [FIGURE] } });
    expect(screen.queryByText(/^From/)).toBeNull();
  });
});
