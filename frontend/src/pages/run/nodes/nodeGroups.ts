/** How nodes are arranged: by zone, by pool or not at all, and how many tiles stand side by side. Plain functions over the columns. */
import type { Grouping } from "@/app/search";
import { commonPrefix } from "@/format/names";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "../texts";

export interface NodeGroup {
  name: string;
  rows: number[];
}

/** Share of allocatable from which a bar counts as full. */
export const FULL = 0.94;
/** Above this many nodes a cell of a canvas stands for a node. */
export const TILES_UP_TO = 200;
/** A zone larger than this is split by pool. */
const SPLIT_ABOVE = 2_000;

/** What the names on the tiles begin with and leave out; nothing where a cell stands for a node. */
export function sharedPrefix(table: NodeColumns | null): string {
  return table === null || table.count > TILES_UP_TO ? "" : commonPrefix(table.names);
}

export function groupNodes(table: NodeColumns, by: Grouping): NodeGroup[] {
  const rows = table.names.map((_, row) => row);
  if (by === "none") return rows.length === 0 ? [] : [{ name: t("allNodes"), rows }];
  const keys = by === "zone" ? table.zone : table.pool;
  const names = by === "zone" ? table.zones.map((zone) => zone.name) : table.pools;
  const groups = new Map<number, number[]>();
  for (const row of rows) {
    const key = keys[row] ?? 0;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [row]);
    else members.push(row);
  }
  const list = [...groups]
    .sort(([a], [b]) => a - b)
    .map(([key, members]) => ({ name: nameOf(names[key], by), rows: members }));
  return by === "zone" ? list.flatMap((group) => splitByPool(table, group)) : list;
}

function nameOf(name: string | undefined, by: Grouping): string {
  if (name !== undefined && name !== "") return name;
  return by === "zone" ? t("noZone") : t("noPool");
}

function splitByPool(table: NodeColumns, group: NodeGroup): NodeGroup[] {
  if (group.rows.length <= SPLIT_ABOVE || table.pools.length < 2) return [group];
  const pools = new Map<number, number[]>();
  for (const row of group.rows) {
    const pool = table.pool[row] ?? 0;
    const members = pools.get(pool);
    if (members === undefined) pools.set(pool, [row]);
    else members.push(row);
  }
  return [...pools].map(([pool, rows]) => ({ name: `${group.name} · ${nameOf(table.pools[pool], "pool")}`, rows }));
}

export interface TileLayout {
  /** Tiles side by side in each group; empty when the groups stand one below the other. */
  columns: number[];
  rows: number;
}

const TILE = 72;
const GAP = 5;
/** What a group has at its sides, with the line before it. */
const BETWEEN = 17;
/** The line with a group's name, and what is free below its last row. */
const AROUND = 26 + 8;
const LOWEST = 104;
const SIDE_BY_SIDE = 4;

/** The fewest rows at which every group fits beside the others, tiles no narrower than 72 px. */
export function tileLayout(sizes: readonly number[], width: number): TileLayout {
  if (sizes.length === 0 || sizes.length > SIDE_BY_SIDE || width < 600) return { columns: [], rows: 0 };
  const room = Math.floor((width - sizes.length * (BETWEEN - GAP)) / (TILE + GAP));
  if (room < sizes.length) return { columns: [], rows: 0 };
  const longest = Math.max(...sizes);
  for (let rows = 1; rows <= longest; rows += 1) {
    const columns = sizes.map((size) => Math.ceil(size / rows));
    // A handful of nodes would stretch over the whole panel: three rows look like a rack.
    const enough = columns.reduce((sum, value) => sum + value, 0) <= room;
    if (enough && (rows >= 3 || longest <= 3)) return { columns, rows };
  }
  return { columns: sizes.map(() => 1), rows: longest };
}

export interface Rows {
  /** Whole rows of tiles that are seen at once, and how high each is. */
  seen: number;
  height: number;
}

/** No row ends in the middle: as many as fit at 104 px, and what is left over makes them higher. */
export function wholeRows(height: number): Rows {
  const room = height - AROUND + GAP;
  const seen = Math.max(1, Math.floor(room / (LOWEST + GAP)));
  return { seen, height: Math.max(LOWEST, Math.floor(room / seen) - GAP) };
}

/** Requested share of a resource over all nodes of a group. */
export function groupShare(table: NodeColumns, rows: readonly number[], resource: number): number {
  let requested = 0;
  let allocatable = 0;
  for (const row of rows) {
    requested += (table.requested[resource]?.[row] ?? 0) + (table.reserved[resource]?.[row] ?? 0);
    allocatable += table.allocatable[resource]?.[row] ?? 0;
  }
  return allocatable === 0 ? 0 : requested / allocatable;
}

/** The resources worth a bar on this node: those it has, and of disks only those that somebody asked for. */
export function barsOf(table: NodeColumns, row: number, most = 4): number[] {
  const bars: number[] = [];
  for (let resource = 0; resource < table.resources.length && bars.length < most; resource += 1) {
    const asked = (table.requested[resource]?.[row] ?? 0) + (table.reserved[resource]?.[row] ?? 0) > 0;
    const quiet = table.resources[resource] === "ephemeral-storage" && !asked;
    if ((table.allocatable[resource]?.[row] ?? 0) > 0 && !quiet) bars.push(resource);
  }
  return bars;
}
