/** A run, live: pace at the top, the seven queues, the nodes, and beside them what happened or what is selected. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, startTransition, Suspense, useCallback, useDeferredValue, useEffect, useState } from "react";

import type { ApiError } from "@/api/client";
import { podSummaryQuery, selectionQuery } from "@/api/queries";
import { type Card, type Run, STATE_KEYS, type StateKey } from "@/api/types";
import { useMe } from "@/api/useMe";
import { queryClient } from "@/app/queryClient";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { Page } from "@/components/Panel";
import { queueOf, STATES } from "@/components/states";
import { useKeys } from "@/keys/useKeys";
import type { RunStore, RunView } from "@/live/runStore";
import { useFeed, useNodes, useRefusal, useRunStore, useRunView } from "@/live/useLive";
import { later } from "@/parts/later";
import { isMoment, runOf } from "@/rewind/moment";
import { Timeline } from "@/rewind/Timeline";
import { type Forker, useFork } from "@/rewind/useFork";
import { useTitle } from "@/shell/useTitle";

import { QueueBoard } from "./board/QueueBoard";
import { BoardAddressContext, useBoardAddress } from "./boardAddress";
import { CycleStrip } from "./cycle/CycleStrip";
import { RunHeader } from "./header/RunHeader";
import { isPlaying } from "./header/Transport";
import { NodesPanel } from "./nodes/NodesPanel";
import classes from "./RunPage.module.css";
import { Inspector, splitPod } from "./side/Inspector";
import { NodeInspector } from "./side/NodeInspector";
import { RunSide } from "./side/RunSide";
import { t } from "./texts";
import { type Commander, useCommand } from "./useCommand";

const RunDialog = later(async () => ({ default: (await import("./dialog/RunDialog")).RunDialog }));
const ForkDialog = later(() => import("@/rewind/ForkDialog"));
const route = getRouteApi("/runs/$run");

/** A step that is still being made is waited for with the one before it on screen. */
export function RunPage() {
  const { run: id } = route.useParams();
  const wanted = useRunStore(id);
  const view = useRunView(wanted);
  const [shown, setShown] = useState(wanted);
  const { visits, operates } = useMe();
  const forker = useFork(id, view.run?.follows ?? "");
  const away = useRefusal() !== null || (view.error !== null && noAnswer(view.error));
  // What the server did not answer it may answer yet: the board that is there stays meanwhile.
  const isReady = view.run !== null || (view.status === "failed" && !away) || runOf(shown.run) !== runOf(id);
  if (isReady && shown !== wanted) setShown(wanted);
  const reading = shown !== wanted;
  const timeline = visits ? null : (
    <Timeline
      key={runOf(id)}
      runKey={id}
      position={view.run?.position ?? null}
      kept={keptFrom(view)}
      playing={view.run !== null && isPlaying(view.run)}
      forkedAt={view.run?.parent?.position ?? null}
      reading={reading}
      onFork={operates ? forker.fork : undefined}
    />
  );
  return (
    <div className={classes.page} aria-busy={reading}>
      <Content
        store={shown}
        timeline={timeline}
        forker={visits ? null : forker}
        held={reading && away ? () => void wanted.load() : undefined}
      />
      <Suspense fallback={null}>
        {forker.asked === null ? null : (
          <ForkDialog
            run={runOf(id)}
            cluster={view.run?.follows ?? ""}
            step={forker.asked.step}
            onClose={forker.forget}
          />
        )}
      </Suspense>
    </div>
  );
}

interface ContentProps {
  store: RunStore;
  timeline: ReactNode;
  forker: Forker | null;
  /** The moment that was asked for cannot be had now; asks again. */
  held: (() => void) | undefined;
}

/** Nobody there, or nobody behind who is there. */
const noAnswer = ({ status }: ApiError) => status === 0 || (status >= 502 && status <= 504);

/** Said with the run, or where a step before it is refused. */
function keptFrom({ run, error }: RunView): number {
  const thinned = run === null ? (error?.body.thinned as Run["thinned"] | undefined) : run.thinned;
  return thinned?.position ?? 0;
}

function Content({ store, timeline, forker, held }: ContentProps) {
  const { visits } = useMe();
  const view = useRunView(store);
  useTitle(view.run === null ? t("run") : t("nameRun2", { name: view.run.snapshot.name }));
  if (view.run !== null && view.columns !== null && isSettingUp(view.run))
    return (
      <Page className={classes.alone ?? ""}>
        <Outlines count={5} height={64} label={t("settingTheRunUp")} />
      </Page>
    );
  if (view.run !== null && view.columns !== null)
    return (
      <Board
        store={store}
        view={view}
        run={view.run}
        columns={view.columns}
        timeline={timeline}
        forker={forker}
        held={held}
      />
    );
  if (view.status === "failed") {
    const missing = view.error?.status === 404;
    const deleted = view.error?.body.code === "deleted";
    const gone = view.error?.body.code === "thinned";
    return (
      <>
        {missing ? null : timeline}
        <Page className={classes.alone ?? ""}>
          <Failed
            alone
            what={
              deleted
                ? t("thisRunWasDeleted")
                : missing
                  ? t("thisRunDoesNotExist")
                  : gone
                    ? t("thisStepIsGone")
                    : t("theRunCouldNotBe")
            }
            error={missing && !deleted ? null : view.error}
            {...((missing && !deleted) || gone ? {} : { retry: () => void store.load() })}
          />
          {gone ? (
            <Link to="/runs/$run" params={{ run: runOf(store.run) }} className="leads">
              {t("backToNow")}
            </Link>
          ) : visits ? null : (
            <Link to={deleted ? "/deleted" : "/runs"} className="leads">
              {deleted ? t("recentlyDeleted") : t("allRuns")}
            </Link>
          )}
        </Page>
      </>
    );
  }
  return (
    <Page className={classes.alone ?? ""}>
      <Outlines count={5} height={64} label={t("readingTheRun")} />
    </Page>
  );
}

/** No engine has it yet, so its pods and nodes are not counted: an empty board would be a lie. */
function isSettingUp(run: Run): boolean {
  return (
    run.state === "created" &&
    run.worker.state === "idle" &&
    run.nodes === 0 &&
    STATE_KEYS.every((key) => run.counts[key] === 0)
  );
}

interface BoardProps extends ContentProps {
  view: RunView;
  run: Run;
  columns: NonNullable<RunView["columns"]>;
}

function Board({ store, view, run, columns, timeline, forker, held: askAgain }: BoardProps) {
  const { pod, node, queue, side } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const nodes = useNodes(store);
  const feed = useFeed(store);
  const { me, operates: mayOperate } = useMe();
  const operates = mayOperate && run.moment === null;
  const commander = useCommand(run.id);
  const [held, setHeld] = useState(false);
  const [pointed, setPointed] = useState(NOTHING);
  const [adding, setAdding] = useState(false);
  const phoneQueue = queue ?? firstWorthSeeing(columns);

  const address = useBoardAddress();
  const target = pod === undefined ? null : splitPod(pod);
  // The first picture after a click has the marked card and an empty inspector; what is known of the pod comes with the next.
  const settled = useDeferredValue(pod) === pod;
  const selection = useQuery({
    ...selectionQuery(run.id, target?.namespace ?? "", target?.name ?? ""),
    enabled: target !== null && settled,
  });
  const detail = useQuery({
    ...podSummaryQuery(run.id, target?.namespace ?? "", target?.name ?? ""),
    enabled: target !== null && settled,
  });
  const chosen = pod === undefined ? null : (selection.data ?? null);
  useRefreshSelected(run.id, pod, node, view.seq);

  // What is ringed may come a picture late: a click comes with pointing, and its answer goes first.
  const pointCard = useCallback(
    (card: Card | null) => startTransition(() => setPointed(pointing(card?.node ?? null, true))),
    [],
  );
  const pointNode = useCallback((name: string | null) => startTransition(() => setPointed(pointing(name, false))), []);
  const setQueue = useCallback(
    (next: StateKey) => void navigate({ search: (old) => ({ ...old, queue: next }), replace: true }),
    [navigate],
  );
  const add = useCallback(() => setAdding(true), []);
  const reload = useCallback(() => void store.load(), [store]);
  const tryAgain = useCallback(() => void commander.send({ type: "try_again" }), [commander]);
  const deselect = () =>
    void navigate({ search: (old) => ({ ...old, pod: undefined, node: undefined }), replace: true });
  useBoardKeys({ run, commander, operates, held, setHeld, setQueue });

  return (
    <BoardAddressContext value={address}>
      <RunHeader
        run={run}
        view={view}
        commander={commander}
        operates={operates}
        forker={forker}
        me={me?.username}
        nodes={nodes.table?.count ?? run.nodes}
      />
      {timeline}
      <CycleStrip
        run={run}
        view={view}
        cycle={view.cycle}
        onReload={askAgain ?? reload}
        onTryAgain={operates ? tryAgain : null}
        held={askAgain !== undefined}
      />
      <QueueBoard
        run={run}
        view={view}
        cycle={view.cycle}
        columns={columns}
        selected={pod}
        pointedNode={pointed.byCard ? null : pointed.node}
        queue={phoneQueue}
        held={held}
        onQueue={setQueue}
        onPoint={pointCard}
      />
      <div className={classes.low}>
        <NodesPanel
          run={run.id}
          store={store}
          nodes={nodes}
          selection={chosen}
          chosenState={detail.data === undefined ? undefined : (queueOf(detail.data) ?? undefined)}
          ringed={pointed.byCard ? pointed.node : null}
          operates={operates}
          onPoint={pointNode}
          onAdd={add}
        />
        <RunSide
          run={run}
          store={store}
          feed={feed}
          cycle={view.cycle}
          table={nodes.table}
          preemptions={side === "preemptions"}
          onTryAgain={operates ? tryAgain : null}
          held={held}
          onHold={setHeld}
          selected={
            pod !== undefined && target !== null
              ? {
                  key: pod,
                  word: t("pod"),
                  name: target.name,
                  close: deselect,
                  content: (
                    <Inspector
                      key={pod}
                      run={run}
                      view={view}
                      pod={pod}
                      settled={settled}
                      selection={chosen}
                      table={nodes.table}
                      commander={commander}
                      operates={operates}
                    />
                  ),
                }
              : node !== undefined
                ? {
                    key: node,
                    word: t("node"),
                    name: node,
                    close: deselect,
                    content: (
                      <NodeInspector key={node} run={run} node={node} commander={commander} operates={operates} />
                    ),
                  }
                : null
          }
        />
      </div>
      {held ? (
        <Button size="sm" className={`${classes.heldNote ?? ""} hidePhone`} hint="h" onClick={() => setHeld(false)}>
          {t("orderHeldGoOn")}
        </Button>
      ) : null}
      <Suspense fallback={null}>
        {adding ? <RunDialog kind="node_add" run={run} commander={commander} onClose={() => setAdding(false)} /> : null}
      </Suspense>
    </BoardAddressContext>
  );
}

interface BoardKeys {
  run: Run;
  commander: Commander;
  operates: boolean;
  held: boolean;
  setHeld: (held: boolean) => void;
  setQueue: (queue: StateKey) => void;
}

function useBoardKeys({ run, commander, operates, held, setHeld, setQueue }: BoardKeys): void {
  const { pod, node } = route.useSearch();
  const { run: key } = route.useParams();
  const navigate = useNavigate({ from: "/runs/$run" });
  const focusQueue = (next: StateKey) => {
    setQueue(next);
    const column = document.querySelector(`[data-column="${next}"]`);
    // The first card, from which j and k go on; of an empty queue its count.
    (column?.querySelector<HTMLElement>("[data-card]") ?? column?.querySelector("a"))?.focus();
  };
  const playing = isPlaying(run);
  const step = (what: "cycle" | "point") => void commander.send({ type: "step", what });
  useKeys([
    ...(operates && run.follows === ""
      ? [
          {
            keys: "p",
            label: playing ? t("pause") : t("play"),
            group: t("run"),
            run: () => void commander.send({ type: playing ? "pause" : "play" }),
          },
          {
            keys: "s",
            label: t("oneSchedulingCycle"),
            group: t("run"),
            run: () => {
              if (!playing) step("cycle");
            },
          },
          {
            keys: "x",
            label: t("oneExtensionPoint"),
            group: t("run"),
            run: () => {
              if (!playing) step("point");
            },
          },
        ]
      : []),
    ...(isMoment(key) && pod === undefined && node === undefined
      ? [
          {
            keys: "Escape",
            label: t("backToNow"),
            group: t("run"),
            run: () => void navigate({ params: { run: runOf(key) }, search: (old) => old }),
          },
        ]
      : []),
    {
      keys: "h",
      label: held ? t("letListsMoveAgain") : t("holdTheOrderOfLists"),
      group: t("run"),
      run: () => setHeld(!held),
    },
    ...STATE_KEYS.map((key, index) => ({
      keys: String(index + 1),
      label: STATES[key].title,
      group: t("focusAQueue"),
      run: () => focusQueue(key),
    })),
    { keys: "j", label: t("nextCard"), group: t("run"), run: () => moveFocus(1) },
    { keys: "k", label: t("previousCard"), group: t("run"), run: () => moveFocus(-1) },
  ]);
}

interface Pointed {
  node: string | null;
  byCard: boolean;
}

const NOTHING: Pointed = { node: null, byCard: false };

function pointing(node: string | null, byCard: boolean): Pointed {
  return node === null ? NOTHING : { node, byCard };
}

/** A phone opens on the queue where somebody is needed, else on the first that has pods. */
function firstWorthSeeing(columns: BoardProps["columns"]): StateKey {
  const order: readonly StateKey[] = ["waiting", "unschedulable", "active", "in_flight", "backoff", "bound", "gated"];
  return order.find((key) => columns[key].count > 0) ?? "active";
}

/** The selected pod or node is read again when the run has moved on, at most once a second. */
function useRefreshSelected(run: string, pod: string | undefined, node: string | undefined, seq: number): void {
  const turn = Math.floor(seq / 4);
  useEffect(() => {
    if (pod === undefined && node === undefined) return undefined;
    const timer = window.setTimeout(() => {
      for (const kind of ["pod", "selection", "node"]) {
        void queryClient.invalidateQueries({ queryKey: ["run", run, kind] }, { cancelRefetch: false });
      }
    }, 400);
    return () => window.clearTimeout(timer);
  }, [run, pod, node, turn]);
}

function moveFocus(by: 1 | -1): void {
  const cards = [...document.querySelectorAll<HTMLElement>("[data-card]")].filter((card) => card.offsetParent !== null);
  const at = cards.findIndex((card) => card === document.activeElement || card.dataset.selected === "true");
  cards[at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + by))]?.focus();
}
