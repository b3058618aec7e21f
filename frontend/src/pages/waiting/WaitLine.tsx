import { CountdownRing } from "@/components/CountdownRing";
import { countdown, exact } from "@/format/time";

import type { Waits } from "./inbox";
import classes from "./InboxTable.module.css";
import { t } from "./texts";

interface WaitLineProps {
  wait: Waits;
  now: number;
  /** The clock stands until a person has decided. */
  held: boolean;
}

/** A plugin that waits: ring, name, and how long still. */
export function WaitLine({ wait, now, held }: WaitLineProps) {
  const left = Date.parse(wait.deadline) - now;
  const isHeld = held && wait.asks_person;
  return (
    <span
      className={classes.wait}
      title={t(isHeld ? "rejectedAtClockHeld" : "rejectedAt", {
        plugin: wait.plugin,
        deadline: exact(wait.deadline),
        countdown: countdown(wait.total_seconds * 1000),
      })}
    >
      <CountdownRing share={left / (wait.total_seconds * 1000)} size={18} />
      <span className="clip">{wait.plugin}</span>
      <b className="num">
        {countdown(left)}
        {isHeld ? <span className={classes.held}> {t("held")}</span> : null}
      </b>
    </span>
  );
}
