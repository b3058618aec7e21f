/** The list behind every count of a run: pods of a queue, a group, a node or a search, with a way to each. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef } from "react";

import { fetchRunPods } from "@/api/queries";
import { type Card, STATE_KEYS } from "@/api/types";
import { nextOffset } from "@/api/windows";
import { Button } from "@/components/Button";
import { PodName, RejectChips } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { placeWord, queueOf, STATES } from "@/components/states";
import { useRowHeight } from "@/components/useRowHeight";
import { useTypedSearch } from "@/components/useTypedSearch";
import { clauses } from "@/format/lists";
import { count, shortPriority } from "@/format/number";
import { requestText } from "@/format/resources";
import { age, countdown, exact } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { runNow } from "@/live/runClock";
import { useRunStore, useRunView } from "@/live/useLive";
import { LookingBack } from "@/rewind/LookingBack";
import { useTitle } from "@/shell/useTitle";

import { t } from "../texts";
import classes from "./PodsPage.module.css";
import { StillBeingWritten } from "./StillBeingWritten";

const route = getRouteApi("/runs/$run/pods");
const LIMIT = 100;
const ROW = 36;

export function PodsPage() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/pods" });
  const store = useRunStore(run);
  const view = useRunView(store);
  const unwritten = view.run?.unwritten ?? 0;
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(search.q, ask);
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const filter = {
    column: search.column,
    group: search.group,
    q: search.q,
    namespace: search.namespace,
    node: search.node,
    sort: search.sort,
  };
  const pods = useInfiniteQuery({
    queryKey: ["run", run, "pods", "all", filter, unwritten === 0],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => fetchRunPods(run, filter, pageParam, LIMIT, signal),
    getNextPageParam: nextOffset,
  });
  const rows = pods.data?.pages.flatMap((page) => page.results) ?? [];
  const total = pods.data?.pages[0]?.count ?? 0;
  const heading = search.column === undefined ? t("pods") : STATES[search.column].title;
  useTitle(view.run === null ? heading : `${heading} · ${view.run.snapshot.name}`);

  useKeys([{ keys: "/", label: t("filterThesePods"), group: t("everywhere"), run: () => field.current?.focus() }]);

  const rowHeight = useRowHeight(ROW);
  // eslint-disable-next-line react-hooks/incompatible-library -- its functions must not be memoised, and are not
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pods;
  useEffect(() => {
    if (last >= rows.length - 10 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const now = runNow(view, view.receivedAt);
  const narrowed = clauses(
    [
      search.node === undefined ? "" : t("onNode", { node: search.node }),
      search.namespace ?? "",
      search.group === undefined ? "" : t("oneGroup"),
    ].filter(Boolean),
  );

  return (
    <Page className={classes.page ?? ""}>
      <LookingBack runKey={run} />
      <RunTrail run={run} name={view.run?.snapshot.name}>
        {t("pods")}
      </RunTrail>
      <header className={classes.head}>
        <h1>{heading}</h1>
        <span className="muted num" role="status">
          {pods.data === undefined ? "" : count(total)}
          {narrowed === "" ? "" : `, ${narrowed}`}
        </span>
        {narrowed === "" ? null : (
          <Button
            size="sm"
            kind="ghost"
            onClick={() => void navigate({ search: (old) => ({ column: old.column, q: old.q }), replace: true })}
          >
            {t("showAll")}
          </Button>
        )}
      </header>
      <Tools field={field} text={text} setText={setText} />
      <StillBeingWritten unwritten={unwritten} className="muted" />
      <Panel className={classes.list ?? ""} aria-label={heading}>
        {pods.isPending ? <Outlines count={8} height={28} label={t("readingThePods")} /> : null}
        {pods.error === null ? null : (
          <Failed
            what={t("thePodsCouldNotBe")}
            error={pods.error}
            retryLabel={t("readAgain")}
            retry={() => void pods.refetch()}
          />
        )}
        {pods.data !== undefined && rows.length === 0 ? <NoPods clear={() => setText("")} /> : null}
        {rows.length === 0 ? null : (
          <ScrollRegion className={classes.scroller} ref={scroller} label={t("rowsOfPods")}>
            <table className={classes.table} aria-rowcount={total + 1}>
              <Head />
              <tbody>
                {before > 0 ? (
                  <tr aria-hidden="true">
                    <td style={{ height: before }} />
                  </tr>
                ) : null}
                {items.map((item) => {
                  const pod = rows[item.index];
                  return pod === undefined ? null : (
                    <Row key={pod.key} run={run} pod={pod} now={now} index={item.index} />
                  );
                })}
                {after > 0 ? (
                  <tr aria-hidden="true">
                    <td style={{ height: after }} />
                  </tr>
                ) : null}
              </tbody>
            </table>
          </ScrollRegion>
        )}
      </Panel>
    </Page>
  );
}

interface ToolsProps {
  field: RefObject<HTMLInputElement | null>;
  text: string;
  setText: (text: string) => void;
}

function Tools({ field, text, setText }: ToolsProps) {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/pods" });
  return (
    <div className={classes.tools}>
      <label className={classes.search}>
        <Icon name="search" size={14} />
        <input
          ref={field}
          type="search"
          value={text}
          placeholder={t("podLAppServeCart")}
          aria-label={t("filterPods")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <select
        aria-label={t("queue")}
        value={search.column ?? ""}
        className={classes.select}
        onChange={(event) =>
          void navigate({
            search: (old) => ({
              ...old,
              column: STATE_KEYS.find((key) => key === event.currentTarget.value),
              group: undefined,
            }),
            replace: true,
          })
        }
      >
        <option value="">{t("allQueues")}</option>
        {STATE_KEYS.map((key) => (
          <option key={key} value={key}>
            {STATES[key].title}
          </option>
        ))}
      </select>
      <select
        aria-label={t("order")}
        value={search.sort ?? ""}
        className={classes.select}
        onChange={(event) =>
          void navigate({
            search: (old) => ({
              ...old,
              sort: event.currentTarget.value === "" ? undefined : event.currentTarget.value,
            }),
            replace: true,
          })
        }
      >
        <option value="">{t("inTheQueuesOrder")}</option>
        <option value="-priority">{t("highestPriorityFirst")}</option>
        <option value="name">{t("byName")}</option>
        <option value="-attempts">{t("mostAttemptsFirst")}</option>
        <option value="since">{t("longestThereFirst")}</option>
      </select>
    </div>
  );
}

function NoPods({ clear }: { clear: () => void }) {
  const { q, column } = route.useSearch();
  return (
    <Empty
      action={
        q === undefined ? null : (
          <Button size="sm" onClick={clear}>
            {t("clearTheFilter")}
          </Button>
        )
      }
    >
      {q === undefined ? (column === undefined ? t("noPods") : STATES[column].empty) : t("noPodMatches", { q })}
    </Empty>
  );
}

function Head() {
  return (
    <thead>
      <tr>
        <th scope="col">{t("pod")}</th>
        <th scope="col">{t("namespace")}</th>
        <th scope="col">{t("queue")}</th>
        <th scope="col">{t("nodeOrReason")}</th>
        <th scope="col">{t("requests")}</th>
        <th scope="col" className={classes.right}>
          {t("priority")}
        </th>
        <th scope="col" className={classes.right}>
          {t("attempts")}
        </th>
        <th scope="col" className={classes.right}>
          {t("since")}
        </th>
      </tr>
    </thead>
  );
}

function Row({ run, pod, now, index }: { run: string; pod: Card; now: number; index: number }) {
  const queue = queueOf(pod);
  return (
    <tr aria-rowindex={index + 2}>
      <th scope="row">
        <Link
          to="/runs/$run/pods/$namespace/$name"
          params={{ run, namespace: pod.namespace, name: pod.name }}
          className={classes.pod}
        >
          <PodName pod={pod} />
        </Link>
      </th>
      <td>{pod.namespace}</td>
      <td>
        {queue === null ? (
          placeWord(pod)
        ) : (
          <span className={`${classes.state} st-${queue}`}>
            <Icon name={queue} size={13} />
            {STATES[queue].title}
          </span>
        )}
      </td>
      <td>
        <Why pod={pod} now={now} />
      </td>
      <td className="num">{requestText(pod.requests)}</td>
      <td className={`${classes.right} num`} title={count(pod.priority)}>
        {shortPriority(pod.priority)}
      </td>
      <td className={`${classes.right} num`}>{count(pod.attempts)}</td>
      <td className={`${classes.right} num`} title={pod.since === null ? undefined : exact(pod.since)}>
        {pod.since === null ? "" : age(now - Date.parse(pod.since))}
      </td>
    </tr>
  );
}

function Why({ pod, now }: { pod: Card; now: number }) {
  if (pod.rejectors !== undefined && pod.rejectors.length > 0) return <RejectChips rejectors={pod.rejectors} />;
  if (pod.gate) return <span className="mono">{pod.gate}</span>;
  if (pod.until)
    return <span className="num">{t("againIn", { countdown: countdown(Date.parse(pod.until) - now) })}</span>;
  return <span className="mono">{pod.node ?? ""}</span>;
}
