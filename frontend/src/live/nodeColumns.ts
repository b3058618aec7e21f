/**
 * The nodes of a run as columns: names and groups as arrays, quantities as Float64Array per resource. A delta writes into
 * them in place and marks the row, so a canvas of 5,000 cells redraws only what changed.
 */
import type { NodesTable } from "@/api/types";

import type { NodeChange } from "./messages";

export class NodeColumns {
  seq: number;
  readonly count: number;
  readonly resources: readonly string[];
  readonly zones: { name: string; nodes: number }[] = [];
  readonly pools: string[] = [];
  readonly types: string[] = [];
  readonly names: string[] = [];
  readonly zone: number[] = [];
  readonly pool: number[] = [];
  readonly type: number[] = [];
  /** The engine's row number of each node, which deltas name; the place here shifts when nodes are deleted. */
  private readonly placeOf = new Map<number, number>();
  readonly cordoned = new Set<number>();
  readonly tainted = new Set<number>();
  readonly allocatable: Float64Array[];
  readonly requested: Float64Array[];
  readonly reserved: Float64Array[];
  readonly bound: Float64Array;
  readonly waiting: Float64Array;
  readonly inFlight: Float64Array;
  /** Rows that the update of one version wrote. */
  private dirty: ReadonlySet<number> = new Set();
  private dirtyVersion = -1;
  private seen = true;

  private constructor(table: NodesTable) {
    this.seq = table.seq;
    this.count = table.count;
    this.resources = table.resources;
    const column = () => new Float64Array(table.count);
    this.allocatable = table.resources.map(column);
    this.requested = table.resources.map(column);
    this.reserved = table.resources.map(column);
    this.bound = column();
    this.waiting = column();
    this.inFlight = column();
  }

  static from(table: NodesTable): NodeColumns {
    const columns = new NodeColumns(table);
    columns.append(table);
    return columns;
  }

  /** Windows code their zones, pools and types each for itself; here they share one list. */
  append(table: NodesTable): void {
    const start = this.names.length;
    const zones = table.zones.map((zone) => {
      const known = this.zones.find((one) => one.name === zone.name);
      if (known !== undefined) known.nodes += zone.nodes;
      else this.zones.push({ ...zone });
      return this.zones.findIndex((one) => one.name === zone.name);
    });
    const pools = table.pools.map((name) => placeIn(this.pools, name));
    const types = table.types.map((name) => placeIn(this.types, name));
    for (let row = 0; row < table.names.length; row += 1) {
      const at = start + row;
      this.names.push(table.names[row] ?? "");
      this.zone.push(zones[table.zone[row] ?? 0] ?? 0);
      this.pool.push(pools[table.pool[row] ?? 0] ?? 0);
      this.type.push(types[table.type[row] ?? 0] ?? 0);
      this.resources.forEach((_, resource) => {
        put(this.allocatable, resource, at, table.allocatable[row]?.[resource]);
        put(this.requested, resource, at, table.requested[row]?.[resource]);
        put(this.reserved, resource, at, table.reserved[row]?.[resource]);
      });
      const pods = table.pods[row] ?? [];
      this.bound[at] = pods[0] ?? 0;
      this.waiting[at] = pods[1] ?? 0;
      this.inFlight[at] = pods[2] ?? 0;
      this.placeOf.set(table.row[row] ?? at, at);
      if (table.cordoned[row] === 1) this.cordoned.add(at);
      if (table.tainted[row] === 1) this.tainted.add(at);
    }
  }

  /** Writes the rows of a delta; false when one does not fit this table, which then has to be fetched again. */
  update(rows: readonly NodeChange[], version: number): boolean {
    const width = this.resources.length;
    let fits = true;
    // Readers draw once per frame and may skip a version, so what they have not seen yet is kept.
    const dirty = new Set(this.seen ? [] : this.dirty);
    this.seen = false;
    for (const [number, requested, reserved, pods] of rows) {
      const row = this.placeOf.get(number);
      if (row === undefined || requested.length !== width || reserved.length !== width) {
        fits = false;
        continue;
      }
      for (let resource = 0; resource < width; resource += 1) {
        put(this.requested, resource, row, requested[resource]);
        put(this.reserved, resource, row, reserved[resource]);
      }
      this.bound[row] = pods[0] ?? 0;
      this.waiting[row] = pods[1] ?? 0;
      this.inFlight[row] = pods[2] ?? 0;
      dirty.add(row);
    }
    this.dirty = dirty;
    this.dirtyVersion = version;
    return fits;
  }

  /** The rows to draw again at this version; every canvas of the table asks for the same set. */
  dirtyAt(version: number): ReadonlySet<number> {
    if (version !== this.dirtyVersion) return new Set();
    this.seen = true;
    return this.dirty;
  }

  resourceIndex(name: string): number {
    return this.resources.indexOf(name);
  }

  /** Share of allocatable that is requested and reserved, each 0 to 1 (or more when over-committed by the snapshot). */
  share(resource: number, row: number): { requested: number; reserved: number } {
    const whole = this.allocatable[resource]?.[row] ?? 0;
    if (whole <= 0) return { requested: 0, reserved: 0 };
    return {
      requested: (this.requested[resource]?.[row] ?? 0) / whole,
      reserved: (this.reserved[resource]?.[row] ?? 0) / whole,
    };
  }
}

function put(columns: readonly Float64Array[], resource: number, row: number, value: number | undefined): void {
  const column = columns[resource];
  if (column !== undefined) column[row] = value ?? 0;
}

function placeIn(names: string[], name: string): number {
  const known = names.indexOf(name);
  return known >= 0 ? known : names.push(name) - 1;
}
