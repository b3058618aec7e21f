import { describe, expect, it } from "vitest";

import type { NodesTable } from "@/api/types";

import { NodeColumns } from "./nodeColumns";

function part(names: string[], zones: string[], count: number): NodesTable {
  return {
    seq: 1,
    count,
    resources: ["cpu"],
    zones: zones.map((name) => ({ name, nodes: names.length / zones.length })),
    row: names.map((name) => Number(name.slice(1))),
    names,
    zone: names.map((_, index) => index % zones.length),
    pools: ["p"],
    pool: names.map(() => 0),
    types: ["t"],
    type: names.map(() => 0),
    cordoned: names.map(() => 0),
    tainted: names.map((name) => Number(name === "n2")),
    allocatable: names.map(() => [100]),
    requested: names.map(() => [50]),
    reserved: names.map(() => [0]),
    pods: names.map(() => [1, 0, 0]),
  };
}

describe("node columns", () => {
  it("join windows whose zone codes differ", () => {
    const table = NodeColumns.from(part(["n0", "n1"], ["a", "b"], 4));
    table.append(part(["n2", "n3"], ["b", "c"], 4));
    expect(table.zones.map((zone) => zone.name)).toEqual(["a", "b", "c"]);
    expect(table.names.map((_, row) => table.zones[table.zone[row] ?? -1]?.name)).toEqual(["a", "b", "b", "c"]);
    expect(table.zones[1]?.nodes).toBe(2);
    expect([...table.tainted]).toEqual([2]);
  });

  it("keep rows that nobody drew yet", () => {
    const table = NodeColumns.from(part(["n0", "n1"], ["a"], 2));
    table.update([[0, [60], [0], [1, 0, 0]]], 2);
    table.update([[1, [70], [0], [1, 0, 0]]], 3);
    expect([...table.dirtyAt(3)].sort()).toEqual([0, 1]);
    table.update([[1, [80], [0], [1, 0, 0]]], 4);
    expect([...table.dirtyAt(4)]).toEqual([1]);
    expect(table.dirtyAt(3).size).toBe(0);
  });

  it("refuse a row of the wrong width and still write the others", () => {
    const table = NodeColumns.from(part(["n0", "n1"], ["a"], 2));
    expect(
      table.update(
        [
          [0, [60, 1], [0], []],
          [1, [90], [5], [2, 0, 1]],
        ],
        2,
      ),
    ).toBe(false);
    expect(table.share(0, 0).requested).toBe(0.5);
    expect(table.share(0, 1)).toEqual({ requested: 0.9, reserved: 0.05 });
  });

  it("have no share of what a node does not offer", () => {
    const none = part(["n0"], ["a"], 1);
    none.allocatable = [[0]];
    expect(NodeColumns.from(none).share(0, 0)).toEqual({ requested: 0, reserved: 0 });
  });
});
