/** Beside a pod whose approval binds it in a real cluster, with that cluster's name. */
import { Icon } from "@/components/Icon";

import classes from "./LiveChip.module.css";
import { t } from "./texts";

export function LiveChip({ context, dryRun }: { context: string; dryRun: boolean }) {
  if (context === "") return null;
  const words = dryRun ? t("onlyTriedIn", { context }) : t("bindsARealPodIn", { context });
  return (
    <span className={classes.chip} data-dry={dryRun} title={words}>
      <Icon name="bolt" size={12} />
      <span className="srOnly">{words}</span>
      <span aria-hidden="true">{context}</span>
    </span>
  );
}
