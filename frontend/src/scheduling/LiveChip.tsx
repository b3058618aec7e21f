/** Beside what an approval does in a real cluster, with that cluster's name: a pod is bound, or others are evicted. */
import { Icon } from "@/components/Icon";

import classes from "./LiveChip.module.css";
import { t } from "./texts";

interface LiveChipProps {
  context: string;
  dryRun: boolean;
  evicts?: boolean;
}

export function LiveChip({ context, dryRun, evicts = false }: LiveChipProps) {
  if (context === "") return null;
  const words = dryRun
    ? t("onlyTriedIn", { context })
    : evicts
      ? t("evictsRealPodsIn", { context })
      : t("bindsARealPodIn", { context });
  return (
    <span className={classes.chip} data-dry={dryRun} title={words}>
      <Icon name="bolt" size={12} />
      <span className="srOnly">{words}</span>
      <span aria-hidden="true">{context}</span>
    </span>
  );
}
