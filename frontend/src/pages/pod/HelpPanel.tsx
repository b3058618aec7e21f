import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { forkWhenThere, type Remedy } from "@/api/analyses";
import type { PodDetail, Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { Working } from "@/analyses/Working";
import { Button } from "@/components/Button";
import { Panel, PanelHeader } from "@/components/Panel";
import { notifyError } from "@/shell/notify";

import classes from "./HelpPanel.module.css";
import { noRemedy, remedyDetail } from "./remedies";
import { t } from "./texts";

/** Remedies for a pending pod, each tried on a copy of the moment before it is listed. */
export function HelpPanel({ run, pod }: { run: Run; pod: PodDetail }) {
  const moment = useMoment(run);
  const { namespace, name } = pod;
  const help = useAnalysis(run.id, moment.at === null ? null : { name: "what_would_help", arguments: { namespace, name }, position: moment.at });
  const remedies = help.result?.remedies ?? [];
  return (
    <Panel aria-labelledby="what-would-help" aria-busy={help.progress !== "done" && help.progress !== "none" && help.progress !== "failed"}>
      <PanelHeader id="what-would-help" title={t("whatWouldHelp")}><span className="faint">{t("eachTriedOnACopy")}</span></PanelHeader>
      {moment.at === null ? (
        <p className={classes.said}>{t("theRunMovesOn")} <Button size="sm" onClick={moment.take}>{t("lookAtThisMoment")}</Button></p>
      ) : <Working of={help} what={t("whatWouldHelp")} failed={t("whatWouldHelpCouldNot")} />}
      {help.result !== null && remedies.length === 0 ? <p className={classes.said}>{noRemedy(help.result)}</p> : null}
      {remedies.length === 0 ? null : (
        <ol className={classes.list}>
          {remedies.map((remedy, index) => (
            <li key={`${remedy.kind} ${remedy.text}`}>
              <span className={`${classes.rank} num`} aria-hidden="true">{index + 1}</span>
              <div><b>{remedy.text}</b><p>{remedyDetail(remedy)}</p></div>
              <TryOnAFork run={run.id} pod={`${namespace}/${name}`} position={help.position ?? 0} remedy={remedy} />
            </li>
          ))}
        </ol>
      )}
      {moment.behind && help.progress === "done" ? (
        <p className={classes.foot}>{t("theRunHasMovedOn")} <Button size="sm" onClick={moment.take}>{t("lookAgain")}</Button></p>
      ) : null}
    </Panel>
  );
}

function TryOnAFork({ run, pod, position, remedy }: { run: string; pod: string; position: number; remedy: Remedy }) {
  const { operates } = useMe();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      const fork = await forkWhenThere(run, position, remedy.operations);
      await navigate({ to: "/runs/$run", params: { run: fork.id }, search: { pod } });
    } catch (error) {
      notifyError(t("theForkWasNotMade"), error);
      setBusy(false);
    }
  };
  return (
    <Button size="sm" disabled={!operates || busy} onClick={() => void go()} aria-label={t("tryOnAFork", { text: remedy.text })}
      title={operates ? t("opensANewRunThat") : t("yourRoleCanLookBut")}>
      {busy ? t("forking") : t("tryOnAFork2")}
    </Button>
  );
}
