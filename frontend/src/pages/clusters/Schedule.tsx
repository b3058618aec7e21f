/** Begins a run that is a scheduler of the cluster; where that cannot be, what is missing for it. */
import { Suspense, useState } from "react";

import type { ClusterDetails } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Panel, PanelHeader } from "@/components/Panel";
import { listed, sentences } from "@/format/lists";
import { later } from "@/parts/later";

import classes from "./Clusters.module.css";
import { lacks, MAY_SCHEDULE } from "./mayBeScheduled";
import { t } from "./texts";

const ScheduleDialog = later(() => import("./ScheduleDialog"));

export function Schedule({ cluster }: { cluster: ClusterDetails }) {
  const { me, operates } = useMe();
  const [asking, setAsking] = useState(false);
  const { server, person, rules } = lacks(cluster);
  const isOff = server || person || rules.some((one) => one.resource === "pods/binding");
  const why = sentences([
    server ? t("lacksVariable", { variable: MAY_SCHEDULE, context: cluster.name }) : undefined,
    !person
      ? undefined
      : operates
        ? t("lacksRight", { command: `manage.py cluster allow ${me?.username ?? ""}` })
        : t("lacksRole"),
    rules.length > 0
      ? t("lacksRules", { count: rules.length, rules: listed(rules.map((one) => one.resource)) })
      : undefined,
  ]);
  return (
    <Panel aria-labelledby="schedule">
      <PanelHeader title={t("schedule")} id="schedule" />
      <p className={classes.note}>{t("whatSchedulingIs")}</p>
      {why === "" ? null : (
        <p className={classes.lacks}>
          <Icon name={isOff ? "gated" : "warning"} size={14} />
          <span>{why}</span>
        </p>
      )}
      {isOff ? null : (
        <div className={classes.form}>
          <Button
            icon="bolt"
            sends
            disabled={!cluster.is_offered || !cluster.can_be_read}
            title={cluster.can_be_read ? t("whatSchedulingIs") : t("scheduleWhenRead")}
            aria-haspopup="dialog"
            onClick={() => setAsking(true)}
          >
            {t("scheduleAsk")}
          </Button>
        </div>
      )}
      <Suspense fallback={null}>
        {asking ? <ScheduleDialog cluster={cluster} onClose={() => setAsking(false)} /> : null}
      </Suspense>
    </Panel>
  );
}
