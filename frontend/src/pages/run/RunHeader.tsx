import { Link } from "@tanstack/react-router";
import { lazy, memo, Suspense, useState } from "react";

import { type Run, type Speed, STATE_KEYS } from "@/api/types";
import { useMe } from "@/api/useMe";
import { IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { RunStateWord } from "@/components/runs/RunsTable";
import { Segmented } from "@/components/Segmented";
import { useTick } from "@/components/useTick";
import { count } from "@/format/number";
import { exact, runTime, sinceDay } from "@/format/time";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";

import { Breakpoints } from "@/rewind/Breakpoints";

import classes from "./RunHeader.module.css";
import { StillBeingWritten } from "./StillBeingWritten";
import { t } from "./texts";
import { canMove, isPlaying, Transport } from "./Transport";
import type { Commander } from "./useCommand";

const RunMenu = lazy(() => import("./RunMenu"));

const SPEEDS: readonly { value: string; label: string; speed: Speed; title: string }[] = [
  { value: "one", get label() { return t("1By1"); }, speed: "one", get title() { return t("oneCycleASecond"); } },
  { value: "10", get label() { return t("10ASecond"); }, speed: 10, get title() { return t("10CyclesASecond"); } },
  { value: "100", get label() { return t("100ASecond"); }, speed: 100, get title() { return t("100CyclesASecond"); } },
  { value: "max", get label() { return t("max"); }, speed: "max", get title() { return t("asFastAsPossible"); } },
];

interface RunHeaderProps {
  run: Run;
  view: RunView;
  commander: Commander;
  operates: boolean;
  me: string | undefined;
  /** As the table of nodes has it: the run's own number is that of its start. */
  nodes: number;
}

export const RunHeader = memo(function RunHeader({ run, view, commander, operates, me, nodes }: RunHeaderProps) {
  const [menu, setMenu] = useState(false);
  const { me: reader, visits } = useMe();
  const { configuration } = run;
  return (
    <header className={classes.bar}>
      <div className={classes.title}>
        <div className={classes.names}>
          <h1 className="clip" title={run.snapshot.name}>{run.snapshot.name}</h1>
          <span className="faint">{t("with")}</span>
          {visits ? <span className="clip" title={configuration.name}>{configuration.name}</span> : (
            <Link to="/configurations/$configuration" params={{ configuration: configuration.id }}
              search={configuration.builtin ? {} : { version: configuration.version }} className="leads clip" title={configuration.name}>{configuration.name}</Link>
          )}
          <Chip>{configuration.builtin ? t("builtIn2") : `v${configuration.version}`}</Chip>
        </div>
        <p className="faint hidePhone clip" title={t("numberStartedStartedat", { number: run.number, startedat: exact(run.started_at) })}>
          {t("nodesStartedBy", { count: nodes, pods: t("nPods", { count: STATE_KEYS.reduce((sum, key) => sum + run.counts[key], 0) }), replace: sinceDay(run.started_at, view.receivedAt), which: run.started_by === me ? t("you") : run.started_by })}
          <ForkOf run={run} opens={(parent) => !visits || reader?.shared.some((one) => one.run === parent) === true} />
        </p>
      </div>
      <div className="hidePhone"><Transport run={run} commander={commander} operates={operates} keys /></div>
      <span className={`${classes.state} hidePhone`}><RunStateWord state={run.state} />{view.rate !== null && view.rate > 0 && isPlaying(run) ? <span className={`${classes.rate} faint num`}>{t("rateS", { rate: view.rate })}</span> : null}</span>
      <Segmented label={t("speed")} className={`${classes.speed ?? ""} hidePhone`} value={String(run.clock.speed)} options={SPEEDS} disabled={!operates || !canMove(run)}
        onChange={(value) => void commander.send({ type: "set_speed", speed: SPEEDS.find((one) => one.value === value)?.speed ?? "one" })} />
      <span className="grow" />
      <Clock view={view} run={run} />
      <Fact name={t("seed")} value={String(run.seed)} title={t("choosesAmongNodesWithEqual2")} />
      <Fact name={t("attempts")} value={count(run.attempts)} title={t("extensionPointsSoFar", { points: run.points })} />
      {visits ? null : <Breakpoints run={run} operates={operates && canMove(run)} send={commander.send} />}
      <div className={classes.menu}>
        {menu
          ? (
            <Suspense fallback={<IconButton icon="more" label={t("more")} />}>
              <RunMenu run={run} commander={commander} operates={operates} onClosed={() => setMenu(false)} />
            </Suspense>
          )
          : <IconButton icon="more" label={t("morePodsNodesConfigurationStop")} aria-haspopup="menu" onClick={() => setMenu(true)} />}
      </div>
    </header>
  );
});

/** Of a fork: where it came from, with a link to that moment. */
function ForkOf({ run, opens }: { run: Run; opens: (parent: string) => boolean }) {
  if (run.parent === null) return null;
  const { id, number, position } = run.parent;
  const where = t("atStep", { number, position });
  return <>{t("forkOf")}{id === null ? t("deletedSince", { where }) : !opens(id) ? where : <Link to="/runs/$run" params={{ run: id }} className="leads">{where}</Link>}</>;
}

function Fact({ name, value, title }: { name: string; value: string; title: string }) {
  return <div className={`${classes.fact} hidePhone`} title={title}><span className="faint">{name}</span><b className="num">{value}</b></div>;
}

/** The run's clock. A virtual one moves with the engine's messages, a real one by itself. */
export function Clock({ view, run, short = false }: { view: RunView; run: Run; short?: boolean }) {
  const wall = useTick(run.clock.mode === "real");
  const now = new Date(runNow(view, wall)).toISOString();
  if (short) return <b className="num" title={exact(now)}>{runTime(now, false)}</b>;
  return (
    <div className={`${classes.fact} hidePhone`} title={t("startedAt", { now: exact(now), runTime: runTime(run.clock.start) })}>
      <span className="faint">{run.clock.mode === "real" ? t("realTime") : t("virtualTime")}</span>
      <b className="num">{runTime(now)}</b>
    </div>
  );
}

/** Said across the page: a lost worker, a failed run, a clock that waits for a person. */
export function RunNotices({ run }: { run: Run }) {
  const { visits } = useMe();
  if (run.state === "failed") {
    return <p className={classes.notice} data-tone="bad" role="alert">{t("theRunStoppedAtCycle", { attempts: run.attempts, error: run.error ?? t("theEngineFailed") })}</p>;
  }
  // A paused run needs no worker: the next command brings one.
  const working = run.worker.state === "taking_over" || (run.worker.state === "lost" && isPlaying(run));
  if (working && canMove(run)) {
    const since = run.worker.since ? t("atRunTime", { runTime: runTime(run.worker.since, false) }) : "";
    return <p className={classes.notice} data-tone="warn" role="status">{t("workerLostAnotherTakesOver", { since, attempts: run.attempts })}</p>;
  }
  if (run.state === "waiting_for_person") {
    return (
      <p className={classes.notice} data-tone="plain" role="status">
        {t("theClockWaitsForA")}
        {visits ? null : <>{" "}<Link to="/waiting" search={{ run: run.id }} className="leads">{t("decideInTheInbox")}</Link></>}
      </p>
    );
  }
  return <StillBeingWritten unwritten={run.unwritten} className={classes.notice ?? ""} />;
}
