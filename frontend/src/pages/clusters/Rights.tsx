/** What the credentials may do, and the rules that are missing. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { askCluster, type ClusterDetails, type ClusterMode, type ClusterRule } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty, Failed } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed } from "@/format/lists";
import { exact } from "@/format/time";

import classes from "./Clusters.module.css";
import { t } from "./texts";

export function Rights({ cluster }: { cluster: ClusterDetails }) {
  const { edits } = useMe();
  const ask = useMutation({ mutationFn: () => askCluster(cluster.name) });
  const { rights } = cluster;
  return (
    <Panel aria-labelledby="rights">
      <PanelHeader title={t("rights")} id="rights">
        <span className="grow" />
        {rights === null ? null : <span className="faint">{t("askedAt", { at: exact(rights.asked_at) })}</span>}
        {edits ? (
          <Button size="sm" kind="ghost" sends disabled={ask.isPending} onClick={() => ask.mutate()}>
            {t("askAgain")}
          </Button>
        ) : null}
      </PanelHeader>
      {ask.error === null ? null : <Failed what={t("notAsked")} error={ask.error} small />}
      {rights === null ? <Empty small>{t("notAskedYet")}</Empty> : null}
      {rights?.modes.map((mode) => (
        <Mode key={mode.mode} mode={mode} />
      ))}
    </Panel>
  );
}

/** Rules that are alike stand in one line: what is granted, and each that is missing by itself. */
function Mode({ mode }: { mode: ClusterMode }) {
  const [shown, setShown] = useState(false);
  const granted = mode.rules.filter((one) => one.missing.length === 0);
  const reasons = [...new Set(granted.map((one) => one.why))];
  return (
    <div className={classes.mode}>
      <h3>
        {t(`mode.${mode.mode}`)} <span className="faint">{t("rulesOf", { granted: mode.granted, of: mode.of })}</span>
      </h3>
      <ul className={classes.rules}>
        {mode.rules
          .filter((one) => one.missing.length > 0)
          .map((one) => (
            <Line key={`${one.group}/${one.resource}`} rules={[one]} missing />
          ))}
        {reasons.map((why) => (
          <Line key={why} rules={granted.filter((one) => one.why === why)} />
        ))}
      </ul>
      {mode.yaml === "" ? null : (
        <>
          <Button size="sm" aria-expanded={shown} onClick={() => setShown(!shown)}>
            {t("ruleToApply")}
          </Button>
          {shown ? (
            <ScrollRegion as="pre" label={t("ruleToApply")} className={`${classes.yaml} mono`}>
              {mode.yaml}
            </ScrollRegion>
          ) : null}
        </>
      )}
    </div>
  );
}

function Line({ rules, missing = false }: { rules: readonly ClusterRule[]; missing?: boolean }) {
  const [first] = rules;
  if (first === undefined) return null;
  return (
    <li data-missing={missing}>
      <Icon name={missing ? "unschedulable" : "bound"} size={14} />
      <span>
        <b>{listed(rules.map((one) => one.resource))}</b> {listed(missing ? first.missing : first.verbs)}
        <em>{first.why}</em>
      </span>
      <span>{missing ? t("missing") : t("granted")}</span>
    </li>
  );
}
