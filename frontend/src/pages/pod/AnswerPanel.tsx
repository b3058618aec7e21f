import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";

import type { PreemptionRow } from "@/api/podTypes";
import type { PodDetail, StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { queueOf } from "@/components/states";
import { exact, runTime } from "@/format/time";

import classes from "./AnswerPanel.module.css";

const TITLES: Record<PodDetail["answer"]["kind"], string> = {
  pending: "Why is this pod pending", bound: "Why this node", gated: "Why is this pod gated", waiting: "What this pod waits on",
  backoff: "Why is this pod in backoff", active: "What happens to this pod", in_flight: "What happens to this pod", deleted: "What became of this pod",
};

/** A pod in backoff was refused like a pending one: the colour says where it is, the words say why. */
function tone(pod: PodDetail): StateKey {
  return queueOf(pod) ?? "gated";
}

export function AnswerPanel({ run, answer, pod, reading }: { run: string; answer: PodDetail["answer"]; pod: PodDetail; reading: boolean }) {
  const [open, setOpen] = useState(false);
  const message = useId();
  const state = tone(pod);
  return (
    <section className={`${classes.answer} st-${state}`} aria-label={TITLES[answer.kind]} aria-busy={reading}>
      <Icon name={answer.kind === "deleted" ? "trash" : state} size={18} />
      <div className={classes.words}>
        {reading ? <div className={classes.reading} role="status"><span className="srOnly">Reading the newest attempt</span></div> : (
          <>
            <h2>{answer.headline}</h2>
            {answer.detail === "" ? null : <p>{answer.detail}</p>}
            {pod.preempted_by === null ? null : <PreemptedBy run={run} by={pod.preempted_by} />}
          </>
        )}
        {answer.message === "" ? null : (
          <>
            <button type="button" className={`leads ${classes.toggle}`} aria-expanded={open} aria-controls={message} onClick={() => setOpen(!open)}>
              Message as kube-scheduler writes it
            </button>
            <p id={message} hidden={!open} className={`mono ${classes.message}`}>{answer.message}</p>
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
      <Link className="leads" to="/runs/$run/pods/$namespace/$name" params={{ run, namespace: by.pod.namespace, name: by.pod.name }} search={{ attempt: by.attempt, point: "PostFilter" }}>
        why this pod, in attempt {by.attempt} of {by.pod.name}
      </Link>
    </p>
  );
}
