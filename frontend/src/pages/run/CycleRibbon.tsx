import { memo, useEffect, useRef } from "react";

import type { Cycle } from "@/api/types";
import { Chip, PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";

import classes from "./CycleRibbon.module.css";
import { t } from "./texts";

const POINTS = ["PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"];
const SAID = { get done() { return t("doneWith"); }, get current() { return t("standsHere"); }, get next() { return t("toCome"); } } as const;

/** Where the current cycle stands among the twelve extension points. */
export const CycleRibbon = memo(function CycleRibbon({ cycle }: { cycle: Cycle | null }) {
  const points = cycle?.points ?? POINTS.map((point) => ({ point, state: "next" as const }));
  const ribbon = useRef<HTMLDivElement>(null);
  const current = points.find((one) => one.state === "current")?.point;
  useEffect(() => {
    const { current: box } = ribbon;
    const step = box?.querySelector<HTMLElement>("[aria-current=step]");
    // Where the ribbon scrolls, the current point stands in its middle; the page itself stays where it is.
    if (box !== null && step) box.scrollLeft = step.offsetLeft - (box.clientWidth - step.offsetWidth) / 2;
  }, [current]);
  return (
    // The region scrolls sideways on phones, so it takes the focus.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and a keyboard must be able to
    <div ref={ribbon} className={classes.ribbon} tabIndex={0} role="region" aria-label={t("currentCycle")}>
      <span className={`${classes.who} hidePhone`}>
        {cycle === null ? <span className="faint">{t("betweenTwoCycles")}</span> : (
          <><span className="faint">{t("inCycle")}</span><PodName pod={cycle.pod} /><Chip>{t("attemptAttempt", { attempt: cycle.attempt })}</Chip></>
        )}
      </span>
      <ol aria-label={t("extensionPointsOfThisCycle")}>
        {points.map(({ point, state }) => (
          <li key={point} data-state={state} {...(state === "current" ? { "aria-current": "step" as const } : {})}>
            {state === "done" ? <Icon name="bound" size={11} /> : null}
            <span>{point}</span><span className="srOnly">, {SAID[state]}</span>
          </li>
        ))}
      </ol>
      {cycle === null ? null : <span className={`${classes.note} faint num hidePhone`} title={cycle.note}>{cycle.note}</span>}
    </div>
  );
});
