/** ElasticQuotas per namespace, of one resource at a time: what is used, guaranteed and allowed, and what the pod asks. */
import { useState } from "react";

import type { PodQuotas } from "@/api/podTypes";
import { Panel, PanelHeader } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";

import { t } from "../texts";
import { QuotaLegend, QuotaTable } from "./QuotaTable";

export function QuotaPanel({ quotas }: { quotas: PodQuotas }) {
  const { resources, namespace } = quotas;
  const [chosen, choose] = useState<string | null>(null);
  const shown = resources.find((one) => one.name === chosen) ?? resources.find(isShort(namespace)) ?? resources[0];
  if (shown === undefined) return null;
  return (
    <Panel aria-labelledby="elastic-quotas">
      <PanelHeader id="elastic-quotas" title={t("elasticQuotas")}>
        <span className="grow" />
        <Segmented
          label={t("quotaResource")}
          value={shown.name}
          options={resources.map(({ name }) => ({ value: name, label: name }))}
          onChange={choose}
        />
      </PanelHeader>
      <QuotaTable resource={shown} pod={{ namespace, asked: shown.asked.amount }} />
      <QuotaLegend asked />
    </Panel>
  );
}

/** Of a resource: whether the pod asks for more than its namespace may use, or than all are guaranteed. */
function isShort(namespace: string) {
  return ({ quotas, asked, used, min }: PodQuotas["resources"][number]) => {
    const own = quotas.find((one) => one.namespace === namespace);
    const most = own?.max ?? null;
    const over = own !== undefined && most !== null && own.used.amount + asked.amount > most.amount;
    return over || used.amount + asked.amount > min.amount;
  };
}
