/** What is told of the step that is pointed at. What is not known of it is left out. */
import { useQuery } from "@tanstack/react-query";

import { stepQuery } from "@/api/queries";
import { type Mark, STATE_KEYS, type Step } from "@/api/types";
import { Icon } from "@/components/Icon";
import { STATES } from "@/components/states";
import { count } from "@/format/number";
import { runTime } from "@/format/time";

import { t } from "./texts";
import classes from "./StepPreview.module.css";

interface StepPreviewProps {
  run: string;
  step: number;
  rests: boolean;
  last: number;
  near: Mark | null;
  /** Pixels from the left end of the line. */
  place: number;
  forks: boolean;
}

export function StepPreview({ run, step, rests, last, near, place, forks }: StepPreviewProps) {
  const asked = useQuery({ ...stepQuery(run, step), enabled: rests });
  const isAsking = !rests || asked.isPending;
  const noted = asked.data?.step ?? null;
  return (
    <div className={classes.box} role="tooltip" style={{ "--place": `${place}px` } as React.CSSProperties}>
      <p>
        <b className="num">
          {step >= last ? t("stepIsNow", { step: count(step) }) : t("stepIs", { step: count(step) })}
        </b>
        {noted?.position === step ? <span className={`${classes.time} faint num`}>{runTime(noted.clock)}</span> : null}
      </p>
      {near === null ? null : (
        <p>
          {near.kind === "preemption" ? <Icon name="diamond" size={11} /> : null} {titleOf(near)}
        </p>
      )}
      {isAsking || noted !== null ? (
        <div className={classes.known}>
          {noted === null ? null : <Known noted={noted} exact={noted.position === step} />}
        </div>
      ) : null}
      <p className="faint">{forks ? t("clickLookFork") : t("clickLook")}</p>
    </div>
  );
}

function Known({ noted, exact }: { noted: NonNullable<Step["step"]>; exact: boolean }) {
  return (
    <>
      {exact ? null : (
        <p className="faint num">{t("notedAt", { step: count(noted.position), time: runTime(noted.clock) })}</p>
      )}
      <ul className={`${classes.counts} num`}>
        {STATE_KEYS.map((key) => (
          <li key={key} className={`st-${key}`} title={STATES[key].title}>
            <Icon name={key} size={12} />
            <span className="srOnly">{STATES[key].title} </span>
            {count(noted.counts[key])}
          </li>
        ))}
      </ul>
    </>
  );
}

function titleOf(mark: Mark): string {
  const { position, text } = mark;
  return mark.count === 1
    ? t("markOne", { position, text, kind: t(`only.${mark.kind}`) })
    : t("markMore", { position, text, marks: t(`marks.${mark.kind}`, { count: mark.count }) });
}
