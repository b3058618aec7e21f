/** The clocks of the runs in the inbox: deadlines are in run time, and every run has its own. */
import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";

import { runQuery } from "@/api/queries";
import type { WaitingRow } from "@/api/waitingTypes";
import { useTick } from "@/components/useTick";
import { runNow } from "@/live/runClock";
import { announce } from "@/shell/pageLive";

import { t } from "./texts";

const EVERY = 2_000;

/** What time it is in the row's run. One shared tick for all countdowns; it stands still when no clock goes on by itself. */
export function useRunClocks(rows: readonly WaitingRow[]): (row: WaitingRow) => number {
  const ids = [...new Set(rows.map((row) => row.run))].sort();
  const runs = useQueries({
    queries: ids.map((id) => ({ ...runQuery(id), refetchInterval: EVERY })),
    combine: (answers) => answers.map((answer) => ({ run: answer.data ?? null, receivedAt: answer.dataUpdatedAt })),
  });
  const moving = runs.some(({ run }) => run?.clock.mode === "real" && run.state !== "paused");
  const wall = useTick(moving);
  const signature = ids.join(" ");
  return useCallback(
    (row: WaitingRow) => {
      const view = runs[signature.split(" ").indexOf(row.run)];
      const known = Date.parse(row.now);
      return view?.run === undefined || view.run === null ? known : Math.max(known, runNow(view, wall));
    },
    [runs, signature, wall],
  );
}

/** The one row under the cursor is spoken at 60 and at 10 seconds, no other. */
export function useCountdownSpoken(row: WaitingRow | null, nowOf: (row: WaitingRow) => number): void {
  const left =
    row === null ? Infinity : Math.min(...row.waiting_on.map((wait) => Date.parse(wait.deadline))) - nowOf(row);
  const step = left <= 10_000 ? 10 : left <= 60_000 ? 60 : null;
  const name = row === null ? "" : `${row.workload} ${row.tail}`.trim();
  useEffect(() => {
    if (step !== null && name !== "") announce(`deadline ${name} ${step}`, t("hasLessThanSecondsLeft", { name, step }));
  }, [step, name]);
}
