import { useSyncExternalStore } from "react";

/** One clock for every countdown on the page: 4 Hz, running only while somebody looks. */
const EVERY = 250;
const watchers = new Set<() => void>();
let now = Date.now();
let timer: number | null = null;

function watch(callback: () => void): () => void {
  watchers.add(callback);
  now = Date.now();
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const watcher of watchers) watcher();
  }, EVERY);
  return () => {
    watchers.delete(callback);
    if (watchers.size === 0 && timer !== null) {
      window.clearInterval(timer);
      timer = null;
    }
  };
}

const never = () => () => undefined;

/** Wall-clock milliseconds; stands still while `on` is false. */
export function useTick(on = true): number {
  return useSyncExternalStore(on ? watch : never, () => now);
}
