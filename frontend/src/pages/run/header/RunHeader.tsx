/** The two lines above the timeline: what runs and where it came from, its pace, its clock, breakpoints, fork and menu. */
import { Link } from "@tanstack/react-router";
import { memo, Suspense, useEffect, useRef, useState } from "react";

import { type Run, STATE_KEYS } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button, IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { ForkBadge } from "@/components/runs/ForkBadge";
import { Segmented } from "@/components/Segmented";
import { useTick } from "@/components/useTick";
import { exact, runTime, sinceDay } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";
import { later } from "@/parts/later";
import { Breakpoints } from "@/rewind/Breakpoints";
import type { Forker } from "@/rewind/useFork";

import { t } from "../texts";
import type { Commander } from "../useCommand";
import { Following } from "./Following";
import { SPEEDS, speedOf } from "./pace";
import classes from "./RunHeader.module.css";
import { StillToCome } from "./StillToCome";
import { canMove, Transport } from "./Transport";

const RunMenu = later(() => import("./RunMenu"));

interface RunHeaderProps {
  run: Run;
  view: RunView;
  commander: Commander;
  /** May change the run that is on screen. */
  operates: boolean;
  forker: Forker | null;
  me: string | undefined;
  /** As the table of nodes has it: the run's own number is that of its start. */
  nodes: number;
}

export const RunHeader = memo(function RunHeader({
  run,
  view,
  commander,
  operates,
  forker,
  me,
  nodes,
}: RunHeaderProps) {
  const [menu, setMenu] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // The item or the drawer that had the focus is gone with the menu.
    if (wasOpen.current && !menu && document.activeElement === document.body) opener.current?.focus();
    wasOpen.current = menu;
  }, [menu]);
  const { visits } = useMe();
  const { configuration } = run;
  const pods = STATE_KEYS.reduce((sum, key) => sum + run.counts[key], 0);
  const facts = t("nodesStartedBy", {
    count: nodes,
    pods: t("nPods", { count: pods }),
    replace: sinceDay(run.started_at, view.receivedAt),
    which: run.started_by === me ? t("you") : run.started_by,
  });
  return (
    <header className={classes.bar}>
      <div className={classes.title}>
        <div className={classes.names}>
          <h1 className="clip" title={`${run.snapshot.name}\n${facts}`}>
            {run.snapshot.name}
          </h1>
          <span className="faint hidePhone">{t("with")}</span>
          {visits ? (
            <span className="clip" title={configuration.name}>
              {configuration.name}
            </span>
          ) : (
            <Link
              to="/configurations/$configuration"
              params={{ configuration: configuration.id }}
              search={configuration.builtin ? {} : { version: configuration.version }}
              className={`${classes.configuration} leads clip`}
              title={configuration.name}
            >
              {configuration.name}
            </Link>
          )}
          <Chip>{configuration.builtin ? t("builtInChip") : `v${configuration.version}`}</Chip>
        </div>
        {run.parent === null ? (
          <p
            className="faint clip"
            title={t("numberStartedStartedat", { number: run.number, startedat: exact(run.started_at) })}
          >
            {facts}
          </p>
        ) : (
          <div className={classes.origin}>
            <ForkBadge run={run} className={classes.fork} />
            <StillToCome run={run} />
          </div>
        )}
      </div>
      <div className={run.follows === "" ? classes.transport : classes.following}>
        {run.follows === "" ? (
          <Transport run={run} commander={commander} operates={operates} />
        ) : (
          <Following run={run} commander={commander} operates={operates} />
        )}
      </div>
      {run.follows !== "" ? null : (
        <Segmented
          label={t("speed")}
          className={`${classes.speed ?? ""} hidePhone`}
          value={String(run.clock.speed)}
          options={SPEEDS}
          disabled={!operates || !canMove(run)}
          onChange={(value) => void commander.send({ type: "set_speed", speed: speedOf(value) })}
        />
      )}
      <span className={`${classes.gap} grow`} />
      <Clock view={view} run={run} />
      {visits ? null : (
        <div className={classes.acts}>
          {run.follows === "" ? (
            <Breakpoints run={run} operates={operates && canMove(run)} send={commander.send} />
          ) : null}
          {forker === null ? null : <Fork run={run} forker={forker} />}
        </div>
      )}
      <div className={classes.menu}>
        {menu ? (
          <Suspense fallback={<IconButton icon="more" label={t("more")} />}>
            <RunMenu run={run} commander={commander} operates={operates} onClosed={() => setMenu(false)} />
          </Suspense>
        ) : (
          <IconButton
            ref={opener}
            icon="more"
            label={t("morePodsNodesConfigurationStop")}
            aria-haspopup="menu"
            onClick={() => setMenu(true)}
          />
        )}
      </div>
    </header>
  );
});

/** At "now" and on a moment alike. */
function Fork({ run, forker }: { run: Run; forker: Forker }) {
  const { operates } = useMe();
  useKeys(
    operates
      ? [
          {
            keys: "f",
            label: t("forkHere"),
            group: t("run"),
            run: () => {
              if (!forker.busy) forker.fork();
            },
          },
        ]
      : [],
  );
  const where = run.moment === null ? t("forkNow") : t("forkAt", { position: run.position });
  return (
    <Button
      icon="fork"
      sends
      className={classes.forkButton}
      disabled={!operates || forker.busy}
      title={operates ? where : t("yourRoleCannotChange")}
      hint="f"
      onClick={() => forker.fork()}
    >
      <span className="wordHidden">{t("fork")}</span>
    </Button>
  );
}

/** The run's clock. A virtual one moves with the engine's messages, a real one by itself; on a moment it tells that moment. */
function Clock({ view, run }: { view: RunView; run: Run }) {
  const wall = useTick(run.clock.mode === "real");
  const now = new Date(runNow(view, wall)).toISOString();
  const isThen = run.moment !== null;
  const kind = run.clock.mode === "real" ? t("realTime") : t("virtualTime");
  return (
    <div
      className={classes.clock}
      data-then={isThen}
      title={`${kind}: ${t("startedAt", { now: exact(now), runTime: runTime(run.clock.start) })}\n${t("seedExplained", { seed: run.seed })}\n${t("extensionPointsSoFar", { points: run.points })}`}
    >
      <b className="num">{isThen ? t("thenTime", { time: runTime(now) }) : runTime(now)}</b>
      <span className="faint num">{t("seedAttempts", { seed: run.seed, attempts: run.attempts })}</span>
    </div>
  );
}
