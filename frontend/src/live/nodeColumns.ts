/**
 * The nodes of a run as columns: names and groups as arrays, quantities as Float64Array per resource. A delta writes into
 * them in place and marks the row, so a canvas of 5,000 cells redraws only what changed.
 */
import type { NodesTable } from "@/api/types";

export class NodeColumns {
  seq: number;
  readonly count: number;
  readonly resources: readonly string[];
  zones: { name: string; nodes: number }[];
  pools: string[];
  types: string[];
  readonly names: string[] = [];
  readonly zone: number[] = [];
  readonly pool: number[] = [];
  readonly type: number[] = [];
  readonly cordoned = new Set<number>();
  readonly tainted = new Set<number>();
  readonly allocatable: Float64Array[];
  readonly requested: Float64Array[];
  readonly reserved: Float64Array[];
  readonly bound: Float64Array;
  readonly waiting: Float64Array;
  readonly inFlight: Float64Array;
  /** Rows written since the last `takeDirty`. */
  private dirty = new Set<number>();

  private constructor(table: NodesTable) {
    this.seq = table.seq;
    this.count = table.count;
    this.resources = table.resources;
    this.zones = table.zones;
    this.pools = table.pools;
    this.types = table.types;
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

  append(table: NodesTable): void {
    const start = this.names.length;
    for (let row = 0; row < table.names.length; row += 1) {
      const at = start + row;
      this.names.push(table.names[row] ?? "");
      this.zone.push(table.zone[row] ?? 0);
      this.pool.push(table.pool[row] ?? 0);
      this.type.push(table.type[row] ?? 0);
      this.resources.forEach((_, resource) => {
        put(this.allocatable, resource, at, table.allocatable[row]?.[resource]);
        put(this.requested, resource, at, table.requested[row]?.[resource]);
        put(this.reserved, resource, at, table.reserved[row]?.[resource]);
      });
      const [bound, waiting, inFlight] = table.pods[row] ?? [0, 0, 0];
      this.bound[at] = bound;
      this.waiting[at] = waiting;
      this.inFlight[at] = inFlight;
    }
    for (const row of table.cordoned) this.cordoned.add(row);
    for (const row of table.tainted) this.tainted.add(row);
  }

  /** Writes the rows of a delta; false when one does not fit this table, which then has to be fetched again. */
  update(rows: readonly number[][]): boolean {
    const width = this.resources.length;
    let fits = true;
    for (const values of rows) {
      const row = values[0] ?? -1;
      if (row < 0 || row >= this.names.length || values.length !== 4 + 2 * width) {
        fits = false;
        continue;
      }
      for (let resource = 0; resource < width; resource += 1) {
        put(this.requested, resource, row, values[1 + resource]);
        put(this.reserved, resource, row, values[1 + width + resource]);
      }
      this.bound[row] = values[1 + 2 * width] ?? 0;
      this.waiting[row] = values[2 + 2 * width] ?? 0;
      this.inFlight[row] = values[3 + 2 * width] ?? 0;
      this.dirty.add(row);
    }
    return fits;
  }

  takeDirty(): ReadonlySet<number> {
    const rows = this.dirty;
    this.dirty = new Set();
    return rows;
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
