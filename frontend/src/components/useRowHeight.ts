import { useSyncExternalStore } from "react";

const PHONE = "(max-width: 640px)";
/** What a finger hits. */
const TARGET = 44;

function watch(callback: () => void): () => void {
  const query = window.matchMedia(PHONE);
  query.addEventListener("change", callback);
  return () => query.removeEventListener("change", callback);
}

/** Height of a row in a virtual list: dense with a pointer, a finger's target on phones. */
export function useRowHeight(dense: number): number {
  return useSyncExternalStore(watch, () => window.matchMedia(PHONE).matches) ? TARGET : dense;
}
