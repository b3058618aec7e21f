/** Of a pod that has a node: where it would go if it came now, tried on a copy from which it was taken. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { WithoutExtenders } from "@/analyses/WithoutExtenders";
import { Working } from "@/analyses/Working";
import type { PlacedAgainAnswer } from "@/api/analyses";
import type { PodDetail, Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { count } from "@/format/number";

import { t } from "../texts";
import { againDetail, againHeadline } from "./placedAgain";
import classes from "./PlacedAgainPanel.module.css";

/** Asked at once for pods that were not tried in the run: there is nothing else to say of them. */
export function PlacedAgainPanel({ run, pod }: { run: Run; pod: PodDetail }) {
  const moment = useMoment(run);
  const [wanted, setWanted] = useState(pod.attempt_list.length === 0);
  const { namespace, name } = pod;
  const asks = wanted && moment.at !== null;
  const again = useAnalysis(
    run.id,
    asks ? { name: "placed_again", arguments: { namespace, name }, position: moment.at ?? 0 } : null,
  );
  const found = again.result;
  return (
    <Panel aria-labelledby="placed-again" aria-busy={asks && found === null && again.error === null}>
      <PanelHeader id="placed-again" title={t("whereWouldItGoNow")}>
        <span className="faint">{t("onACopyEverythingElse")}</span>
      </PanelHeader>
      {!wanted ? (
        <p className={classes.said}>
          <Button size="sm" onClick={() => setWanted(true)}>
            {t("findOut")}
          </Button>
        </p>
      ) : moment.at === null && run.state === "playing" ? (
        <p className={classes.said}>
          {t("theRunMovesOn")}{" "}
          <Button size="sm" onClick={moment.take}>
            {t("lookAtThisMoment")}
          </Button>
        </p>
      ) : (
        <Working of={again} what={t("whereWouldItGoNow")} failed={t("whereItWouldGoCould")} />
      )}
      {found === null ? null : (
        <>
          <div className={classes.said}>
            <b>{againHeadline(found)}</b>
            {againDetail(found).map((one) => (
              <p key={one}>{one}</p>
            ))}
            <WithoutExtenders answer={found} />
          </div>
          {found.ranked.length === 0 ? null : <Ranking run={run.id} found={found} />}
        </>
      )}
      {moment.behind && found !== null ? (
        <p className={classes.said}>
          {t("theRunHasMovedOn")}{" "}
          <Button size="sm" onClick={moment.take}>
            {t("lookAgain")}
          </Button>
        </p>
      ) : null}
    </Panel>
  );
}

function Ranking({ run, found }: { run: string; found: PlacedAgainAnswer }) {
  return (
    <ScrollRegion className={classes.scroll} label={t("scoresOfTheNodes")}>
      <table className={classes.table}>
        <caption className="srOnly">{t("scoresOfTheNodes")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("rank")}</th>
            <th scope="col">{t("node")}</th>
            <th scope="col" className="num">
              {t("total")}
            </th>
            {found.plugins.map((plugin, index) => (
              <th key={plugin} scope="col" className="num" title={t("weightIs", { weight: found.weights[index] ?? 0 })}>
                {plugin}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.ranked.map((row) => (
            <tr key={row.node} data-own={row.node === found.node}>
              <td className="num">{count(row.rank)}</td>
              <th scope="row">
                <Link to="/runs/$run" params={{ run }} search={{ node: row.node }} className="mono">
                  {row.node}
                </Link>
                {row.node === found.node ? <span className="faint"> {t("hereItIs")}</span> : null}
              </th>
              <td className="num">
                <b>{count(row.total)}</b>
              </td>
              {row.scores.map((score, index) => (
                <td key={found.plugins[index] ?? index} className="num">
                  {count(score)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {found.feasible > found.ranked.length ? (
        <p className={`${classes.said ?? ""} faint`}>
          {t("ofFeasibleNodes", { shown: found.ranked.length, feasible: found.feasible })}
        </p>
      ) : null}
    </ScrollRegion>
  );
}
