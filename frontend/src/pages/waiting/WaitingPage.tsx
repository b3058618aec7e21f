/** The inbox: pods that wait on Permit, decided singly or together, and what was decided before. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import {
  type FocusEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";

import { useMe } from "@/api/useMe";
import { evictionsQuery, WAITING_LIMIT, waitingQuery } from "@/api/waitingQueries";
import type { WaitingWindow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { approvals } from "@/decisions/decide";
import { listed } from "@/format/lists";
import { useConnection } from "@/live/useLive";
import { later } from "@/parts/later";
import { LiveBand } from "@/scheduling/LiveBand";
import { notify } from "@/shell/notify";
import { announce } from "@/shell/pageLive";
import { useTitle } from "@/shell/useTitle";

import { BulkBar } from "./BulkBar";
import { useCountdownSpoken, useRunClocks } from "./clocks";
import { DecidedPanel } from "./DecidedPanel";
import { keyOf } from "./inbox";
import { InboxHeader } from "./InboxHeader";
import { InboxStore } from "./inboxStore";
import { InboxTable } from "./InboxTable";
import { NobodyWaits } from "./NobodyWaits";
import { t } from "./texts";
import { useInboxKeys } from "./useInboxKeys";
import classes from "./WaitingPage.module.css";

const ReasonDrawer = later(() => import("@/decisions/ReasonDrawer"));
const route = getRouteApi("/waiting");

// Its type is said: the router's is made from it, and what stands in a fragment is looked at for a type that is not.
export function WaitingPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { operates: mayDecide } = useMe();
  const stale = useConnection().state === "stale";
  const [windows, setWindows] = useState(1);
  const filter = { run: search.run, q: search.q, kind: search.kind };
  const answer = useQuery(waitingQuery(filter, windows));
  // The counts of the tabs are those without a filter; without one it is the same read.
  const base = useQuery(waitingQuery({ run: search.run, q: undefined, kind: undefined })).data;
  useTitle(t("waitingOnPermit"));
  useEffect(() => {
    if (base !== undefined) announce("waiting", t("podsWaitOnPermitNow", { count: base.count }));
  }, [base]);

  const [store] = useState(() => new InboxStore({ approve: (run, pods) => approvals.approve(run, pods), nobodyAsked }));
  const view = useSyncExternalStore(store.watch, store.get);
  const filterKey = JSON.stringify(filter);
  // The rows of the filter before stand until those of the new one come: they are not what it lets through.
  const rows = answer.isPlaceholderData ? undefined : answer.data?.rows;
  useLayoutEffect(() => {
    if (rows !== undefined) store.receive(rows, filterKey);
  }, [store, rows, filterKey]);

  const page = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const nowOf = useRunClocks(view.present);
  useInboxKeys({ store, view, page, mayDecide, onFilter: () => field.current?.focus() });
  useCountdownSpoken(view.present.find((row) => keyOf(row) === view.cursor) ?? null, nowOf);
  const runs = [...new Map((base?.rows ?? []).map((row) => [row.run, row])).values()];

  // What is decided here binds real pods: said as on the pages of those runs, and for as long as the page is open.
  const proposed = useQuery(evictionsQuery(search.run)).data?.results ?? [];
  const found = [
    ...(base?.rows ?? []).filter((row) => row.binds_in !== "").map((row) => row.run),
    ...proposed.filter((eviction) => eviction.follows !== null).map((eviction) => eviction.run),
  ];
  const [live, setLive] = useState<readonly string[]>([]);
  if (found.some((run) => !live.includes(run))) setLive([...new Set([...live, ...found])]);

  return (
    <>
      {live.map((run) => (
        <LiveBand key={run} run={run} alone={live.length === 1} />
      ))}
      <Page className={classes.page} ref={page}>
        <InboxHeader
          total={base?.count ?? answer.data?.count ?? 0}
          person={base?.person ?? 0}
          gang={base?.gang ?? 0}
          runs={runs}
          fresh={view.fresh}
          orderHeld={view.orderHeld}
          onHold={() => store.toggleOrderHeld()}
          field={field}
        />
        {stale ? <p className={classes.stale}>{t("whatYouSeeMayBe")}</p> : null}
        <Panel className={classes.list} aria-label={t("podsThatWaitOnPermit")} {...reading(store)}>
          {answer.data === undefined ? (
            answer.error === null ? (
              <Outlines count={5} height={44} label={t("readingWhoWaits")} />
            ) : (
              <Failed what={t("couldNotListWaitingPods")} error={answer.error} retry={() => void answer.refetch()} />
            )
          ) : view.groups.length === 0 ? (
            <NobodyWaits />
          ) : (
            <InboxTable store={store} view={view} manyRuns={runs.length > 1} mayDecide={mayDecide} nowOf={nowOf} />
          )}
          <More window={answer.data} onMore={() => setWindows(windows + 1)} />
        </Panel>
        <DecidedPanel
          run={search.run}
          all={search.decided === "all"}
          onAll={(all) =>
            void navigate({ search: (old) => ({ ...old, decided: all ? "all" : undefined }), replace: true })
          }
        />
        {view.marked.length > 0 && view.asking === null ? (
          <BulkBar
            rows={view.marked}
            can={mayDecide}
            onClear={() => store.clearMarks()}
            onReject={() => store.ask("reject", view.marked)}
            onApprove={() => store.approve(view.marked)}
          />
        ) : null}
        <Suspense fallback={null}>
          {view.asking === null ? null : (
            <ReasonDrawer request={view.asking} onClose={() => store.closeAsking()} onDone={() => store.clearMarks()} />
          )}
        </Suspense>
      </Page>
    </>
  );
}

function More({ window, onMore }: { window: WaitingWindow | undefined; onMore: () => void }) {
  const n = window === undefined ? 0 : window.count - window.rows.length;
  return n <= 0 ? null : (
    <p className={classes.more}>
      <Button size="sm" onClick={onMore}>
        {t("moreWaitingPods", { min: Math.min(WAITING_LIMIT, n), n })}
      </Button>
    </p>
  );
}

function nobodyAsked(plugins: readonly string[]): void {
  notify({ title: t("nobodyIsAsked"), text: t("goesOnByItselfTo", { map: listed(plugins) }) });
}

/** The handlers by which the list knows that somebody reads it. */
function reading(store: InboxStore) {
  return {
    onPointerEnter: () => store.setReading("pointer", true),
    onPointerLeave: () => store.setReading("pointer", false),
    onFocus: () => store.setReading("focus", true),
    onBlur: (event: FocusEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget)) store.setReading("focus", false);
    },
  };
}
