/**
 * The inbox as one person works through it: which rows are shown while pods come and go, what is marked and pointed at, and
 * which decision is asked about. Nothing moves under the reader: while the list is read, rows keep their places, those that
 * no longer wait stay as gone, and those that came since are counted. Plain TypeScript; the page hands in what the server
 * answers and shows `get()`.
 */
import type { WaitingRow } from "@/api/waitingTypes";
import type { ReasonRequest } from "@/decisions/ReasonDrawer";

import { type Group, groupsOf, keyOf, ordered, settle } from "./inbox";

type Reader = "pointer" | "focus";

export interface InboxView {
  groups: readonly Group[];
  /** The rows of the list that still wait. */
  present: readonly WaitingRow[];
  gone: ReadonlySet<string>;
  /** How many came since the list was last renewed. */
  fresh: number;
  orderHeld: boolean;
  marks: ReadonlySet<string>;
  marked: readonly WaitingRow[];
  /** The key of the row or of the gang that keys decide about. */
  cursor: string | null;
  asking: ReasonRequest | null;
}

export interface InboxOutlet {
  /** The pods are of one run. */
  approve: (run: string, pods: readonly WaitingRow[]) => void;
  /** None of the pods asks a person; the plugins are those that the first waits on. */
  nobodyAsked: (plugins: readonly string[]) => void;
}

export class InboxStore {
  private readonly outlet: InboxOutlet;
  private readonly watchers = new Set<() => void>();
  private latest: readonly WaitingRow[] = [];
  private shown: readonly WaitingRow[] = [];
  private filter = "";
  private readonly readBy = new Set<Reader>();
  private orderHeld = false;
  private marks: ReadonlySet<string> = new Set();
  private cursor: string | null = null;
  private asking: ReasonRequest | null = null;
  private view: InboxView;

  constructor(outlet: InboxOutlet) {
    this.outlet = outlet;
    this.view = this.made();
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };
  readonly get = (): InboxView => this.view;

  /** The rows that wait now. Another filter is another list, which nobody has read yet. */
  receive(rows: readonly WaitingRow[], filter: string): void {
    this.latest = ordered(rows);
    if (filter !== this.filter || this.shown.length === 0) this.shown = this.latest;
    this.filter = filter;
    this.changed();
  }

  /** Whether the pointer, or the focus, is inside the list. */
  setReading(by: Reader, inside: boolean): void {
    if (inside) this.readBy.add(by);
    else this.readBy.delete(by);
    this.changed();
  }

  toggleOrderHeld(): void {
    this.orderHeld = !this.orderHeld;
    this.changed();
  }

  mark(rows: readonly WaitingRow[], on: boolean): void {
    const marks = new Set(this.marks);
    for (const row of rows) {
      if (on) marks.add(keyOf(row));
      else marks.delete(keyOf(row));
    }
    this.marks = marks;
    this.changed();
  }

  /** Marks what is pointed at, or clears its marks if it has them all. */
  toggleMarks(): void {
    const pointed = this.pointed();
    this.mark(pointed, !pointed.every((row) => this.marks.has(keyOf(row))));
  }

  clearMarks(): void {
    this.marks = new Set();
    this.changed();
  }

  pointAt(key: string): void {
    this.cursor = key;
    this.changed();
  }

  /** Goes to the next or previous line that `isSeen`, and answers where it stands now; gangs that are folded hide rows. */
  movePointer(step: number, isSeen: (key: string) => boolean): string | null {
    const keys = this.view.groups
      .flatMap((group) => [...(group.gang === null ? [] : [group.key]), ...group.rows.map(keyOf)])
      .filter((key) => key.startsWith("gang ") || isSeen(key));
    const at = this.cursor === null ? -1 : keys.indexOf(this.cursor);
    const next = keys[Math.max(0, Math.min(keys.length - 1, at + step))];
    if (next !== undefined) this.pointAt(next);
    return next ?? null;
  }

  /** The row, or the whole gang, under the cursor. */
  pointed(): WaitingRow[] {
    const { groups, present } = this.view;
    return present.filter(
      (row) =>
        keyOf(row) === this.cursor || groups.some((group) => group.key === this.cursor && group.rows.includes(row)),
    );
  }

  /** What a key decides about: what is marked, else what is pointed at. */
  targets(): readonly WaitingRow[] {
    return this.view.marked.length > 0 ? this.view.marked : this.pointed();
  }

  approve(targets: readonly WaitingRow[]): void {
    const [first] = targets;
    if (first === undefined) return;
    const asking = targets.filter((row) => row.decidable);
    if (asking.length === 0) {
      this.outlet.nobodyAsked(first.waiting_on.map((wait) => wait.plugin));
      return;
    }
    for (const run of new Set(asking.map((row) => row.run)))
      this.outlet.approve(
        run,
        asking.filter((row) => row.run === run),
      );
    this.clearMarks();
  }

  /** Opens the drawer that asks for a reason. */
  ask(kind: ReasonRequest["kind"], targets: readonly WaitingRow[]): void {
    const [first] = targets;
    if (first === undefined) return;
    const pods = targets.map((row) => ({ ...row, letsGo: pluginOf(row, false) }));
    const plugins = new Set(targets.map((row) => pluginOf(row, kind !== "override")));
    this.asking = { kind, run: first.run, pods, plugin: plugins.size === 1 ? [...plugins][0] : undefined };
    this.changed();
  }

  closeAsking(): void {
    this.asking = null;
    this.changed();
  }

  private made(): InboxView {
    const { rows, gone, fresh } = settle(this.shown, this.latest);
    const present = rows.filter((row) => !gone.has(keyOf(row)));
    return {
      groups: groupsOf(rows),
      present,
      gone,
      fresh,
      orderHeld: this.orderHeld,
      marks: this.marks,
      marked: present.filter((row) => this.marks.has(keyOf(row))),
      cursor: this.cursor,
      asking: this.asking,
    };
  }

  private changed(): void {
    if (this.readBy.size === 0 && !this.orderHeld) this.shown = this.latest;
    this.view = this.made();
    for (const watcher of this.watchers) watcher();
  }
}

/** The plugin that the pod waits on: one that asks a person, or one that does not; the first where there is none of those. */
function pluginOf(row: WaitingRow, asksPerson: boolean): string | undefined {
  return (row.waiting_on.find((wait) => wait.asks_person === asksPerson) ?? row.waiting_on[0])?.plugin;
}
