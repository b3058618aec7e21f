/** The browser's one socket and the stores of the runs it follows. React enters through `useLive.ts`. */
import type { QueryClient } from "@tanstack/react-query";

import { fetchBoard, fetchFeed, fetchNodes, waitingCountQuery } from "@/api/queries";
import { ofShadow } from "@/api/shadowQueries";

import { isMoment } from "@/rewind/moment";

import { browserFrames, feelTouch } from "./frames";
import type { ServerMessage } from "./messages";
import { atMostOften } from "./often";
import { RunStore } from "./runStore";
import { browserSocket } from "./socket";

export const socket = browserSocket();
/** How often a shadow's decisions are fetched again while more and more of them come. */
const SHADOW = 1000;

const stores = new Map<string, { store: RunStore; followers: number; leave: () => void }>();

function route(message: ServerMessage): void {
  if (message.type === "subscribed") stores.get(message.run)?.store.subscribed(message.seq);
  else if (message.type === "run.delta") stores.get(message.run)?.store.apply(message);
  else if (message.type === "run.resync") stores.get(message.run)?.store.resync();
}

/** Starts the socket and lets its small messages refresh what TanStack Query holds; the answer ends it. */
export function startLive(queries: QueryClient): () => void {
  let wasHere = false;
  const refreshShadow = atMostOften(SHADOW, (run) => void queries.invalidateQueries(ofShadow(run)));
  feelTouch(window);
  const forget = socket.onMessage((message) => {
    route(message);
    if (message.type === "waiting.count") {
      queries.setQueryData(waitingCountQuery.queryKey, {
        count: message.count,
        person: message.person,
        evictions: message.evictions ?? 0,
      });
      void queries.invalidateQueries({ queryKey: ["waiting"], predicate: (query) => query.queryKey[1] !== "count" });
    } else if (message.type === "runs.changed") {
      void queries.invalidateQueries({ queryKey: ["runs"] });
    } else if (message.type === "analysis.changed") {
      void queries.invalidateQueries({ queryKey: ["run", message.run, "analysis", message.id] });
    } else if (message.type === "shadow.judged" || message.type === "subscribed") {
      // What came before it was followed is told by nothing else.
      refreshShadow(message.run);
    } else if (message.type === "hello") {
      // Here again: whatever changed or failed meanwhile is asked for anew.
      void queries.invalidateQueries(wasHere ? {} : { queryKey: ["waiting"] });
      for (const { store } of stores.values()) if (wasHere && store.getView().error !== null) void store.load();
      wasHere = true;
    }
  });
  socket.start();
  const look = () => {
    if (document.visibilityState === "visible") socket.look();
  };
  window.addEventListener("online", look);
  document.addEventListener("visibilitychange", look);
  return () => {
    forget();
    window.removeEventListener("online", look);
    document.removeEventListener("visibilitychange", look);
    socket.stop();
  };
}

export function storeOf(run: string): RunStore {
  const known = stores.get(run);
  if (known !== undefined) return known.store;
  const store = new RunStore(
    run,
    {
      board: (id) => fetchBoard(id),
      nodes: (id, offset) => fetchNodes(id, offset),
      feed: (id, before) => fetchFeed(id, {}, before),
      now: () => Date.now(),
      frame: browserFrames(),
    },
    () => {
      if (!isMoment(run)) socket.refollow(run);
    },
  );
  stores.set(run, { store, followers: 0, leave: () => undefined });
  return store;
}

/** Follows a run for as long as somebody looks at it; the store is dropped with its last follower. */
export function followRun(run: string): () => void {
  const store = storeOf(run);
  const entry = stores.get(run);
  if (entry === undefined) return () => undefined;
  entry.followers += 1;
  if (entry.followers === 1) {
    // What a run was does not change: nothing is told of it.
    entry.leave = isMoment(run) ? () => undefined : socket.follow(run);
    void store.load();
  }
  let left = false;
  return () => {
    if (left) return;
    left = true;
    entry.followers -= 1;
    if (entry.followers > 0) return;
    entry.leave();
    // Leaving and coming back within one navigation must not throw the board away.
    window.setTimeout(() => {
      if (entry.followers === 0 && stores.get(run) === entry) stores.delete(run);
    }, 5_000);
  };
}
