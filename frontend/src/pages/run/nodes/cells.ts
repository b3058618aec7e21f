/** Where the cells of a large cluster stand and how they are drawn. No React: a canvas, typed arrays and a palette. */
import type { Selection } from "@/api/types";
import type { NodeColumns } from "@/live/nodeColumns";

import { FULL } from "./nodeGroups";

export interface CellLayout {
  /** Side of a cell with its gap, in CSS pixels. */
  pitch: number;
  columns: number;
  /** Nodes per cell: more than one above 20,000 cells. */
  per: number;
  cells: number;
  height: number;
}

const SMALLEST = 6;
const LARGEST = 22;
const GAP = 1.2;
export const MOST_CELLS = 20_000;

/** The largest pitch at which the biggest group fits; never under 6 px, then the panel scrolls. */
export function pitchFor(sizes: readonly number[], width: number, height: number): number {
  const largest = Math.max(1, ...sizes);
  const ideal = Math.floor(Math.sqrt((width * height) / largest) * 2) / 2;
  for (let pitch = Math.min(LARGEST, ideal); pitch > SMALLEST; pitch -= 0.5) {
    const columns = Math.floor(width / pitch);
    if (columns > 0 && Math.ceil(largest / columns) * pitch <= height) return pitch;
  }
  return SMALLEST;
}

export function cellLayout(nodes: number, total: number, width: number, pitch: number): CellLayout {
  const per = Math.max(1, Math.ceil(total / MOST_CELLS));
  const cells = Math.ceil(nodes / per);
  const columns = Math.max(1, Math.floor(width / pitch));
  return { pitch, columns, per, cells, height: Math.ceil(cells / columns) * pitch };
}

export function cellAt(layout: CellLayout, x: number, y: number): number | null {
  const column = Math.floor(x / layout.pitch);
  const line = Math.floor(y / layout.pitch);
  if (column < 0 || line < 0 || column >= layout.columns) return null;
  const cell = line * layout.columns + column;
  return cell < layout.cells ? cell : null;
}

export interface Palette {
  track: string;
  bar: string;
  full: string;
  waiting: string;
  inFlight: string;
  ink: string;
  canvas: string;
  chosen: string;
}

const NAMES: Record<keyof Palette, string> = {
  track: "--c-track",
  bar: "--c-bar",
  full: "--c-bar-full",
  waiting: "--st-permit",
  inFlight: "--st-inflight",
  ink: "--c-ink",
  canvas: "--c-surface",
  chosen: "--m",
};

export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  return Object.fromEntries(
    Object.entries(NAMES).map(([key, name]) => [
      key,
      style.getPropertyValue(name).trim() || style.getPropertyValue("--st-permit").trim(),
    ]),
  ) as unknown as Palette;
}

export interface Drawing {
  context: CanvasRenderingContext2D;
  layout: CellLayout;
  rows: readonly number[];
  table: NodeColumns;
  /** The resource that fills the cells. */
  resource: number;
  selection: Selection | null;
  palette: Palette;
}

/** Cells by what is drawn of them, so that a colour is set once for all cells that have it. */
interface Strokes {
  fill: string;
  alpha: number;
  /** x, y, width and height, one after the other. */
  boxes: number[];
}

/** What refuses the selected pod steps back. */
const FAINT = 0.38;

function paint(drawing: Drawing, cells: Iterable<number>): void {
  const { context, layout, rows, table, resource, selection, palette } = drawing;
  const side = layout.pitch - GAP;
  const strokes = (fill: string, alpha = 1): Strokes => ({ fill, alpha, boxes: [] });
  const tracks = [strokes(palette.track), strokes(palette.track, FAINT)] as const;
  const bars = [strokes(palette.bar), strokes(palette.bar, FAINT)] as const;
  const full = [strokes(palette.full), strokes(palette.full, FAINT)] as const;
  const waits = strokes(palette.waiting);
  const rings: number[] = [];
  const [feasible, chosen]: [number[], number[]] = [[], []];
  for (const cell of cells) {
    const x = (cell % layout.columns) * layout.pitch;
    const y = Math.floor(cell / layout.columns) * layout.pitch;
    let share = 0;
    let waiting = 0;
    let inFlight = 0;
    let verdict: "none" | "chosen" | "feasible" | "refused" = selection === null ? "none" : "refused";
    const end = Math.min(rows.length, (cell + 1) * layout.per);
    for (let index = cell * layout.per; index < end; index += 1) {
      const row = rows[index] ?? 0;
      const { requested, reserved } = table.share(resource, row);
      share = Math.max(share, requested + reserved);
      waiting += table.waiting[row] ?? 0;
      inFlight += table.inFlight[row] ?? 0;
      if (selection?.chosen === row) verdict = "chosen";
      else if (selection?.verdict[row] === -1 && verdict !== "chosen") verdict = "feasible";
    }
    const faint = verdict === "refused" ? 1 : 0;
    const filled = Math.min(1, share) * side;
    tracks[faint].boxes.push(x, y, side, side);
    if (filled > 0) (share >= FULL ? full : bars)[faint].boxes.push(x, y + side - filled, side, filled);
    if (verdict === "none" && waiting > 0) waits.boxes.push(x, y, side, side);
    else if (verdict === "none" && inFlight > 0) rings.push(x, y);
    else if (verdict === "feasible") feasible.push(x, y);
    else if (verdict === "chosen") chosen.push(x, y);
  }
  for (const { fill, alpha, boxes } of [...tracks, ...bars, ...full, waits]) {
    context.fillStyle = fill;
    context.globalAlpha = alpha;
    for (let at = 0; at < boxes.length; at += 4)
      context.fillRect(boxes[at] ?? 0, boxes[at + 1] ?? 0, boxes[at + 2] ?? 0, boxes[at + 3] ?? 0);
  }
  context.globalAlpha = 1;
  context.fillStyle = palette.inFlight;
  for (let at = 0; at < rings.length; at += 2) {
    context.beginPath();
    context.arc((rings[at] ?? 0) + side / 2, (rings[at + 1] ?? 0) + side / 2, side / 2, 0, Math.PI * 2);
    context.fill();
  }
  for (const [places, width, colour] of [
    [feasible, 1.2, palette.ink],
    [chosen, 2, palette.chosen],
  ] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    for (let at = 0; at < places.length; at += 2)
      context.strokeRect((places[at] ?? 0) + 0.6, (places[at + 1] ?? 0) + 0.6, side - 1.2, side - 1.2);
  }
}

/** These cells anew, over what was drawn of them before. */
export function drawCells(drawing: Drawing, cells: ReadonlySet<number>): void {
  const { context, layout, palette } = drawing;
  context.fillStyle = palette.canvas;
  for (const cell of cells) {
    context.fillRect(
      (cell % layout.columns) * layout.pitch - GAP / 2,
      Math.floor(cell / layout.columns) * layout.pitch - GAP / 2,
      layout.pitch,
      layout.pitch,
    );
  }
  paint(drawing, cells);
}

export function drawAll(drawing: Drawing): void {
  const { context, layout, palette } = drawing;
  context.fillStyle = palette.canvas;
  context.fillRect(0, 0, layout.columns * layout.pitch, layout.height);
  paint(
    drawing,
    Array.from({ length: layout.cells }, (_, cell) => cell),
  );
}
