import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";

import type { PreemptionRow } from "@/api/podTypes";
import type { Cycle, PodDetail, StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { queueOf } from "@/components/states";
import { exact, runTime } from "@/format/time";

import { t } from "../texts";
import classes from "./AnswerPanel.module.css";
import { UnderWay } from "./UnderWay";

const TITLES: Record<PodDetail["answer"]["kind"], string> = {
  get pending() {
    return t("whyIsThisPodPending");
  },
  get bound() {
    return t("whyThisNode");
  },
  get gated() {
    return t("whyIsThisPodGated");
  },
  get waiting() {
    return t("whatThisPodWaitsOn");
  },
  get backoff() {
    return t("whyIsThisPodIn");
  },
  get active() {
    return t("whatHappensToThisPod");
  },
  get in_flight() {
    return t("whatHappensToThisPod");
  },
  get completed() {
    return t("whatBecameOfThisPod");
  },
  get deleted() {
    return t("whatBecameOfThisPod");
  },
};

/** A pod in backoff was refused like a pending one: the colour says where it is, the words say why. */
function tone(pod: PodDetail): StateKey {
  return queueOf(pod) ?? "gated";
}

interface AnswerPanelProps {
  run: string;
  answer: PodDetail["answer"];
  pod: PodDetail;
  /** The cycle that the run is in. */
  cycle: Cycle | null;
  reading: boolean;
}

export function AnswerPanel({ run, answer, pod, cycle, reading }: AnswerPanelProps) {
  const [open, setOpen] = useState(false);
  const message = useId();
  const state = tone(pod);
  return (
    <section className={`${classes.answer} st-${state}`} aria-label={TITLES[answer.kind]} aria-busy={reading}>
      <Icon name={answer.kind === "deleted" ? "trash" : state} size={18} />
      <div className={classes.words}>
        {reading ? (
          <div className={classes.reading} role="status">
            <span className="srOnly">{t("readingTheNewestAttempt")}</span>
          </div>
        ) : (
          <>
            <h2>{answer.headline}</h2>
            {answer.detail === "" ? null : <p>{answer.detail}</p>}
            {pod.evicts === null ? null : (
              <p>
                <Link className="leads" to="/waiting" search={{ run }}>
                  {t("whoWouldGoAndDecide")}
                </Link>
              </p>
            )}
            {answer.kind === "in_flight" ? <UnderWay run={run} pod={pod} cycle={cycle} /> : null}
            {pod.preempted_by === null ? null : <PreemptedBy run={run} by={pod.preempted_by} />}
          </>
        )}
        {answer.message === "" ? null : (
          <>
            <button
              type="button"
              className={`leads ${classes.toggle}`}
              aria-expanded={open}
              aria-controls={message}
              onClick={() => setOpen(!open)}
            >
              {t("messageAsKubeSchedulerWrites")}
            </button>
            <p id={message} hidden={!open} className={`mono ${classes.message}`}>
              {answer.message}
            </p>
          </>
        )}
      </div>
    </section>
  );
}

/** A victim's way to the attempt that evicted it. */
function PreemptedBy({ run, by }: { run: string; by: PreemptionRow }) {
  return (
    <p className={classes.by}>
      <span title={exact(by.at)}>{runTime(by.at)}</span>:{" "}
      <Link
        className="leads"
        to="/runs/$run/pods/$namespace/$name"
        params={{ run, namespace: by.pod.namespace, name: by.pod.name }}
        search={{ attempt: by.attempt, point: "PostFilter" }}
      >
        {t("whyThisPodInAttempt", { attempt: by.attempt, name: by.pod.name })}
      </Link>
    </p>
  );
}
