/** The inbox: pods that wait on Permit, decided singly or together, and what was decided before. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";

import { useMe } from "@/api/useMe";
import { WAITING_LIMIT, waitingQuery } from "@/api/waitingQueries";
import type { WaitingKind, WaitingRow } from "@/api/waitingTypes";
import { Button, ButtonLink } from "@/components/Button";
import { Pill } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";
import { useTick } from "@/components/useTick";
import { approvals, usePendingApprovals } from "@/decisions/decide";
import type { ReasonRequest } from "@/decisions/ReasonDrawer";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { useKeys } from "@/keys/useKeys";
import { useConnection } from "@/live/useLive";
import { later } from "@/parts/later";
import { notify } from "@/shell/notify";
import { announce } from "@/shell/pageLive";
import { useTitle } from "@/shell/useTitle";

import { BulkBar } from "./BulkBar";
import { useRunClocks } from "./clocks";
import { DecidedPanel } from "./DecidedPanel";
import { groupsOf, keyOf, ordered, settle } from "./inbox";
import { InboxTable } from "./InboxTable";
import { rich, t } from "./texts";
import { useInside } from "./useInside";
import classes from "./WaitingPage.module.css";

const ReasonDrawer = later(() => import("@/decisions/ReasonDrawer"));
const route = getRouteApi("/waiting");
export function WaitingPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { operates } = useMe();
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

  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const marked = present.filter((row) => marks.has(keyOf(row)));
  const [cursor, setCursor] = useState<string | null>(null);
  const [asking, setAsking] = useState<ReasonRequest | null>(null);
  const page = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const can = operates;
  const runs = [...new Map((base.data?.rows ?? []).map((row) => [row.run, row])).values()];

  const mark = (targets: readonly WaitingRow[], on: boolean) =>
    setMarks((old) => {
      const next = new Set(old);
      for (const row of targets) {
        if (on) next.add(keyOf(row));
        else next.delete(keyOf(row));
      }
      return next;
    });
  const approve = (targets: readonly WaitingRow[]) => {
    const asks = targets.filter((row) => row.decidable);
    const first = targets[0];
    if (first === undefined) return;
    if (asks.length === 0) {
      notify({
        title: t("nobodyIsAsked"),
        text: t("goesOnByItselfTo", { map: listed(first.waiting_on.map((wait) => wait.plugin)) }),
      });
      return;
    }
    for (const run of new Set(asks.map((row) => row.run)))
      approvals.approve(
        run,
        asks.filter((row) => row.run === run),
      );
    setMarks(new Set());
  };
  const ask = (kind: ReasonRequest["kind"], targets: readonly WaitingRow[]) => {
    const first = targets[0];
    if (first === undefined) return;
    const pods = targets.map((row) => ({
      ...row,
      letsGo: (row.waiting_on.find((wait) => !wait.asks_person) ?? row.waiting_on[0])?.plugin,
    }));
    const plugins = new Set(
      targets.map(
        (row) =>
          (row.waiting_on.find((wait) => wait.asks_person === (kind !== "override")) ?? row.waiting_on[0])?.plugin,
      ),
    );
    setAsking({ kind, run: first.run, pods, plugin: plugins.size === 1 ? [...plugins][0] : undefined });
  };
  const keys = groups.flatMap((group) => [...(group.gang === null ? [] : [group.key]), ...group.rows.map(keyOf)]);
  const pointed = (): WaitingRow[] =>
    present.filter(
      (row) => keyOf(row) === cursor || groups.some((group) => group.key === cursor && group.rows.includes(row)),
    );
  const targets = (): WaitingRow[] => (marked.length > 0 ? marked : pointed());
  const move = (step: number) => {
    const visible = keys.filter((key) => key.startsWith("gang ") || rowElement(page.current, key) !== null);
    const at = cursor === null ? -1 : visible.indexOf(cursor);
    const next = visible[Math.max(0, Math.min(visible.length - 1, at + step))];
    if (next === undefined) return;
    setCursor(next);
    rowElement(page.current, next)?.scrollIntoView({ block: "nearest" });
  };
  useKeys([
    { keys: "j", label: t("nextPod"), group: t("decide"), run: () => move(1) },
    { keys: "k", label: t("previousPod"), group: t("decide"), run: () => move(-1) },
    {
      keys: "space",
      label: t("mark"),
      group: t("decide"),
      run: () => {
        const rowsAt = pointed();
        mark(rowsAt, !rowsAt.every((row) => marks.has(keyOf(row))));
      },
    },
    {
      keys: "Enter",
      label: t("openThePod"),
      group: t("decide"),
      run: () => {
        const row = pointed()[0];
        if (row !== undefined)
          void navigate({
            to: "/runs/$run/pods/$namespace/$name",
            params: { run: row.run, namespace: row.namespace, name: row.name },
          });
      },
    },
    { keys: "h", label: t("holdTheOrder"), group: t("decide"), run: () => setHold(!hold) },
    { keys: "/", label: t("filterTheInbox"), group: t("decide"), run: () => field.current?.focus() },
    ...(can
      ? [
          { keys: "a", label: t("approve"), group: t("decide"), run: () => approve(targets()) },
          {
            keys: "Alt+a",
            label: t("approveWithAReason"),
            group: t("decide"),
            run: () => {
              const asks = targets().filter((row) => row.decidable);
              if (asks.length > 0) ask("approve", asks);
            },
          },
          { keys: "r", label: t("rejectWithAReason"), group: t("decide"), run: () => ask("reject", targets()) },
        ]
      : []),
    ...(marked.length > 0
      ? [{ keys: "Escape", label: t("clearTheMarks"), group: t("decide"), run: () => setMarks(new Set()) }]
      : []),
  ]);
  useCountdownSpoken(present.find((row) => keyOf(row) === cursor) ?? null, nowOf);

  const filtered = search.q !== undefined || search.kind !== undefined;
  return (
    <Page className={classes.page} ref={page}>
      <header>
        <div className="row">
          <h1 className={classes.title}>{t("waitingOnPermit")}</h1>
          <Pill big title={t("podsWaitOnPermit", { count: total })}>
            {count(total)}
          </Pill>
          <span className="muted hidePhone">
            {runs.length === 0
              ? ""
              : runs.length === 1
                ? t("inSoonestTimeOutFirst", { runname: runs[0]?.run_name ?? "" })
                : t("inRunsSoonestTimeOut", { runs: runs.length })}
          </span>
          <span className="grow" />
          {fresh > 0 ? (
            <span className={classes.fresh} role="status">
              {t("freshNewWhich", { fresh, which: hold ? t("sinceYouHoldTheOrder") : t("whenYouLeaveTheList") })}
            </span>
          ) : null}
          <span className="hidePhone">
            <Button
              kind={hold ? "primary" : "ghost"}
              size="sm"
              icon="pause"
              hint="h"
              aria-pressed={hold}
              onClick={() => setHold(!hold)}
            >
              {hold ? t("orderHeld") : t("holdOrder")}
            </Button>
          </span>
        </div>
        <div className={classes.tools}>
          <Search
            field={field}
            value={search.q ?? ""}
            onChange={(q) =>
              void navigate({ search: (old) => ({ ...old, q: q === "" ? undefined : q }), replace: true })
            }
          />
          <Segmented<WaitingKind | "all">
            label={t("whichPods")}
            value={search.kind ?? "all"}
            className={classes.kinds ?? ""}
            onChange={(kind) =>
              void navigate({ search: (old) => ({ ...old, kind: kind === "all" ? undefined : kind }), replace: true })
            }
            options={[
              { value: "all", label: t("allTotal", { total }) },
              { value: "person", label: t("needsAPerson", { person: base.data?.person ?? 0 }) },
              { value: "gang", label: t("gangsGang", { gang: base.data?.gang ?? 0 }) },
            ]}
          />
          {runs.length > 1 || search.run !== undefined ? (
            <select
              className={classes.runs}
              aria-label={t("run")}
              value={search.run ?? ""}
              onChange={(event) =>
                void navigate({
                  search: (old) => ({ ...old, run: event.target.value === "" ? undefined : event.target.value }),
                  replace: true,
                })
              }
            >
              <option value="">{t("allRuns")}</option>
              {search.run !== undefined && runs.length === 0 ? (
                <option value={search.run}>{t("thisRun")}</option>
              ) : null}
              {runs.map((one) => (
                <option key={one.run} value={one.run}>
                  {one.run_number}, {one.run_name}
                </option>
              ))}
            </select>
          ) : null}
          <span className="grow" />
          <span className={`${classes.keys} faint hidePhone`} aria-hidden="true">
            <kbd>j</kbd>
            <kbd>k</kbd>{" "}
            {rich("moveSpaceMarkApproveReject", {
              kbd: (inside) => <kbd>{inside}</kbd>,
              kbd2: <kbd>a</kbd>,
              kbd3: <kbd>r</kbd>,
            })}
          </span>
        </div>
      </header>
      {stale ? <p className={classes.stale}>{t("whatYouSeeMayBe")}</p> : null}
      <Panel className={classes.list} aria-label={t("podsThatWaitOnPermit")} {...list.handlers}>
        {answer.data === undefined ? (
          answer.error === null ? (
            <Outlines count={5} height={44} label={t("readingWhoWaits")} />
          ) : (
            <Failed what={t("couldNotListWaitingPods")} error={answer.error} retry={() => void answer.refetch()} />
          )
        ) : rows.length === 0 ? (
          filtered ? (
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
              {t("noWaitingPodMatches", { which: search.q === undefined ? "" : ` “${search.q}”` })}
            </Empty>
          ) : search.run !== undefined ? (
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
          ) : (
            <Empty
              action={
                <ButtonLink size="sm" to="/configurations">
                  {t("addManualApprovalToAProfile")}
                </ButtonLink>
              }
            >
              {t("nobodyWaitsPodsAppearHere")}
            </Empty>
          )
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
          onClear={() => setMarks(new Set())}
          onReject={() => ask("reject", marked)}
          onApprove={() => approve(marked)}
        />
      ) : null}
      <Suspense fallback={null}>
        {asking === null ? null : (
          <ReasonDrawer request={asking} onClose={() => setAsking(null)} onDone={() => setMarks(new Set())} />
        )}
      </Suspense>
    </Page>
  );
}

function rowElement(page: HTMLElement | null, key: string): HTMLElement | null {
  return page?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
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

interface SearchProps {
  field: React.RefObject<HTMLInputElement | null>;
  value: string;
  onChange: (q: string) => void;
}

const TYPED = 250;

function Search({ field, value, onChange }: SearchProps) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = window.setTimeout(() => onChange(text.trim()), TYPED);
    return () => window.clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className={classes.search}>
      <Icon name="search" size={14} />
      <span className="srOnly">{t("filterWaitingPods")}</span>
      <input
        ref={field}
        type="search"
        value={text}
        placeholder={t("podLAppServeCart")}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd className="hidePhone" aria-hidden="true">
        /
      </kbd>
    </label>
  );
}
