/** Of a fork that takes what came to the cluster it left: how much of that has not come yet. */
import type { Run } from "@/api/types";
import { exact } from "@/format/time";

import { t } from "../texts";
import classes from "./RunHeader.module.css";

export function StillToCome({ run }: { run: Run }) {
  const { later_arrivals: came, arrivals } = run;
  if (!came || !arrivals) return null;
  const { cluster, changes, first, last } = came;
  const next = arrivals.next_at === null ? "" : exact(arrivals.next_at);
  return (
    <span
      className={`${classes.come} faint num clip`}
      title={t("whatComesHere", { count: changes, cluster, first: exact(first), last: exact(last) })}
    >
      {arrivals.left === 0 ? t("allCame") : t("stillToCome", { left: arrivals.left, total: arrivals.total, next })}
    </span>
  );
}
