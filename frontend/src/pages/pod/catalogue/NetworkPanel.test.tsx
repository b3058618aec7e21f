// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { PodNetwork } from "@/api/podTypes";
import { serve, showAt } from "@/testing/showPage";

import { NetworkPanel } from "./NetworkPanel";

const NETWORK: PodNetwork = {
  group: { namespace: "shop", name: "checkout" },
  topology: { namespace: "shop", name: "nt-default" },
  weights: "UserDefined",
  workload: "basket",
  peers: [
    { workload: "pricing", region: "eu", zone: "eu-1c", most: 5, pods: 1 },
    { workload: "stock", region: "", zone: "", most: 9, pods: 3 },
  ],
  more_peers: 0,
  places: [
    {
      region: "eu",
      zone: "eu-1b",
      nodes: 2,
      satisfied: 1,
      violated: 3,
      reaches: [
        { cost: 9, near: false },
        { cost: 100, near: null },
      ],
    },
    {
      region: "",
      zone: "eu-1d",
      nodes: 1,
      satisfied: 2,
      violated: 2,
      reaches: [
        { cost: 4, near: true },
        { cost: 100, near: null },
      ],
    },
  ],
  more_places: 0,
};

async function panel(more: Partial<PodNetwork> = {}) {
  serve({});
  await showAt(
    "/runs/r/pods/shop/basket-0",
    "/runs/$run/pods/$namespace/$name",
    <NetworkPanel network={{ ...NETWORK, ...more }} />,
  );
  return screen.getByRole("region", { name: "Network costs" });
}
const cells = (name: RegExp) =>
  within(screen.getByRole("row", { name }))
    .getAllByRole("cell")
    .map((cell) => cell.textContent);

describe("network costs of a pod that was refused", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("are told from each zone to all whom the pod talks to", async () => {
    const shown = await panel();
    expect(
      within(shown)
        .getAllByRole("columnheader")
        .map((one) => one.textContent),
    ).toEqual([
      "From a node in",
      "pricingeu / eu-1c1 pod, may cost 5",
      "stockno zone3 pods, may cost 9",
      "Pods in all",
    ]);
    expect(cells(/^eu \/ eu-1b 2 nodes refused/)).toEqual(["9 too far", "100 not known", "near enough: 1, too far: 3"]);
    expect(cells(/^eu-1d 1 node refused/)).toEqual(["4 near enough", "100 not known", "near enough: 2, too far: 2"]);
    expect(within(shown).getByText("UserDefined")).toBeTruthy();
  });

  it("mark the zones where more is too far than near enough", async () => {
    await panel();
    const marked = (text: RegExp) => screen.getByText(text).className;
    expect(marked(/too far: 3/)).toContain("bad");
    expect(marked(/too far: 2/)).toBe("");
  });

  it("lead to the objects that say so", async () => {
    const shown = await panel();
    const objects = within(shown)
      .getAllByRole("link")
      .map((link) => new URL(link.getAttribute("href") ?? "", "http://x").searchParams.get("object"));
    expect(objects).toEqual(["AppGroup/shop/checkout", "NetworkTopology/shop/nt-default"]);
  });

  it("say what is not listed, and only where something is not", async () => {
    const shown = await panel();
    expect(shown.textContent).not.toContain("not listed");
    cleanup();
    const cut = await panel({ more_places: 1, more_peers: 4 });
    expect(cut.textContent).toContain("1 more zone is not listed.");
    expect(cut.textContent).toContain("4 more places of pods are counted and not listed.");
  });
});
