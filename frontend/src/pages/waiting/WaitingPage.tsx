/** The inbox: pods that wait on Permit, decided singly or together, and what was decided before. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";

import { useMe } from "@/api/useMe";
import { WAITING_LIMIT, waitingQuery } from "@/api/waitingQueries";
import type { WaitingRow } from "@/api/waitingTypes";
import { Button, ButtonLink } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { useTick } from "@/components/useTick";
import { usePendingApprovals } from "@/decisions/decide";
import { useConnection } from "@/live/useLive";
import { later } from "@/parts/later";
import { announce } from "@/shell/pageLive";
import { useTitle } from "@/shell/useTitle";

import { BulkBar } from "./BulkBar";
import { useRunClocks } from "./clocks";
import { DecidedPanel } from "./DecidedPanel";
import { groupsOf, keyOf, ordered, settle } from "./inbox";
import { InboxHeader } from "./InboxHeader";
import { InboxTable } from "./InboxTable";
import { t } from "./texts";
import { useDeciding } from "./useDeciding";
import { useInside } from "./useInside";
import classes from "./WaitingPage.module.css";

const ReasonDrawer = later(() => import("@/decisions/ReasonDrawer"));
const route = getRouteApi("/waiting");
export function WaitingPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { operates: can } = useMe();
  const stale = useConnection().state === "stale";
  const [windows, setWindows] = useState(1);
  const filter = { run: search.run, q: search.q, kind: search.kind };
  const answer = useQuery(waitingQuery(filter, windows));
  // The counts of the tabs are those without a filter; without one it is the same read.
  const base = useQuery(waitingQuery({ run: search.run, q: undefined, kind: undefined }));
  const total = base.data?.count ?? answer.data?.count ?? 0;
  useTitle(t("waitingOnPermit"));
  useEffect(() => {
    if (base.data !== undefined)
      announce("waiting", t("onPermit", { total, which: total === 1 ? t("waits") : t("wait") }));
  }, [base.data, total]);

  const latest = ordered(answer.data?.rows ?? []);
  const list = useInside();
  const [hold, setHold] = useState(false);
  const settled = useSettled(latest, hold || list.inside, JSON.stringify(filter));
  const { rows, gone, fresh } = settled;
  const present = rows.filter((row) => !gone.has(keyOf(row)));
  const groups = groupsOf(rows);
  const nowOf = useRunClocks(present);
  const pending = usePendingApprovals();
  const wall = useTick(pending.length > 0);
  const page = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const runs = [...new Map((base.data?.rows ?? []).map((row) => [row.run, row])).values()];
  const { marks, marked, cursor, setCursor, asking, setAsking, clear, mark, approve, ask } = useDeciding({
    present,
    groups,
    page,
    can,
    onHold: () => setHold(!hold),
    onFilter: () => field.current?.focus(),
  });
  useCountdownSpoken(present.find((row) => keyOf(row) === cursor) ?? null, nowOf);

  return (
    <Page className={classes.page} ref={page}>
      <InboxHeader
        total={total}
        person={base.data?.person ?? 0}
        gang={base.data?.gang ?? 0}
        runs={runs}
        fresh={fresh}
        hold={hold}
        onHold={() => setHold(!hold)}
        field={field}
      />
      {stale ? <p className={classes.stale}>{t("whatYouSeeMayBe")}</p> : null}
      <Panel className={classes.list} aria-label={t("podsThatWaitOnPermit")} {...list.handlers}>
        {answer.data === undefined ? (
          answer.error === null ? (
            <Outlines count={5} height={44} label={t("readingWhoWaits")} />
          ) : (
            <Failed what={t("couldNotListWaitingPods")} error={answer.error} retry={() => void answer.refetch()} />
          )
        ) : rows.length === 0 ? (
          <NobodyWaits />
        ) : (
          <InboxTable
            groups={groups}
            gone={gone}
            marked={marks}
            cursor={cursor}
            manyRuns={runs.length > 1}
            can={can}
            wall={pending.length > 0 ? wall : 0}
            nowOf={nowOf}
            onMark={mark}
            onCursor={setCursor}
            onApprove={approve}
            onOverride={(some) => ask("override", some)}
            onReject={(some) => ask("reject", some)}
          />
        )}
        {answer.data !== undefined && answer.data.count > answer.data.rows.length ? (
          <p className={classes.more}>
            <Button size="sm" onClick={() => setWindows(windows + 1)}>
              {t("moreOf2", {
                min: Math.min(WAITING_LIMIT, answer.data.count - answer.data.rows.length),
                n: answer.data.count - answer.data.rows.length,
              })}
            </Button>
          </p>
        ) : null}
      </Panel>
      <DecidedPanel
        run={search.run}
        all={search.decided === "all"}
        onAll={(all) =>
          void navigate({ search: (old) => ({ ...old, decided: all ? "all" : undefined }), replace: true })
        }
      />
      {marked.length > 0 && asking === null ? (
        <BulkBar
          rows={marked}
          can={can}
          onClear={clear}
          onReject={() => ask("reject", marked)}
          onApprove={() => approve(marked)}
        />
      ) : null}
      <Suspense fallback={null}>
        {asking === null ? null : <ReasonDrawer request={asking} onClose={() => setAsking(null)} onDone={clear} />}
      </Suspense>
    </Page>
  );
}

/** Why the list is empty: nothing fits the filter, nobody waits in the run, or nobody waits at all. */
function NobodyWaits() {
  const { run, q, kind } = route.useSearch();
  const navigate = route.useNavigate();
  if (q !== undefined || kind !== undefined)
    return (
      <Empty
        action={
          <Button
            size="sm"
            onClick={() =>
              void navigate({ search: (old) => ({ ...old, q: undefined, kind: undefined }), replace: true })
            }
          >
            {t("clearTheFilter")}
          </Button>
        }
      >
        {t("noWaitingPodMatches", { which: q === undefined ? "" : ` “${q}”` })}
      </Empty>
    );
  if (run !== undefined)
    return (
      <Empty
        action={
          <Button
            size="sm"
            onClick={() => void navigate({ search: (old) => ({ ...old, run: undefined }), replace: true })}
          >
            {t("allRuns")}
          </Button>
        }
      >
        {t("nobodyWaitsInThisRun")}
      </Empty>
    );
  return (
    <Empty
      action={
        <ButtonLink size="sm" to="/configurations">
          {t("addManualApprovalToAProfile")}
        </ButtonLink>
      }
    >
      {t("nobodyWaitsPodsAppearHere")}
    </Empty>
  );
}

/** While somebody reads, the list keeps its places; a change of the filter is a new list. */
function useSettled(latest: WaitingRow[], reading: boolean, filter: string) {
  const [shown, setShown] = useState<{ rows: WaitingRow[]; filter: string } | null>(null);
  const same = shown?.filter === filter;
  if (!reading || !same || shown.rows.length === 0) {
    if (!same || shown.rows.length !== latest.length || shown.rows.some((row, index) => row !== latest[index]))
      setShown({ rows: latest, filter });
    return { rows: latest, gone: new Set<string>(), fresh: 0 };
  }
  return settle(shown.rows, latest);
}

/** The one row under the cursor is spoken at 60 and at 10 seconds, no other. */
function useCountdownSpoken(row: WaitingRow | null, nowOf: (row: WaitingRow) => number): void {
  const left =
    row === null ? Infinity : Math.min(...row.waiting_on.map((wait) => Date.parse(wait.deadline))) - nowOf(row);
  const step = left <= 10_000 ? 10 : left <= 60_000 ? 60 : null;
  const name = row === null ? "" : `${row.workload} ${row.tail}`.trim();
  useEffect(() => {
    if (step !== null && name !== "") announce(`deadline ${name} ${step}`, t("hasLessThanSecondsLeft", { name, step }));
  }, [step, name]);
}
