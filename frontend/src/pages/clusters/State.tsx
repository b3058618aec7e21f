import type { Cluster } from "@/api/clusters";
import { exact, seconds } from "@/format/time";

import classes from "./Clusters.module.css";
import { t } from "./texts";

/** In words, for a dot alone says nothing to many. */
export function stateText(cluster: Cluster): string {
  const since = cluster.since === null ? "" : exact(cluster.since);
  switch (cluster.state) {
    case "live":
      return cluster.behind === null ? t("live") : t("liveBehind", { seconds: seconds(cluster.behind) });
    case "catching_up":
      return t("catchingUp", { done: cluster.kinds_done, of: cluster.kinds_of });
    case "stale":
      return t("staleSince", { since });
    case "refused":
      return t("refusedSince", { since });
    case "failed":
      return t("failedSince", { since });
    default:
      return t(`whole.${cluster.state}`);
  }
}

export function State({ cluster }: { cluster: Cluster }) {
  return (
    <span className={classes.state} data-state={cluster.state}>
      <i aria-hidden="true" />
      {stateText(cluster)}
    </span>
  );
}
