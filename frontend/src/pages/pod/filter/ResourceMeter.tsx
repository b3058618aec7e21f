import type { NodeAmount } from "@/api/podTypes";
import { amount } from "@/format/resources";

import { t } from "../texts";
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
      <span
        className={classes.track}
        role="img"
        aria-label={t("requestedOfAllocatableFreeNeeded", {
          label,
          say: say(one.requested),
          say2: say(one.allocatable),
          say3: say(Math.max(0, one.free)),
          say4: say(one.wanted),
        })}
      >
        <i className={classes.requested} style={{ width: `${shares.requested}%` }} />
        <i className={classes.pod} style={{ width: `${shares.pod}%` }} />
        <i className={classes.missing} style={{ width: `${shares.missing}%` }} />
        <i className={classes.allocatable} style={{ left: `${shares.allocatable}%` }} />
      </span>
      <span className={`${classes.value} num`}>
        <b>{free}</b> {t("freeOf", { of })}
      </span>
      <span className={`${classes.verdict} num`}>
        {one.short > 0 ? t("shortShortText", { shortText: shortText(one) }) : t("fits")}
      </span>
    </div>
  );
}

export function MeterLegend() {
  return (
    <span className={classes.legend} aria-hidden="true">
      <span>
        <i className={classes.requested} />
        {t("legendRequested")}
      </span>
      <span>
        <i className={classes.pod} />
        {t("thisPod")}
      </span>
      <span>
        <i className={classes.missing} />
        {t("missing")}
      </span>
      <span>
        <i className={classes.line} />
        {t("allocatable")}
      </span>
    </span>
  );
}
