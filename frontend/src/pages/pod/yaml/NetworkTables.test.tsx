// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ObjectYaml } from "@/api/podTypes";

import { NetworkTables } from "./NetworkTables";

const table = (more = 0): ObjectYaml["costs"][number] => ({
  weights: "UserDefined",
  topology_key: "topology.kubernetes.io/zone",
  destinations: ["a", "b"],
  rows: [
    { origin: "a", costs: [null, 12] },
    { origin: "b", costs: [null, null] },
  ],
  more,
});
const cells = (name: string) =>
  within(screen.getByRole("row", { name: new RegExp(`^${name}`) }))
    .getAllByRole("cell")
    .map((cell) => cell.textContent);

describe("costs of a network", () => {
  beforeEach(() =>
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe = () => undefined;
        disconnect = () => undefined;
      },
    ),
  );
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("are a table from each place to each, which says where none is named", () => {
    render(<NetworkTables costs={[table()]} dependencies={[]} />);
    screen.getByRole("table", { name: "Costs between values of topology.kubernetes.io/zone, UserDefined" });
    expect(screen.getAllByRole("columnheader").map((one) => one.textContent)).toEqual(["from \\ to", "a", "b"]);
    expect(cells("a")).toEqual(["", "12"]);
    expect(cells("b")).toEqual(["not named", ""]);
    expect(screen.queryByText(/more/)).toBeNull();
  });

  it("say how many places are left out", () => {
    render(<NetworkTables costs={[table(3)]} dependencies={[]} />);
    expect(screen.getByText(/3 more are in the YAML/)).toBeTruthy();
  });

  it("have beside them who talks to whom", () => {
    const one = { workload: "basket", on: "pricing", max_cost: 5, min_bandwidth: "100Mi" };
    render(<NetworkTables costs={[]} dependencies={[one, { ...one, workload: "cart", min_bandwidth: "0" }]} />);
    screen.getByRole("table", { name: "Who talks to whom" });
    expect(cells("basket")).toEqual(["pricing", "5", "100 Mi"]);
    expect(cells("cart")).toEqual(["pricing", "5", ""]);
  });

  it("are nothing of other objects", () => {
    const { container } = render(<NetworkTables costs={[]} dependencies={[]} />);
    expect(container.innerHTML).toBe("");
  });
});
