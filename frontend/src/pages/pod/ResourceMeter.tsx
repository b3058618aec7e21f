import type { NodeAmount } from "@/api/podTypes";
import { amount } from "@/format/resources";

import { freeOf, meterShares, resourceName, shortText } from "./amounts";
import classes from "./ResourceMeter.module.css";

/** One resource of one node: what is requested already, what this pod takes, what is missing, where the node ends. */
export function ResourceMeter({ of: one }: { of: NodeAmount }) {
  const shares = meterShares(one);
  const { free, of } = freeOf(one);
  const label = resourceName(one.name);
  const say = (value: number) => amount(one.name, value);
  return (
    <div className={classes.meter} data-short={one.short > 0 || undefined}>
      <span className={classes.label}>{label}</span>
      <span className={classes.track} role="img"
        aria-label={`${label}: ${say(one.requested)} requested of ${say(one.allocatable)} allocatable, ${say(Math.max(0, one.free))} free, ${say(one.wanted)} needed`}>
        <i className={classes.requested} style={{ width: `${shares.requested}%` }} />
        <i className={classes.pod} style={{ width: `${shares.pod}%` }} />
        <i className={classes.missing} style={{ width: `${shares.missing}%` }} />
        <i className={classes.allocatable} style={{ left: `${shares.allocatable}%` }} />
      </span>
      <span className={`${classes.value} num`}><b>{free}</b> free of {of}</span>
      <span className={`${classes.verdict} num`}>{one.short > 0 ? `short ${shortText(one)}` : "fits"}</span>
    </div>
  );
}

export function MeterLegend() {
  return (
    <span className={classes.legend} aria-hidden="true">
      <span><i className={classes.requested} />requested</span>
      <span><i className={classes.pod} />this pod</span>
      <span><i className={classes.missing} />missing</span>
      <span><i className={classes.line} />allocatable</span>
    </span>
  );
}
