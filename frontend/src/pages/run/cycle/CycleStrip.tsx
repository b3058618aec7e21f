/** The line under the timeline: how the run stands and why, and where its cycle is among the twelve extension points. */
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode, useEffect, useRef } from "react";

import type { Cycle, Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Asking } from "@/components/Asking";
import { PodName } from "@/components/Chip";
import { Icon, type IconName } from "@/components/Icon";
import { RunStateWord } from "@/components/runs/RunStateWord";
import { ScrollRegion } from "@/components/ScrollRegion";
import { both } from "@/format/lists";
import { runTime } from "@/format/time";
import type { RunView } from "@/live/runStore";

import { canMove, isPlaying } from "../header/Transport";
import { rich, t } from "../texts";
import classes from "./CycleStrip.module.css";

const POINTS = [
  "PreEnqueue",
  "QueueSort",
  "PreFilter",
  "Filter",
  "PostFilter",
  "PreScore",
  "Score",
  "Reserve",
  "Permit",
  "PreBind",
  "Bind",
  "PostBind",
];
const STATE_TEXTS = {
  get done() {
    return t("doneWith");
  },
  get skipped() {
    return t("skippedPoint");
  },
  get current() {
    return t("standsHere");
  },
  get next() {
    return t("toCome");
  },
} as const;

interface CycleStripProps {
  run: Run;
  view: RunView;
  cycle: Cycle | null;
  onReload: () => void;
  /** Of a parked run; null for who may not. */
  onTryAgain: (() => void) | null;
  /** Another moment was asked for, and the server does not answer. */
  held: boolean;
}

export const CycleStrip = memo(function CycleStrip(props: CycleStripProps) {
  const { view, cycle, held } = props;
  const points = cycle?.points ?? POINTS.map((point) => ({ point, state: "next" as const }));
  const list = useRef<HTMLOListElement>(null);
  const current = points.find((one) => one.state === "current")?.point;
  useEffect(() => {
    const { current: box } = list;
    const step = box?.querySelector<HTMLElement>("[aria-current=step]");
    // Where the points scroll, the current one stands in their middle; the page itself stays where it is.
    if (box !== null && step) box.scrollLeft = step.offsetLeft - (box.clientWidth - step.offsetWidth) / 2;
  }, [current]);
  return (
    <section
      className={classes.strip}
      data-cycle={cycle !== null}
      data-stuck={held || view.error !== null}
      aria-label={t("currentCycle")}
    >
      <Standing {...props} />
      <ScrollRegion as="ol" ref={list} className={classes.points} label={t("extensionPointsOfThisCycle")}>
        {points.map(({ point, state }) => (
          <li key={point} data-state={state} {...(state === "current" ? { "aria-current": "step" as const } : {})}>
            {state === "done" ? <Icon name="bound" size={11} /> : null}
            <span>{point}</span>
            <span className="srOnly">, {STATE_TEXTS[state]}</span>
          </li>
        ))}
      </ScrollRegion>
      <span className={`${classes.note} faint num hideNarrow`} title={cycle?.note}>
        {cycle?.filtered ? t("leftOf", { count: cycle.filtered.of, left: cycle.filtered.left }) : (cycle?.note ?? "")}
      </span>
    </section>
  );
});

interface StandingProps extends Omit<CycleStripProps, "cycle"> {
  cycle: Cycle | null;
}

/** One line whatever happens, whole in its title: news never moves the page. */
function Standing({ run, view, cycle, onReload, onTryAgain, held }: StandingProps) {
  const { visits } = useMe();
  if (held) {
    const text = t("noAnswerStillStep", { step: run.position });
    return (
      <Line icon="warning" tone="warn" alert word={text} title={text}>
        <button type="button" className="leads" onClick={onReload}>
          {t("tryAgain")}
        </button>
      </Line>
    );
  }
  if (view.error !== null) {
    return (
      <Line icon="warning" tone="bad" word={t("theBoardCouldNotBe")} title={view.error.message}>
        <button type="button" className="leads" onClick={onReload}>
          {t("tryAgain")}
        </button>
      </Line>
    );
  }
  if (run.moment !== null)
    return (
      <Line icon="backoff" word={t("asItWas")} title={t("commandsAreHeldHere")}>
        {t("commandsAreHeldHere")}
      </Line>
    );
  if (run.state === "parked") {
    const text = run.error ?? "";
    return (
      <Line icon="warning" tone="bad" alert word={t("parkedBecause", { why: text })} title={text}>
        {onTryAgain === null ? null : (
          <button type="button" className="leads" onClick={onTryAgain}>
            {t("tryAgain")}
          </button>
        )}
      </Line>
    );
  }
  // A paused run needs no worker: the next command brings one.
  const lost = run.worker.state === "taking_over" || (run.worker.state === "lost" && isPlaying(run));
  if (lost && canMove(run)) {
    const { attempts, worker } = run;
    const text = worker.since
      ? t("workerLostAt", { attempts, runTime: runTime(worker.since, false) })
      : t("workerLost", { attempts });
    return <Line icon="warning" tone="warn" word={text} title={text} />;
  }
  if (run.state === "waiting_for_person") {
    return (
      <Line icon="waiting" word={t("theClockWaits")} title={t("theClockWaitsForA")}>
        {visits ? null : run.counts.waiting > 0 ? (
          <Link to="/waiting" search={{ run: run.id }} className="leads">
            {t("decideInTheInbox")}
          </Link>
        ) : (
          <Link to="/runs/$run/pods" params={{ run: run.id }} search={{ column: "in_flight" }} className="leads">
            {t("podsThatWaitForDevices")}
          </Link>
        )}
      </Line>
    );
  }
  if (run.hit !== null) {
    const [namespace = "", name = ""] = run.hit.pod.split("/");
    const at = run.breakpoints.findIndex((one) => one.id === run.hit?.id) + 1;
    const where = (
      <Link to="/runs/$run/pods/$namespace/$name" params={{ run: run.id, namespace, name }} className="leads">
        {run.hit.text}
      </Link>
    );
    return (
      <Line icon="pause" word={t("paused")} title={t("pausedAtBreakpoint", { text: run.hit.text })}>
        {at > 0 ? rich("atBreakpoint", { at, where }) : rich("atABreakpoint", { where })}
      </Line>
    );
  }
  const word = <RunStateWord state={run.state} />;
  if (run.unwritten > 0)
    return (
      <Line word={word} title={t("stillBeingWritten", { count: run.unwritten })}>
        {t("recording", { count: run.unwritten })}
      </Line>
    );
  const asking = cycle?.asking;
  if (isPlaying(run)) {
    const rate =
      view.rate !== null && view.rate > 0 ? <span className="num">{t("rateS", { rate: view.rate })}</span> : null;
    return (
      <Line word={word} title={asking === undefined ? t("playing") : both(asking.extenders)}>
        {asking === undefined ? rate : <Asking asking={asking} otherwise={rate} />}
      </Line>
    );
  }
  if (!canMove(run))
    return (
      <Line word={word} title={t("nAttempts", { count: run.attempts })}>
        {t("nAttempts", { count: run.attempts })}
      </Line>
    );
  if (cycle === null)
    return (
      <Line word={word} title={t("betweenTwoCycles")}>
        {t("betweenTwoCycles")}
      </Line>
    );
  const stands = rich("inTheCycleOf", { pod: <PodName pod={cycle.pod} />, attempt: cycle.attempt });
  return (
    <Line word={word} title={`${cycle.pod.namespace}/${cycle.pod.name}`}>
      {asking === undefined ? stands : <Asking asking={asking} otherwise={stands} />}
    </Line>
  );
}

interface LineProps {
  icon?: IconName;
  word: ReactNode;
  title: string;
  tone?: "plain" | "bad" | "warn";
  alert?: boolean;
  children?: ReactNode;
}

function Line({ icon, word, title, tone = "plain", alert = false, children }: LineProps) {
  return (
    <p className={classes.standing} data-tone={tone} title={title} role={alert ? "alert" : "status"}>
      {icon === undefined ? null : <Icon name={icon} size={13} />}
      <b>{word}</b>
      {children === undefined || children === null ? null : <span className={classes.why}>{children}</span>}
    </p>
  );
}
