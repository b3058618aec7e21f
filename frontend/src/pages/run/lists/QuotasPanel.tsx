/** What is used of all ElasticQuotas of a run, above their list. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { quotasQuery } from "@/api/podQueries";
import { Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";
import { QuotaLegend, QuotaTable } from "@/pages/pod/catalogue/QuotaTable";

import { t } from "../texts";
import classes from "./QuotasPanel.module.css";

export function QuotasPanel({ run }: { run: string }) {
  const quotas = useQuery(quotasQuery(run));
  const [chosen, choose] = useState<string | null>(null);
  const resources = quotas.data?.resources ?? [];
  const shown = resources.find((one) => one.name === chosen) ?? resources[0];
  if (quotas.data !== undefined && shown === undefined) return null;
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="run-quotas">
      <PanelHeader id="run-quotas" title={t("whatIsUsedOfQuotas")}>
        <span className="faint">{quotas.data === undefined ? "" : countedBy(quotas.data.plugin)}</span>
        <span className="grow" />
        {shown === undefined ? null : (
          <Segmented
            label={t("resourceOfQuotas")}
            value={shown.name}
            options={resources.map(({ name }) => ({ value: name, label: name }))}
            onChange={choose}
          />
        )}
      </PanelHeader>
      {quotas.isPending ? <Outlines count={3} height={20} label={t("countingTheQuotas")} /> : null}
      {quotas.error === null ? null : (
        <Failed small what={t("quotasNotCounted")} error={quotas.error} retry={() => void quotas.refetch()} />
      )}
      {shown === undefined ? null : (
        <>
          <QuotaTable resource={shown} />
          <QuotaLegend />
        </>
      )}
    </Panel>
  );
}

function countedBy(plugin: string): string {
  return plugin === "" ? t("nobodyHoldsToQuotas") : t("countedByPlugin", { plugin });
}
