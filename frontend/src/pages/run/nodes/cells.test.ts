import { describe, expect, it } from "vitest";

import type { NodesTable, Selection } from "@/api/types";
import { NodeColumns } from "@/live/nodeColumns";

import { cellAt, cellLayout, drawAll, drawCells, type Drawing, MOST_CELLS, type Palette, pitchFor } from "./cells";

describe("cells", () => {
  it("are as large as fit, within bounds", () => {
    const pitch = pitchFor([1668, 1666, 1666], 320, 320);
    expect(Math.ceil(1668 / Math.floor(320 / pitch)) * pitch).toBeLessThanOrEqual(320);
    expect(pitchFor([3], 320, 320)).toBe(22);
    expect(pitchFor([100_000], 320, 320)).toBe(6);
  });
  it("find the cell under the pointer, and none in the empty end of a line", () => {
    const layout = cellLayout(10, 10, 40, 10);
    expect(layout).toMatchObject({ columns: 4, cells: 10, per: 1, height: 30 });
    expect(cellAt(layout, 15, 12)).toBe(5);
    expect(cellAt(layout, 39, 29)).toBeNull();
    expect(cellAt(layout, -1, 0)).toBeNull();
  });
  it("stand for several nodes above twenty thousand", () => {
    expect(cellLayout(30_000, 30_000, 300, 6)).toMatchObject({ per: 2, cells: 15_000 });
    expect(cellLayout(MOST_CELLS, MOST_CELLS, 300, 6).per).toBe(1);
  });
});

const palette: Palette = {
  track: "track",
  bar: "bar",
  full: "full",
  waiting: "waiting",
  inFlight: "inFlight",
  ink: "ink",
  canvas: "canvas",
  chosen: "chosen",
};

/** Three of ten cpu, all, none with a pod that waits, none with a pod in flight. */
function table(): NodeColumns {
  const rows = [0, 1, 2, 3];
  return NodeColumns.from({
    seq: 1,
    count: 4,
    resources: ["cpu"],
    zones: [{ name: "a", nodes: 4 }],
    row: rows,
    names: rows.map((row) => `n${row}`),
    zone: rows.map(() => 0),
    pools: ["p"],
    pool: rows.map(() => 0),
    types: ["t"],
    type: rows.map(() => 0),
    cordoned: rows.map(() => 0),
    tainted: rows.map(() => 0),
    allocatable: rows.map(() => [10]),
    requested: [[3], [10], [0], [0]],
    reserved: rows.map(() => [0]),
    pods: [
      [1, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
  } satisfies NodesTable);
}

/** What was drawn, by cell: colours, with their alpha where it is not 1. */
function drawn(selection: Selection | null, per = 1): { drawing: Drawing; cells: Map<number, string[]> } {
  const cells = new Map<number, string[]>();
  const layout = { ...cellLayout(4, 4, 20, 10), per, cells: 4 / per };
  const note = (x: number, y: number, what: string) => {
    const cell = Math.floor((y + 1) / 10) * layout.columns + Math.floor((x + 1) / 10);
    cells.set(cell, [...(cells.get(cell) ?? []), what]);
  };
  const context = {
    fillStyle: "",
    strokeStyle: "",
    globalAlpha: 1,
    lineWidth: 1,
    fillRect(x: number, y: number) {
      note(x, y, this.globalAlpha === 1 ? this.fillStyle : `${this.fillStyle} ${this.globalAlpha}`);
    },
    strokeRect(x: number, y: number) {
      note(x, y, `${this.strokeStyle} line`);
    },
    beginPath: () => undefined,
    arc(x: number, y: number) {
      note(x - 4, y - 4, this.fillStyle);
    },
    fill: () => undefined,
  };
  const drawing: Drawing = {
    context: context as unknown as CanvasRenderingContext2D,
    layout,
    rows: [0, 1, 2, 3],
    table: table(),
    resource: 0,
    selection,
    palette,
  };
  return { drawing, cells };
}

const selection = { verdict: [-1, 0, -1, -2], chosen: 2 } as unknown as Selection;

describe("the picture of nodes", () => {
  it("fills the cells, and marks pods on their way", () => {
    const { drawing, cells } = drawn(null);
    drawAll(drawing);
    expect([...cells].sort(([a], [b]) => a - b)).toEqual([
      [0, ["canvas", "track", "bar"]],
      [1, ["track", "full"]],
      [2, ["track", "waiting"]],
      [3, ["track", "inFlight"]],
    ]);
  });

  it("of a selected pod lets nodes step back that are not feasible, and frames the others", () => {
    const { drawing, cells } = drawn(selection);
    drawAll(drawing);
    expect([...cells].sort(([a], [b]) => a - b)).toEqual([
      [0, ["canvas", "track", "bar", "ink line"]],
      [1, ["track 0.38", "full 0.38"]],
      [2, ["track", "chosen line"]],
      [3, ["track 0.38"]],
    ]);
  });

  it("draws the cells that were written as it draws all", () => {
    for (const chosen of [null, selection]) {
      const [all, some] = [drawn(chosen), drawn(chosen)];
      drawAll(all.drawing);
      drawCells(some.drawing, new Set([1, 3]));
      for (const cell of [1, 3]) expect(some.cells.get(cell)).toEqual(["canvas", ...(all.cells.get(cell) ?? [])]);
      expect([...some.cells.keys()].sort()).toEqual([1, 3]);
    }
  });

  it("of several nodes in a cell shows the fullest", () => {
    const { drawing, cells } = drawn(null, 2);
    drawAll(drawing);
    expect(cells.get(0)).toEqual(["canvas", "track", "full"]);
  });
});
