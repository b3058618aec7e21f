/**
 * The one polite live region of a page. `announce` is throttled: the same topic is said at most every ten seconds, and
 * then in its newest wording.
 */
import { useSyncExternalStore } from "react";

const EVERY = 10_000;
const watchers = new Set<() => void>();
const lastSaid = new Map<string, number>();
const timers = new Map<string, number>();
let spoken = "";

function say(topic: string, sentence: string): void {
  lastSaid.set(topic, Date.now());
  spoken = sentence;
  for (const watcher of watchers) watcher();
}

export function announce(topic: string, sentence: string): void {
  const waiting = timers.get(topic);
  if (waiting !== undefined) window.clearTimeout(waiting);
  const due = (lastSaid.get(topic) ?? -EVERY) + EVERY - Date.now();
  if (due <= 0) {
    say(topic, sentence);
    return;
  }
  timers.set(
    topic,
    window.setTimeout(() => say(topic, sentence), due),
  );
}

function watch(callback: () => void): () => void {
  watchers.add(callback);
  return () => watchers.delete(callback);
}

export function PageLive() {
  const text = useSyncExternalStore(watch, () => spoken);
  return (
    <div className="srOnly" aria-live="polite">
      {text}
    </div>
  );
}
