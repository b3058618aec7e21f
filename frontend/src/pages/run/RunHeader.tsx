import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { type Run, type Speed, STATE_KEYS } from "@/api/types";
import { IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { RunStateWord } from "@/components/runs/RunsTable";
import { Segmented } from "@/components/Segmented";
import { useTick } from "@/components/useTick";
import { count, counted } from "@/format/number";
import { day, exact, runTime } from "@/format/time";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";

import { Breakpoints } from "@/rewind/Breakpoints";

import classes from "./RunHeader.module.css";
import { canMove, isPlaying, Transport } from "./Transport";
import type { Commander } from "./useCommand";

const RunMenu = lazy(() => import("./RunMenu"));

const SPEEDS: readonly { value: string; label: string; speed: Speed; title: string }[] = [
  { value: "one", label: "1 by 1", speed: "one", title: "One cycle a second" },
  { value: "10", label: "10/s", speed: 10, title: "10 cycles a second" },
  { value: "100", label: "100/s", speed: 100, title: "100 cycles a second" },
  { value: "max", label: "Max", speed: "max", title: "As fast as possible" },
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

export function RunHeader({ run, view, commander, operates, me, nodes }: RunHeaderProps) {
  const [menu, setMenu] = useState(false);
  const { configuration } = run;
  return (
    <header className={classes.bar}>
      <div className={classes.title}>
        <div className={classes.names}>
          <h1 className="clip" title={run.snapshot.name}>{run.snapshot.name}</h1>
          <span className="faint">with</span>
          <Link to="/configurations/$configuration" params={{ configuration: configuration.id }}
            search={configuration.builtin ? {} : { version: configuration.version }} className="leads clip">{configuration.name}</Link>
          <Chip>{configuration.builtin ? "built-in" : `v${configuration.version}`}</Chip>
        </div>
        <p className="faint hidePhone clip" title={`${run.number}, started ${exact(run.started_at)}`}>
          {counted(nodes, "node")} · {counted(STATE_KEYS.reduce((sum, key) => sum + run.counts[key], 0), "pod")} · started {day(run.started_at, view.receivedAt, true).replace(" today", "")} by {run.started_by === me ? "you" : run.started_by}
          <ForkOf run={run} />
        </p>
      </div>
      <div className="hidePhone"><Transport run={run} commander={commander} operates={operates} keys /></div>
      <span className={`${classes.state} hidePhone`}><RunStateWord state={run.state} />{view.rate !== null && view.rate > 0 && isPlaying(run) ? <span className={`${classes.rate} faint num`}>{count(view.rate)}/s</span> : null}</span>
      <Segmented label="Speed" className={`${classes.speed ?? ""} hidePhone`} value={String(run.clock.speed)} options={SPEEDS} disabled={!operates || !canMove(run)}
        onChange={(value) => void commander.send({ type: "set_speed", speed: SPEEDS.find((one) => one.value === value)?.speed ?? "one" })} />
      <span className="grow" />
      <Clock view={view} run={run} />
      <Fact name="Seed" value={String(run.seed)} title="Chooses among nodes with equal scores" />
      <Fact name="Attempts" value={count(run.attempts)} title={`${count(run.points)} extension points so far`} />
      <Breakpoints run={run} operates={operates && canMove(run)} send={commander.send} />
      <div className={classes.menu}>
        {menu
          ? (
            <Suspense fallback={<IconButton icon="more" label="More" />}>
              <RunMenu run={run} commander={commander} operates={operates} onClosed={() => setMenu(false)} />
            </Suspense>
          )
          : <IconButton icon="more" label="More: pods, nodes, configuration, stop" aria-haspopup="menu" onClick={() => setMenu(true)} />}
      </div>
    </header>
  );
}

/** Of a fork: where it came from, with a link to that moment. */
function ForkOf({ run }: { run: Run }) {
  if (run.parent === null) return null;
  const { id, number, position } = run.parent;
  const where = `${number} at step ${count(position)}`;
  return <>{" · fork of "}{id === null ? `${where}, deleted since` : <Link to="/runs/$run" params={{ run: id }} className="leads">{where}</Link>}</>;
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
    <div className={`${classes.fact} hidePhone`} title={`${exact(now)}, started at ${runTime(run.clock.start)}`}>
      <span className="faint">{run.clock.mode === "real" ? "Real time" : "Virtual time"}</span>
      <b className="num">{runTime(now)}</b>
    </div>
  );
}

/** Said across the page: a lost worker, a failed run, a clock that waits for a person. */
export function RunNotices({ run }: { run: Run }) {
  if (run.state === "failed") {
    return <p className={classes.notice} data-tone="bad" role="alert">The run stopped at cycle {count(run.attempts)}: {run.error ?? "the engine failed"}.</p>;
  }
  // A paused run needs no worker: the next command brings one.
  const working = run.worker.state === "taking_over" || (run.worker.state === "lost" && isPlaying(run));
  if (working && canMove(run)) {
    const since = run.worker.since ? ` at ${runTime(run.worker.since, false)}` : "";
    return <p className={classes.notice} data-tone="warn" role="status">Worker lost{since}, another takes over from cycle {count(run.attempts)}.</p>;
  }
  if (run.state === "waiting_for_person") {
    return (
      <p className={classes.notice} data-tone="plain" role="status">
        The clock waits for a person: nothing else is left to do before a wait runs out.{" "}
        <Link to="/waiting" search={{ run: run.id }} className="leads">Decide in the inbox</Link>
      </p>
    );
  }
  return null;
}
