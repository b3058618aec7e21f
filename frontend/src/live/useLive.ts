/** The one React binding of the live stores. */
import { useEffect, useSyncExternalStore } from "react";

import { followRun, socket, storeOf } from "./live";
import { refusal } from "./reach";
import type { FeedView, NodesView, RunStore, RunView } from "./runStore";
import type { Connection } from "./socket";

export function useConnection(): Connection {
  return useSyncExternalStore(socket.watch, socket.getConnection);
}

/** Why nothing can be sent now, as a sentence; null when the server answers. */
export function useRefusal(): string | null {
  return refusal(useConnection());
}

/** Hears of the run while the component is mounted, and holds nothing of it. */
export function useTold(run: string): void {
  useEffect(() => socket.follow(run), [run]);
}

/** Subscribes to the run while the component is mounted and returns its store. */
export function useRunStore(run: string): RunStore {
  useEffect(() => followRun(run), [run]);
  return storeOf(run);
}

export function useRunView(store: RunStore): RunView {
  return useSyncExternalStore(store.watch, store.getView);
}

export function useNodes(store: RunStore): NodesView {
  return useSyncExternalStore(store.watch, store.getNodes);
}

export function useFeed(store: RunStore): FeedView {
  return useSyncExternalStore(store.watch, store.getFeed);
}
