import { useEffect, useRef } from "react";

/** A busy run changes ten times a second; a page about one pod need not. */
const EVERY = 1_000;

/** Calls `run` within a second after each change of `version`, once for all changes of that second. */
export function useThrottled(run: () => void, version: number): void {
  const latest = useRef(run);
  const timer = useRef<number | null>(null);
  const seen = useRef(version);
  useEffect(() => {
    latest.current = run;
    if (version === seen.current) return;
    seen.current = version;
    timer.current ??= window.setTimeout(() => {
      timer.current = null;
      latest.current();
    }, EVERY);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) window.clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
}
