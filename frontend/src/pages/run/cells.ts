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
  track: "--c-track", bar: "--c-bar", full: "--c-bar-full", waiting: "--st-permit", inFlight: "--st-inflight", ink: "--c-ink", canvas: "--c-surface",
  chosen: "--m",
};

export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  return Object.fromEntries(
    Object.entries(NAMES).map(([key, name]) => [key, style.getPropertyValue(name).trim() || style.getPropertyValue("--st-permit").trim()]),
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

export function drawCell(drawing: Drawing, cell: number): void {
  const { context, layout, rows, table, resource, selection, palette } = drawing;
  const x = (cell % layout.columns) * layout.pitch;
  const y = Math.floor(cell / layout.columns) * layout.pitch;
  const side = layout.pitch - GAP;
  let share = 0;
  let waiting = 0;
  let inFlight = 0;
  let verdict: "none" | "chosen" | "feasible" | "refused" = selection === null ? "none" : "refused";
  for (let index = cell * layout.per; index < Math.min(rows.length, (cell + 1) * layout.per); index += 1) {
    const row = rows[index] ?? 0;
    const { requested, reserved } = table.share(resource, row);
    share = Math.max(share, requested + reserved);
    waiting += table.waiting[row] ?? 0;
    inFlight += table.inFlight[row] ?? 0;
    if (selection?.chosen === row) verdict = "chosen";
    else if (selection?.verdict[row] === -1 && verdict !== "chosen") verdict = "feasible";
  }
  context.globalAlpha = 1;
  context.fillStyle = palette.canvas;
  context.fillRect(x - GAP / 2, y - GAP / 2, layout.pitch, layout.pitch);
  if (verdict === "refused") context.globalAlpha = 0.38;
  context.fillStyle = palette.track;
  context.fillRect(x, y, side, side);
  const filled = Math.min(1, share) * side;
  context.fillStyle = share >= FULL ? palette.full : palette.bar;
  context.fillRect(x, y + side - filled, side, filled);
  if (verdict === "none" && waiting > 0) {
    context.fillStyle = palette.waiting;
    context.fillRect(x, y, side, side);
  } else if (verdict === "none" && inFlight > 0) {
    context.fillStyle = palette.inFlight;
    context.beginPath();
    context.arc(x + side / 2, y + side / 2, side / 2, 0, Math.PI * 2);
    context.fill();
  }
  if (verdict === "feasible" || verdict === "chosen") {
    context.globalAlpha = 1;
    context.lineWidth = verdict === "chosen" ? 2 : 1.2;
    context.strokeStyle = verdict === "chosen" ? palette.chosen : palette.ink;
    context.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
  }
  context.globalAlpha = 1;
}

export function drawAll(drawing: Drawing): void {
  for (let cell = 0; cell < drawing.layout.cells; cell += 1) drawCell(drawing, cell);
}
