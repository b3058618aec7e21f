/**
 * The state of one run on screen: the board over HTTP at a `seq`, then deltas on top of it.
 *
 *   empty ──load──▶ loading (deltas are kept aside) ──board──▶ ready ──delta with previous = seq──▶ ready
 *                      ▲                                         │ a gap, a resync, a reconnect
 *                      └─────────────────────────────────────────┘
 *
 * Every object that changed is replaced and every other kept, so React can compare by identity, column by column.
 * Deltas are applied as they come and shown with one of the next pictures (frames.ts): several that came meanwhile cost
 * the page one rendering, a click between two renders no batch, and a hidden tab, which has no pictures, catches up with one.
 */
import { ApiError } from "@/api/client";
import type { Board, Column, Cycle, FeedItem, NodesTable, Run, StateKey } from "@/api/types";

import type { RunDelta } from "./messages";
import { NodeColumns } from "./nodeColumns";

export const FEED_LIMIT = 500;
const FEED_WINDOW = 50;

export interface RunView {
  status: "loading" | "ready" | "failed";
  error: ApiError | null;
  seq: number;
  run: Run | null;
  cycle: Cycle | null;
  columns: Record<StateKey, Column> | null;
  rate: number | null;
  /** The wall clock at which `run.clock.now` was true: real-time clocks go on between deltas. */
  receivedAt: number;
}

export interface NodesView {
  status: "loading" | "ready" | "failed";
  error: ApiError | null;
  table: NodeColumns | null;
  /** Grows with every change of a value, so a canvas knows that there is something to draw. */
  version: number;
}

export interface FeedView {
  status: "loading" | "ready" | "failed";
  items: readonly FeedItem[];
  /** Whether the server may have older ones. */
  more: boolean;
}

export interface RunSource {
  board: (run: string) => Promise<Board>;
  nodes: (run: string, offset: number) => Promise<NodesTable>;
  feed: (run: string, before?: number) => Promise<FeedItem[]>;
  now: () => number;
  /** Calls back before one of the next pictures (frames.ts). */
  frame: (callback: () => void) => void;
}

interface Shown {
  view: RunView;
  nodes: NodesView;
  feed: FeedView;
}

const HELD_DELTAS = 200;

export class RunStore {
  readonly run: string;
  private readonly source: RunSource;
  private readonly refollow: () => void;
  private readonly watchers = new Set<() => void>();
  private view: RunView = {
    status: "loading",
    error: null,
    seq: -1,
    run: null,
    cycle: null,
    columns: null,
    rate: null,
    receivedAt: 0,
  };
  private nodes: NodesView = { status: "loading", error: null, table: null, version: 0 };
  private feed: FeedView = { status: "loading", items: [], more: false };
  /** What was last told to the watchers. */
  private shown: Shown = { view: this.view, nodes: this.nodes, feed: this.feed };
  private framed = false;
  private held: RunDelta[] = [];
  private loadingBoard = false;
  private again = false;
  private wantedSeq = -1;
  private loadingNodes = false;
  /** What came while the table was on the way: it may be older than that. */
  private missed: RunDelta[] = [];

  constructor(run: string, source: RunSource, refollow: () => void) {
    this.run = run;
    this.source = source;
    this.refollow = refollow;
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };
  readonly getView = (): RunView => this.shown.view;
  readonly getNodes = (): NodesView => this.shown.nodes;
  readonly getFeed = (): FeedView => this.shown.feed;

  /** The server confirmed the subscription at `seq`. A board that is older than that has missed something. */
  subscribed(seq: number): void {
    if (this.loadingBoard) this.wantedSeq = Math.max(this.wantedSeq, seq);
    else if (this.view.status !== "ready" || this.view.seq !== seq) void this.load();
  }

  async load(): Promise<void> {
    if (this.loadingBoard) {
      this.again = true;
      return;
    }
    this.loadingBoard = true;
    try {
      const board = await this.source.board(this.run);
      this.loadingBoard = false;
      this.accept(board);
      if (this.nodes.status !== "ready" || this.nodes.table?.seq !== board.seq) void this.loadNodes();
      if (this.feed.status !== "ready" || this.again) void this.loadFeed();
    } catch (error) {
      this.loadingBoard = false;
      const why = asApiError(error);
      // A run that was deleted is not there any more, whatever is still on the screen.
      if (why.status === 404) this.set({ status: "failed", error: why, run: null, columns: null });
      else this.set({ status: this.view.run === null ? "failed" : this.view.status, error: why });
    }
    if (this.again) {
      this.again = false;
      await this.load();
    }
  }

  async loadNodes(): Promise<void> {
    if (this.loadingNodes) return;
    this.loadingNodes = true;
    this.missed = [];
    let again = false;
    try {
      const first = await this.source.nodes(this.run, 0);
      const table = NodeColumns.from(first);
      while (table.names.length < table.count) {
        const next = await this.source.nodes(this.run, table.names.length);
        if (next.names.length === 0) break;
        table.append(next);
      }
      table.seq = first.seq;
      const version = this.nodes.version + 1;
      for (const delta of this.missed) {
        if (delta.seq <= first.seq) continue;
        const fits = delta.topology !== true && table.update(delta.nodes, version);
        again ||= !fits;
        table.seq = delta.seq;
      }
      this.nodes = { status: "ready", error: null, table, version };
    } catch (error) {
      this.nodes = { ...this.nodes, status: "failed", error: asApiError(error) };
    }
    this.loadingNodes = false;
    this.missed = [];
    this.emit();
    if (again) await this.loadNodes();
  }

  async loadFeed(): Promise<void> {
    try {
      const items = await this.source.feed(this.run);
      this.feed = { status: "ready", items, more: items.length >= FEED_WINDOW };
    } catch {
      this.feed = { ...this.feed, status: "failed" };
    }
    this.emit();
  }

  async loadOlderFeed(): Promise<void> {
    const last = this.feed.items.at(-1);
    if (last === undefined || !this.feed.more) return;
    const older = await this.source.feed(this.run, last.id);
    this.feed = { ...this.feed, items: [...this.feed.items, ...older], more: older.length >= FEED_WINDOW };
    this.emit();
  }

  apply(delta: RunDelta): void {
    if (this.loadingBoard || this.view.status !== "ready") {
      this.held.push(delta);
      if (this.held.length > HELD_DELTAS) this.held.shift();
      return;
    }
    if (delta.seq <= this.view.seq) return;
    if (delta.previous !== this.view.seq) {
      this.resync();
      return;
    }
    this.advance(delta);
    if (this.framed) return;
    this.framed = true;
    this.source.frame(() => {
      this.framed = false;
      this.emit();
    });
  }

  resync(): void {
    this.refollow();
    void this.load();
  }

  private accept(board: Board): void {
    this.view = {
      status: "ready",
      error: null,
      seq: board.seq,
      run: board.run,
      cycle: board.cycle,
      columns: board.columns,
      rate: null,
      receivedAt: this.source.now(),
    };
    const held = this.held;
    this.held = [];
    for (const delta of held) {
      if (delta.seq <= this.view.seq) continue;
      if (delta.previous !== this.view.seq) {
        this.again = true;
        break;
      }
      this.advance(delta);
    }
    if (this.view.seq < this.wantedSeq) this.again = true;
    this.wantedSeq = -1;
    this.emit();
  }

  private advance(delta: RunDelta): void {
    const { run, columns } = this.view;
    if (run === null || columns === null) return;
    const changed = Object.keys(delta.columns).length > 0;
    this.view = {
      ...this.view,
      error: null,
      seq: delta.seq,
      run: {
        ...run,
        state: delta.state,
        clock: delta.clock,
        counts: delta.counts,
        attempts: delta.attempts,
        points: delta.points,
        position: delta.position,
        worker: delta.worker,
        seq: delta.seq,
        breakpoints: delta.breakpoints ?? [],
        hit: delta.hit ?? null,
        error: null,
        arrivals: delta.arrivals,
        unwritten: delta.unwritten ?? 0,
      },
      cycle: delta.cycle,
      columns: changed ? { ...columns, ...delta.columns } : columns,
      rate: delta.rate ?? null,
      receivedAt: this.source.now(),
    };
    if (this.loadingNodes) this.missed.push(delta);
    if (delta.topology === true) void this.loadNodes();
    else if (delta.nodes.length > 0 && this.nodes.table !== null) {
      const version = this.nodes.version + 1;
      const fits = this.nodes.table.update(delta.nodes, version);
      this.nodes.table.seq = delta.seq;
      this.nodes = { ...this.nodes, version };
      if (!fits) void this.loadNodes();
    } else if (this.nodes.table !== null) this.nodes.table.seq = delta.seq;
    if (delta.feed.length > 0) {
      const newest = this.feed.items[0]?.id ?? -1;
      const fresh = delta.feed.filter((item) => item.id > newest).sort((a, b) => b.id - a.id);
      const items = [...fresh, ...this.feed.items];
      this.feed = {
        ...this.feed,
        items: items.slice(0, FEED_LIMIT),
        more: this.feed.more || items.length > FEED_LIMIT,
      };
    }
  }

  private set(change: Partial<RunView>): void {
    this.view = { ...this.view, ...change };
    this.emit();
  }

  private emit(): void {
    this.shown = { view: this.view, nodes: this.nodes, feed: this.feed };
    for (const watcher of this.watchers) watcher();
  }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, { code: "unexpected", message: error instanceof Error ? error.message : String(error) });
}
