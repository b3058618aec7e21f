/** The inbox as it is shown: gangs with their members, then single pods, soonest time-out first. Pure. */
import type { WaitingRow } from "@/api/waitingTypes";

import { t } from "./texts";

export interface Group {
  key: string;
  /** Null for pods that wait for nobody else. */
  gang: WaitingRow["gang"];
  rows: WaitingRow[];
}

export const keyOf = (row: WaitingRow): string => `${row.run} ${row.namespace}/${row.name}`;
export const groupKeyOf = (row: WaitingRow): string => `gang ${row.run} ${row.namespace}/${row.gang?.name ?? ""}`;

/** Seconds until the first time-out, by the run's own clock: clocks of different runs cannot be compared. */
export function soonest(row: WaitingRow): number {
  return Math.min(...row.waiting_on.map((wait) => Date.parse(wait.deadline))) - Date.parse(row.now);
}

/** The whole list in its order: gangs by their first time-out, then single pods; ties by name, so nothing jumps. */
export function ordered(rows: readonly WaitingRow[]): WaitingRow[] {
  const first = new Map<string, number>();
  for (const row of rows) {
    const key = row.gang === null ? keyOf(row) : groupKeyOf(row);
    first.set(key, Math.min(first.get(key) ?? Infinity, soonest(row)));
  }
  const place = (row: WaitingRow) => (row.gang === null ? keyOf(row) : groupKeyOf(row));
  return [...rows].sort(
    (a, b) =>
      Number(a.gang === null) - Number(b.gang === null) ||
      (first.get(place(a)) ?? 0) - (first.get(place(b)) ?? 0) ||
      compare(place(a), place(b)) ||
      soonest(a) - soonest(b) ||
      compare(keyOf(a), keyOf(b)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows that stand together are one group; single pods are one group of their own at the end. */
export function groupsOf(rows: readonly WaitingRow[]): Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const key = row.gang === null ? "single" : groupKeyOf(row);
    const last = groups.at(-1);
    if (last?.key === key) last.rows.push(row);
    else groups.push({ key, gang: row.gang, rows: [row] });
  }
  return groups;
}

export interface Settled {
  rows: WaitingRow[];
  /** Rows that no longer wait, kept in their place while somebody reads. */
  gone: ReadonlySet<string>;
  /** How many came since. */
  fresh: number;
}

/** Nothing moves under the reader: what was shown stays where it was, in its newest wording; what came since is counted. */
export function settle(shown: readonly WaitingRow[], latest: readonly WaitingRow[]): Settled {
  const now = new Map(latest.map((row) => [keyOf(row), row]));
  const known = new Set(shown.map(keyOf));
  return {
    rows: shown.map((row) => now.get(keyOf(row)) ?? row),
    gone: new Set([...known].filter((key) => !now.has(key))),
    fresh: latest.filter((row) => !known.has(keyOf(row))).length,
  };
}

export interface Waits {
  plugin: string;
  deadline: string;
  total_seconds: number;
  asks_person: boolean;
  note?: string | undefined;
}

/** One line per plugin for a whole group: the first of its members' time-outs. */
export function groupWaits(rows: readonly WaitingRow[]): Waits[] {
  const waits = new Map<string, Waits>();
  for (const row of rows) {
    for (const wait of row.waiting_on) {
      const known = waits.get(wait.plugin);
      if (known === undefined || Date.parse(wait.deadline) < Date.parse(known.deadline)) waits.set(wait.plugin, wait);
    }
  }
  return [...waits.values()];
}

/** "612, +4", "608, 1 of 2 equal", or that there was no choice. */
export function scoreText(row: WaitingRow): string {
  if (row.score === null) return t("theOnlyFeasibleNode");
  if (row.ties !== null && row.ties > 1) return t("1OfEqual", { score: row.score, ties: row.ties });
  return row.margin === null ? String(row.score) : `${row.score}, +${row.margin}`;
}

/** What a row of a gang says at zero: the group's line says the rest. */
export function atZero(row: WaitingRow): string {
  if (row.gang === null) return row.at_zero;
  return row.waiting_on.length > 1 ? t("atTheFirstZero") : t("withTheGroup");
}
