import { useState } from "react";

import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { WithoutExtenders } from "@/analyses/WithoutExtenders";
import { Working } from "@/analyses/Working";
import type { HelpAnswer } from "@/api/analyses";
import type { PodDetail, Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Panel, PanelHeader } from "@/components/Panel";

import { t } from "../texts";
import classes from "./HelpPanel.module.css";
import { noRemedy } from "./remedies";
import { RemedyItem } from "./RemedyItem";

/** More are shown on request: the first are what people do. */
const AT_FIRST = 5;

/** Remedies for a pending pod, each played to its end in a copy of the run before it is listed. */
export function HelpPanel({ run, pod }: { run: Run; pod: PodDetail }) {
  const moment = useMoment(run);
  const { namespace, name } = pod;
  const help = useAnalysis(
    run.id,
    moment.at === null ? null : { name: "what_would_help", arguments: { namespace, name }, position: moment.at },
  );
  return (
    <Panel
      aria-labelledby="what-would-help"
      aria-busy={help.progress !== "done" && help.progress !== "none" && help.progress !== "failed"}
    >
      <PanelHeader id="what-would-help" title={t("whatWouldHelp")}>
        <span className="faint">{t("eachTriedOnACopy")}</span>
      </PanelHeader>
      {moment.at === null ? (
        <p className={classes.said}>
          {t("theRunMovesOn")}{" "}
          <Button size="sm" onClick={moment.take}>
            {t("lookAtThisMoment")}
          </Button>
        </p>
      ) : (
        <Working of={help} what={t("whatWouldHelp")} failed={t("whatWouldHelpCouldNot")} />
      )}
      {help.result === null ? null : (
        <Answer run={run.id} pod={`${namespace}/${name}`} position={help.position ?? 0} answer={help.result} />
      )}
      {moment.behind && help.progress === "done" ? (
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

function Answer({ run, pod, position, answer }: { run: string; pod: string; position: number; answer: HelpAnswer }) {
  const [all, setAll] = useState(false);
  const { remedies } = answer;
  const shown = all ? remedies : remedies.slice(0, AT_FIRST);
  const more = remedies.length - shown.length;
  return (
    <>
      <WithoutExtenders answer={answer} className={classes.said} />
      {answer.why === "" ? null : <p className={classes.said}>{answer.why}</p>}
      {remedies.length === 0 ? (
        // Answers of older versions do not say why.
        answer.why === "" && <p className={classes.said}>{noRemedy(answer)}</p>
      ) : (
        <ol className={classes.list}>
          {shown.map((remedy, index) => (
            <RemedyItem
              key={`${remedy.kind} ${remedy.text}`}
              rank={index + 1}
              run={run}
              pod={pod}
              position={position}
              remedy={remedy}
              answer={answer}
            />
          ))}
        </ol>
      )}
      {more > 0 ? (
        <p className={classes.foot}>
          <Button size="sm" onClick={() => setAll(true)}>
            {t("moreRemedies", { count: more })}
          </Button>
        </p>
      ) : null}
      {answer.complete || (remedies.length === 0 && answer.why === "") ? null : (
        <p className={classes.foot}>{t("notEverythingTried")}</p>
      )}
    </>
  );
}
