import type { Scores } from "@/api/podTypes";
import { clauses } from "@/format/lists";
import { count } from "@/format/number";

import { t } from "../texts";
import classes from "./Histogram.module.css";

/** How the totals of all feasible nodes spread: what the rows beside it cannot show. */
export function Histogram({ scores }: { scores: Scores }) {
  const bars = scores.histogram;
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const words = clauses(bars.map((bar) => t("nodesFromTo", { count: bar.count, low: bar.low, high: bar.high })));
  return (
    <>
      <h4 className={classes.title}>{t("totalsOfAllNodes", { count: scores.feasible })}</h4>
      <div className={classes.bars} role="img" aria-label={words}>
        {bars.map((bar) => (
          <span key={bar.low} title={t("nodesFromTo", { count: bar.count, low: bar.low, high: bar.high })}>
            <b className="num">{bar.count === 0 ? "" : count(bar.count)}</b>
            <i style={{ height: `${(bar.count / most) * 56}px` }} />
          </span>
        ))}
      </div>
      <div className={`${classes.axis} num`}>
        <span>{count(bars[0]?.low ?? 0)}</span>
        <span>{count(bars.at(-1)?.high ?? 0)}</span>
      </div>
    </>
  );
}
