// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { type Answer, ok, refused, serve, showAt } from "@/testing/showPage";

import { QuotasPanel } from "./QuotasPanel";

const cores = (count: number) => ({ amount: 1000 * count, text: count.toString() });
const gigabytes = (count: number) => ({ amount: count * 2 ** 30, text: `${count.toString()}Gi` });
const row = (namespace: string, used: number, min: number, max: number | null) => ({
  namespace,
  name: namespace,
  depth: 0,
  share: null,
  used: cores(used),
  min: cores(min),
  max: max === null ? null : cores(max),
});
const NAMESPACES = {
  plugin: "CapacityScheduling",
  resources: [
    { name: "cpu", used: cores(92), min: cores(112), quotas: [row("ml", 78, 64, 128), row("shop", 14, 48, null)] },
    {
      name: "memory",
      used: gigabytes(8),
      min: gigabytes(16),
      quotas: [{ ...row("ml", 0, 0, null), used: gigabytes(8), min: gigabytes(16) }],
    },
  ],
};
const TREE = {
  plugin: "ElasticQuotaTree",
  resources: [
    {
      name: "cpu",
      used: cores(6),
      min: cores(8),
      quotas: [
        { ...row("all", 6, 8, 10), share: cores(10) },
        { ...row("web", 6, 2, 6), depth: 1, share: cores(6) },
        { ...row("lost", 0, 1, 1), share: null },
      ],
    },
  ],
};

async function panel(answer: () => Answer) {
  serve({ "GET /runs/r/objects/quotas/": answer });
  await showAt("/runs/r/objects", "/runs/$run/objects", <QuotasPanel run="r" />);
}
const cellsOf = (name: RegExp) =>
  within(screen.getByRole("row", { name }))
    .getAllByRole("cell")
    .map((cell) => cell.textContent);
/** Of a row's bar, in percent of its width: what is used within min, and where min is. */
function barOf(name: RegExp): { used: string; borrowed: string; min: string } {
  const [, used, borrowed, , tick] = screen.getByRole("row", { name }).querySelectorAll<HTMLElement>("td i");
  return {
    used: used?.style.width ?? "",
    borrowed: borrowed?.style.width ?? "",
    min: tick?.style.left ?? "",
  };
}

describe("what is used of quotas", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is a bar for each namespace, and all together", async () => {
    await panel(ok(NAMESPACES));
    await screen.findByText("as CapacityScheduling counts");
    expect(cellsOf(/^ml/)).toEqual(["", "78", "64", "128", "borrows 14"]);
    expect(cellsOf(/^shop/)).toEqual(["", "14", "48", "no limit", "34 unused, lent out"]);
    expect(cellsOf(/^all/).slice(1, 3)).toEqual(["92", "112"]);
    expect(barOf(/^ml/)).toEqual({ used: "50%", borrowed: "10.9375%", min: "50%" });
    expect(screen.queryByText(/this pod/)).toBeNull();
  });

  it("shows another resource when it is chosen", async () => {
    await panel(ok(NAMESPACES));
    fireEvent.click(await screen.findByRole("radio", { name: "memory" }));
    expect(cellsOf(/^ml/).slice(1, 3)).toEqual(["8 Gi", "16 Gi"]);
  });

  it("is told along a tree with what each may use now", async () => {
    await panel(ok(TREE));
    await screen.findByRole("columnheader", { name: "may use now" });
    expect(cellsOf(/^all/)).toEqual(["", "6", "8", "10", "10"]);
    expect(cellsOf(/^web/)).toEqual(["", "6", "2", "6", "6"]);
    expect(cellsOf(/^lost/).at(-1)).toBe("none: under no root");
    const indents = ["all", "web"].map((name) => screen.getByRole("rowheader", { name }).style.paddingInlineStart);
    expect(indents).toEqual(["0", "16px"]);
    expect(screen.getAllByRole("row")).toHaveLength(4);
  });

  it("says where nobody is held to them, and nothing where there are none", async () => {
    await panel(ok({ ...NAMESPACES, plugin: "" }));
    await screen.findByText("no plugin of this configuration holds to them");
    cleanup();
    await panel(ok({ plugin: "", resources: [] }));
    await vi.waitFor(() => expect(screen.queryByRole("heading")).toBeNull());
  });

  it("says when they could not be counted, and tries again", async () => {
    await panel(refused("The server is busy.", 503));
    await screen.findByText("The server is busy.");
    serve({ "GET /runs/r/objects/quotas/": ok(NAMESPACES) });
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("row", { name: /^ml/ });
  });
});
