/**
 * A run as it was at a step has an address like the run's own: `id@340`. Every query and link that names a run names a
 * moment the same way, so a page that looks back stays there by itself.
 */

export interface RunAt {
  run: string;
  at: number | null;
}

export function runAt(key: string): RunAt {
  const [run = "", position] = key.split("@");
  return { run, at: position === undefined ? null : Number(position) };
}

export const runOf = (key: string): string => runAt(key).run;

export const isMoment = (key: string): boolean => key.includes("@");

export const momentKey = (run: string, at: number): string => `${run}@${at}`;

/** Where a slider that stands on `at` leads: at its end the run itself. */
export const keyAt = (run: string, at: number, last: number): string =>
  at >= last ? run : momentKey(run, Math.max(0, at));
