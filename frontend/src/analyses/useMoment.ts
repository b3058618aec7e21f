import { useEffect, useState } from "react";

import type { Run } from "@/api/types";

/** Leafing through pods asks nothing of those that are only passed. */
const DWELL = 300;

/**
 * The position that questions of a page are about: where the run stands when the page has been open for a moment, or, of
 * a run that plays, where it was when somebody said `take`.
 */
export function useMoment(run: Run): { at: number | null; behind: boolean; take: () => void } {
  const [at, setAt] = useState<number | null>(null);
  // One that follows a real cluster moves only with it.
  const moving = run.state === "playing" && run.follows === "";
  const { position } = run;
  useEffect(() => {
    if (at !== null || moving) return undefined;
    const timer = window.setTimeout(() => setAt(position), DWELL);
    return () => window.clearTimeout(timer);
  }, [at, moving, position]);
  return { at, behind: at !== null && at !== position, take: () => setAt(position) };
}
