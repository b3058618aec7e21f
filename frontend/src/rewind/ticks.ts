/** Where the marks of a run stand on a line of so many pixels, and which of them a step is at. */
import type { Mark } from "@/api/types";

export interface Tick {
  x: number;
  /** 3 to 7 px. */
  height: number;
}

/** Above this many, ticks that would stand on each other become one whose height tells how many they are. */
export const SINGLE_TICKS = 200;
const BIN = 2;
const LOW = 3;
const HIGH = 7;

/** The steps that are kept of a run: from 0, unless its past went to make room. */
export interface Reach {
  first: number;
  last: number;
}

export function within(step: number, { first, last }: Reach): number {
  return Math.min(last, Math.max(first, step));
}

export function placeOf(step: number, reach: Reach, width: number): number {
  const { first, last } = reach;
  return last <= first ? width : ((within(step, reach) - first) / (last - first)) * width;
}

export function ticksOf(marks: readonly Mark[], reach: Reach, width: number): Tick[] {
  if (width <= 0) return [];
  const total = marks.reduce((sum, mark) => sum + mark.count, 0);
  if (total <= SINGLE_TICKS) return marks.map((mark) => ({ x: placeOf(mark.position, reach, width), height: HIGH }));
  const bins = new Map<number, number>();
  for (const mark of marks) {
    const bin = Math.floor(placeOf(mark.position, reach, width) / BIN);
    bins.set(bin, (bins.get(bin) ?? 0) + mark.count);
  }
  const most = Math.max(...bins.values());
  return [...bins].map(([bin, number]) => ({
    x: bin * BIN,
    height: LOW + Math.round(((HIGH - LOW) * Math.log(number)) / Math.max(1, Math.log(most))),
  }));
}

/** One path of all ticks, standing on the line above `foot`. */
export function tickPath(ticks: readonly Tick[], foot: number): string {
  return ticks.map(({ x, height }) => `M${(x - 1).toFixed(1)} ${foot}v-${height}h2v${height}z`).join("");
}

export function diamondPath(ticks: readonly Tick[], middle: number): string {
  return ticks.map(({ x }) => `M${(x - 4.5).toFixed(1)} ${middle}l4.5-4.5l4.5 4.5l-4.5 4.5z`).join("");
}

/** The mark that stands nearest to a step, no further than `reach` steps. */
export function markAt(marks: readonly Mark[], step: number, reach: number): Mark | null {
  let best: Mark | null = null;
  for (const mark of marks) {
    const distance = Math.abs(mark.position - step);
    if (distance <= reach && (best === null || distance < Math.abs(best.position - step))) best = mark;
  }
  return best;
}
