/** Of a pod of a real cluster that is followed: what our scheduler says of it, tried on a copy with the run's configuration. */
import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { WithoutExtenders } from "@/analyses/WithoutExtenders";
import { Working } from "@/analyses/Working";
import type { PodDetail, Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Panel, PanelHeader } from "@/components/Panel";

import { t } from "../texts";
import classes from "../help/HelpPanel.module.css";

export function TriedHere({ run, pod }: { run: Run; pod: PodDetail }) {
  const moment = useMoment(run);
  const { namespace, name } = pod;
  const why = useAnalysis(
    run.id,
    moment.at === null ? null : { name: "why_pending", arguments: { namespace, name }, position: moment.at },
  );
  return (
    <Panel aria-labelledby="tried-here" aria-busy={why.progress === "pending" || why.progress === "running"}>
      <PanelHeader id="tried-here" title={t("triedHere", { configuration: run.configuration.name })}>
        <span className="faint">{t("triedOnACopy")}</span>
      </PanelHeader>
      {moment.at === null ? null : <Working of={why} what={t("triedHereShort")} failed={t("triedHereCouldNot")} />}
      {why.result === null ? null : (
        <>
          <p className={classes.said}>
            <b>{why.result.headline}</b> {why.result.detail}
          </p>
          <WithoutExtenders answer={why.result} className={classes.said} />
          {why.result.message === "" ? null : <p className={`mono ${classes.foot}`}>{why.result.message}</p>}
        </>
      )}
      {moment.behind && why.progress === "done" ? (
        <p className={classes.foot}>
          {t("theRunHasMovedOn")}{" "}
          <Button size="sm" onClick={moment.take}>
            {t("lookAgain")}
          </Button>
        </p>
      ) : null}
    </Panel>
  );
}
