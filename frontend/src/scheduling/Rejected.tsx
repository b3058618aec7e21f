/** Pods that their kubelets rejected since the run began: that two schedulers overfill nodes is seen here, and what helps. */
import { type ReactNode, useState } from "react";

import type { Scheduled } from "@/api/scheduling";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { shortWallTime } from "@/format/time";

import classes from "./LiveBand.module.css";
import { t } from "./texts";

const SHOWN = 5;

export function Rejected({ scheduled }: { scheduled: Scheduled }): ReactNode {
  const [closed, setClosed] = useState(false);
  const { rejected, context } = scheduled;
  if (closed || rejected.length === 0) return null;
  return (
    <div className={classes.fault} role="alert">
      <Icon name="warning" size={16} />
      <div>
        <b>{t("rejectedIn", { count: rejected.length, context })}</b>
        <p>{t("twoSchedulers")}</p>
        <ul>
          {rejected.slice(0, SHOWN).map(({ namespace, name, node, reason, scheduler, at }) => (
            <li key={`${namespace}/${name} ${at}`}>
              {t("rejectedPod", { reason, pod: `${namespace}/${name}`, node, scheduler, at: shortWallTime(at) })}
            </li>
          ))}
        </ul>
      </div>
      <IconButton icon="close" iconSize={14} label={t("close")} onClick={() => setClosed(true)} />
    </div>
  );
}
