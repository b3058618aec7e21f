import { beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "@/api/client";
import type { Board, Column, FeedItem, NodesTable, Run, StateKey } from "@/api/types";
import { STATE_KEYS } from "@/api/types";

import type { RunDelta } from "./messages";
import { FEED_LIMIT, RunStore } from "./runStore";

const empty: Column = { count: 0, cards: [], more: 0 };
const counts = { gated: 0, active: 0, backoff: 0, unschedulable: 0, in_flight: 0, waiting: 0, bound: 0 };
const clock = {
  mode: "virtual" as const,
  now: "2026-11-20T10:00:00.000Z",
  start: "2026-11-20T10:00:00.000Z",
  speed: 10 as const,
};

function boardAt(seq: number): Board {
  const run = {
    id: "r",
    state: "paused",
    clock,
    counts,
    attempts: seq,
    points: 0,
    position: seq,
    worker: { state: "live", since: null },
    seq,
  } as unknown as Run;
  return {
    seq,
    run,
    cycle: null,
    columns: Object.fromEntries(STATE_KEYS.map((key) => [key, { ...empty }])) as Record<StateKey, Column>,
  };
}

function delta(seq: number, more: Partial<RunDelta> = {}): RunDelta {
  return {
    type: "run.delta",
    run: "r",
    seq,
    previous: seq - 1,
    at: clock.now,
    state: "playing",
    clock,
    counts,
    attempts: seq,
    points: 0,
    position: seq,
    worker: { state: "live", since: null },
    cycle: null,
    columns: {},
    nodes: [],
    feed: [],
    arrivals: null,
    ...more,
  };
}

const table: NodesTable = {
  seq: 5,
  count: 2,
  resources: ["cpu", "pods"],
  zones: [{ name: "a", nodes: 2 }],
  row: [3, 9],
  names: ["n3", "n9"],
  zone: [0, 0],
  pools: [""],
  pool: [0, 0],
  types: ["t"],
  type: [0, 0],
  cordoned: [0, 1],
  tainted: [0, 0],
  allocatable: [
    [1000, 10],
    [2000, 10],
  ],
  requested: [
    [100, 1],
    [200, 1],
  ],
  reserved: [
    [0, 0],
    [0, 0],
  ],
  pods: [
    [1, 0, 0],
    [1, 0, 0],
  ],
};

const item = (id: number): FeedItem => ({ id, at: clock.now, kind: "bound", pods: [], count: 1, parts: [] });

/** Lets every promise that is ready run. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

describe("a run's store", () => {
  let boards: ((board: Board) => void)[];
  let failing: boolean;
  let missing: boolean;
  let nodeReads: number;
  let heldNodes: (() => void)[] | null;
  /** Null: there is a picture after every delta. */
  let frames: (() => void)[] | null;
  const refollow = vi.fn();
  let store: RunStore;

  beforeEach(() => {
    boards = [];
    missing = false;
    failing = false;
    nodeReads = 0;
    heldNodes = null;
    frames = null;
    refollow.mockReset();
    store = new RunStore(
      "r",
      {
        board: () =>
          missing
            ? Promise.reject(new ApiError(404, { code: "deleted", message: "It was deleted." }))
            : failing
              ? Promise.reject(new ApiError(503, { code: "503", message: "The server is busy." }))
              : new Promise((resolve) => boards.push(resolve)),
        nodes: () => {
          nodeReads += 1;
          const read = structuredClone(table);
          const waiting = heldNodes;
          return waiting === null ? Promise.resolve(read) : new Promise((resolve) => waiting.push(() => resolve(read)));
        },
        feed: () => Promise.resolve([item(2), item(1)]),
        now: () => 77,
        frame: (callback) => {
          if (frames === null) callback();
          else frames.push(callback);
        },
      },
      refollow,
    );
  });

  const ready = async (seq = 5) => {
    void store.load();
    boards.shift()?.(boardAt(seq));
    await settle();
  };

  it("keeps what nodes became while their table was on the way", async () => {
    await ready();
    heldNodes = [];
    // A worker that took over tells the whole topology; the table that is read then is of seq 5.
    store.apply(delta(6, { topology: true }));
    store.apply(delta(7, { nodes: [[9, [700, 2], [0, 0], [2, 0, 0]]] }));
    heldNodes.shift()?.();
    await settle();
    const { table: shown } = store.getNodes();
    expect(shown?.seq).toBe(7);
    expect(nodeReads).toBe(2);
    const place = shown?.names.indexOf("n9") ?? -1;
    expect(shown?.requested.map((column) => column[place])).toEqual([700, 2]);
  });

  it("reads the nodes once more when another one came while their table was on the way", async () => {
    await ready();
    heldNodes = [];
    store.apply(delta(6, { topology: true }));
    store.apply(delta(7, { topology: true }));
    heldNodes.shift()?.();
    await settle();
    expect(nodeReads).toBe(3);
  });

  it("shows the board, then applies deltas on top", async () => {
    await ready();
    expect(store.getView()).toMatchObject({ status: "ready", seq: 5, receivedAt: 77 });
    store.apply(delta(6));
    expect(store.getView()).toMatchObject({ seq: 6 });
    expect(store.getView().run).toMatchObject({ state: "playing", attempts: 6 });
  });

  it("replaces the columns that changed and keeps the others as they are", async () => {
    await ready();
    const before = store.getView().columns;
    store.apply(delta(6, { columns: { active: { count: 1, cards: [], more: 1 } } }));
    const after = store.getView().columns;
    expect(after?.active.count).toBe(1);
    expect(after?.bound).toBe(before?.bound);
  });

  it("fetches again when a delta is missing, and applies nothing on a gap", async () => {
    await ready();
    store.apply(delta(8));
    expect(store.getView().seq).toBe(5);
    expect(refollow).toHaveBeenCalledOnce();
    expect(boards).toHaveLength(1);
    boards.shift()?.(boardAt(8));
    await settle();
    expect(store.getView().seq).toBe(8);
  });

  it("keeps deltas that arrive while the board is read, and drops those that the board already has", async () => {
    void store.load();
    store.apply(delta(5));
    store.apply(delta(6));
    store.apply(delta(7));
    boards.shift()?.(boardAt(6));
    await settle();
    expect(store.getView().seq).toBe(7);
    expect(boards).toHaveLength(0);
  });

  it("reads once more when what was kept does not join on to the board", async () => {
    void store.load();
    store.apply(delta(9));
    boards.shift()?.(boardAt(6));
    await settle();
    expect(boards).toHaveLength(1);
    boards.shift()?.(boardAt(9));
    await settle();
    expect(store.getView().seq).toBe(9);
  });

  it("ignores a delta it has seen", async () => {
    await ready();
    store.apply(delta(5, { state: "stopped" }));
    expect(store.getView().run?.state).toBe("paused");
  });

  it("reads once on a subscription that arrives during the first read, twice if it was already behind", async () => {
    void store.load();
    store.subscribed(5);
    boards.shift()?.(boardAt(5));
    await settle();
    expect(boards).toHaveLength(0);

    void store.load();
    store.subscribed(7);
    boards.shift()?.(boardAt(6));
    await settle();
    expect(boards).toHaveLength(1);
  });

  it("reads again after a reconnect only when it missed something", async () => {
    await ready();
    store.subscribed(5);
    expect(boards).toHaveLength(0);
    store.subscribed(6);
    expect(boards).toHaveLength(1);
  });

  it("says why it could not be read, and recovers", async () => {
    failing = true;
    await store.load();
    expect(store.getView()).toMatchObject({ status: "failed" });
    expect(store.getView().error?.message).toBe("The server is busy.");
    failing = false;
    await ready();
    expect(store.getView()).toMatchObject({ status: "ready", error: null });
  });

  it("keeps the old board on screen when a later read fails", async () => {
    await ready();
    failing = true;
    await store.load();
    expect(store.getView()).toMatchObject({ status: "ready", seq: 5 });
    expect(store.getView().error?.status).toBe(503);
  });

  it("takes the board off the screen when the run was deleted", async () => {
    await ready();
    missing = true;
    await store.load();
    expect(store.getView()).toMatchObject({ status: "failed", run: null, columns: null });
    expect(store.getView().error?.body.code).toBe("deleted");
    missing = false;
    await ready();
    expect(store.getView()).toMatchObject({ status: "ready", error: null });
  });

  it("writes node deltas by the engine's row number", async () => {
    await ready();
    store.apply(delta(6, { nodes: [[9, [1500, 2], [100, 1], [2, 1, 0]]] }));
    const nodes = store.getNodes();
    expect(nodes.table?.share(0, 1)).toEqual({ requested: 0.75, reserved: 0.05 });
    expect([nodes.table?.bound[1], nodes.table?.waiting[1]]).toEqual([2, 1]);
    expect(nodes.table?.share(0, 0).requested).toBe(0.1);
    expect([...(nodes.table?.dirtyAt(nodes.version) ?? [])]).toEqual([1]);
  });

  it("fetches the nodes again when one is unknown, and when the topology changed", async () => {
    await ready();
    expect(nodeReads).toBe(1);
    store.apply(delta(6, { nodes: [[44, [0, 0], [0, 0], [0, 0, 0]]] }));
    await settle();
    expect(nodeReads).toBe(2);
    store.apply(delta(7, { topology: true }));
    await settle();
    expect(nodeReads).toBe(3);
  });

  it("puts news on top of the activity, without doubles, and forgets beyond the limit", async () => {
    await ready();
    store.apply(delta(6, { feed: [item(2), item(3)] }));
    expect(store.getFeed().items.map((one) => one.id)).toEqual([3, 2, 1]);
    store.apply(delta(7, { feed: Array.from({ length: FEED_LIMIT + 10 }, (_, index) => item(10 + index)) }));
    expect(store.getFeed().items).toHaveLength(FEED_LIMIT);
    expect(store.getFeed().more).toBe(true);
  });

  it("tells its watchers", async () => {
    await ready();
    const watcher = vi.fn();
    const stop = store.watch(watcher);
    store.apply(delta(6));
    expect(watcher).toHaveBeenCalledOnce();
    stop();
    store.apply(delta(7));
    expect(watcher).toHaveBeenCalledOnce();
  });

  it("tells once of all that came before a picture, and shows none of it earlier", async () => {
    await ready();
    const watcher = vi.fn();
    store.watch(watcher);
    frames = [];
    store.apply(delta(6, { feed: [item(3)], nodes: [[3, [300, 1], [0, 0], [1, 0, 0]]] }));
    store.apply(delta(7, { feed: [item(4)], nodes: [[9, [700, 2], [0, 0], [2, 0, 0]]] }));
    expect(store.getView().seq).toBe(5);
    expect(store.getFeed().items[0]?.id).toBe(2);
    expect(watcher).not.toHaveBeenCalled();
    expect(frames).toHaveLength(1);
    frames.shift()?.();
    expect(watcher).toHaveBeenCalledOnce();
    expect(store.getView().seq).toBe(7);
    expect(store.getFeed().items.map((one) => one.id)).toEqual([4, 3, 2, 1]);
    const nodes = store.getNodes();
    expect([...(nodes.table?.dirtyAt(nodes.version) ?? [])].sort()).toEqual([0, 1]);
    store.apply(delta(8));
    expect(frames).toHaveLength(1);
  });

  it("shows a board that was read anew without waiting for a picture", async () => {
    await ready();
    frames = [];
    store.apply(delta(6));
    void store.load();
    boards.shift()?.(boardAt(9));
    await settle();
    expect(store.getView().seq).toBe(9);
  });
});
