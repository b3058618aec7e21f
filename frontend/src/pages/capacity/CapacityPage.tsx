/** How much more fits into a run's cluster as it is now: pods of one kind, and nodes of one shape until everybody has a place. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";

import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { WithoutExtenders } from "@/analyses/WithoutExtenders";
import { Working } from "@/analyses/Working";
import type { NodesAnswer, PodsAnswer } from "@/api/analyses";
import { runPodsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { useNodes, useRunStore, useRunView } from "@/live/useLive";
import { splitPod } from "@/pages/run/side/Inspector";
import { useTitle } from "@/shell/useTitle";

import { csv, nodesRows, nodesSentence, podsRows, podsSentence, roomOf, shapesOf } from "./capacity";
import classes from "./CapacityPage.module.css";
import { t } from "./texts";

const route = getRouteApi("/runs/$run/capacity");

export function CapacityPage() {
  const { run } = route.useParams();
  const view = useRunView(useRunStore(run));
  useTitle(view.run === null ? t("capacity") : t("capacityName", { name: view.run.snapshot.name }));
  return (
    <Page className={classes.page ?? ""}>
      <RunTrail run={run} name={view.run?.snapshot.name}>
        {t("capacity")}
      </RunTrail>
      <h1>{t("capacity")}</h1>
      {view.run === null ? (
        <Outlines count={3} height={64} label={t("readingTheRun")} />
      ) : (
        <>
          <Pods run={view.run} />
          <Nodes run={view.run} />
        </>
      )}
    </Page>
  );
}

function Pods({ run }: { run: Run }) {
  const { pod } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/capacity" });
  const known = useQuery(runPodsQuery(run.id, {}, 0, 200));
  const [text, setText] = useState(pod ?? "");
  const moment = useMoment(run);
  const target = pod?.includes("/") === true ? splitPod(pod) : null;
  const asked = useAnalysis(
    run.id,
    moment.at === null || target === null ? null : { name: "capacity_pods", arguments: target, position: moment.at },
  );
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    if (run.position !== moment.at) moment.take();
    void navigate({ search: (old) => ({ ...old, pod: text.trim() === "" ? undefined : text.trim() }) });
  };
  return (
    <Panel aria-labelledby="more-pods" className={classes.panel ?? ""}>
      <PanelHeader id="more-pods" title={t("howManyMorePodsLike")}>
        <span className="faint hidePhone">{t("scheduledOneAfterTheOther")}</span>
      </PanelHeader>
      <form className={classes.ask} onSubmit={ask}>
        <label>
          {t("podNamespaceName")}
          <input
            list="capacity-pods"
            value={text}
            placeholder="shop/web-1"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <datalist id="capacity-pods">
          {(known.data?.results ?? []).map((card) => (
            <option key={card.key} value={`${card.namespace}/${card.name}`} />
          ))}
        </datalist>
        <Button type="submit" disabled={!text.includes("/")}>
          {t("count")}
        </Button>
      </form>
      <Working of={asked} what={t("howManyMoreFit")} failed={t("itCouldNotBeCounted")} />
      {asked.result === null ? null : <Room run={run.id} answer={asked.result} />}
      <Behind moment={moment} shown={asked.result !== null} />
    </Panel>
  );
}

function Room({ run, answer }: { run: string; answer: PodsAnswer }) {
  const { taking, full } = roomOf(answer);
  const most = taking[0]?.fits ?? 1;
  return (
    <>
      <div className={classes.answer} role="status">
        <strong>{podsSentence(answer)}</strong>
        <span className="grow" />
        <Csv name="capacity-pods.csv" rows={() => podsRows(answer)} />
      </div>
      <WithoutExtenders answer={answer} className={classes.note} />
      {answer.message === "" ? null : <p className={classes.note}>{t("theNext", { message: answer.message })}</p>}
      <ScrollRegion className={classes.scroll} label={t("roomPerNode")}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t("node")}</th>
              <th scope="col">{t("fits")}</th>
              <th scope="col">{t("stopsTheNext")}</th>
              <th scope="col">{t("reasons")}</th>
            </tr>
          </thead>
          <tbody>
            {taking.map((one) => (
              <tr key={one.node}>
                <th scope="row">
                  <NodeLink run={run} node={one.node} />
                </th>
                <td>
                  <span className={classes.fits}>
                    <b className="num">{count(one.fits)}</b>
                    <span className={classes.bar} aria-hidden="true">
                      <i style={{ width: `${(100 * one.fits) / most}%` }} />
                    </span>
                  </span>
                </td>
                <td>{one.plugin}</td>
                <td className={classes.wide}>{listed(one.reasons)}</td>
              </tr>
            ))}
            {full.map((one) => (
              <tr key={`${one.plugin} ${one.reasons}`}>
                <th scope="row">
                  {one.nodes.length === 1 ? (
                    <NodeLink run={run} node={one.nodes[0] ?? ""} />
                  ) : (
                    <details className={classes.names}>
                      <summary>{t("nNodes", { count: one.nodes.length })}</summary>
                      <ul>
                        {one.nodes.map((node) => (
                          <li key={node}>
                            <NodeLink run={run} node={node} />
                          </li>
                        ))}
                      </ul>
                    </details>
                  )}
                </th>
                <td className="num">0</td>
                <td>{one.plugin}</td>
                <td className={classes.wide}>{one.reasons === "" ? t("enoughWasFoundBefore") : one.reasons}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

function NodeLink({ run, node }: { run: string; node: string }) {
  return (
    <Link className="mono leads" to="/runs/$run" params={{ run }} search={{ node }}>
      {node}
    </Link>
  );
}

function Nodes({ run }: { run: Run }) {
  const { shape } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/capacity" });
  const { table } = useNodes(useRunStore(run.id));
  const shapes = table === null ? [] : shapesOf(table);
  const moment = useMoment(run);
  const asked = useAnalysis(
    run.id,
    moment.at === null || shape === undefined
      ? null
      : { name: "capacity_nodes", arguments: { node: shape }, position: moment.at },
  );
  return (
    <Panel aria-labelledby="more-nodes" className={classes.panel ?? ""}>
      <PanelHeader id="more-nodes" title={t("howManyNodesUntilEverybody")}>
        <span className="faint hidePhone">{t("theSmallestNumberTriedFrom")}</span>
      </PanelHeader>
      <div className={classes.ask}>
        <label>
          {t("shapeOneOfTheClusters")}
          <select
            value={shape ?? ""}
            onChange={(event) => {
              if (run.position !== moment.at) moment.take();
              void navigate({
                search: (old) => ({
                  ...old,
                  shape: event.currentTarget.value === "" ? undefined : event.currentTarget.value,
                }),
              });
            }}
          >
            <option value="">{t("chooseAShape")}</option>
            {shapes.some((one) => one.node === shape) || shape === undefined ? null : (
              <option value={shape}>{t("likeShape", { shape })}</option>
            )}
            {shapes.map((one) => (
              <option key={one.node} value={one.node}>
                {one.label} ({t("nNodes", { count: one.nodes })})
              </option>
            ))}
          </select>
        </label>
      </div>
      <Working of={asked} what={t("howManyNodes")} failed={t("itCouldNotBeCounted")} />
      {asked.result === null ? null : <Needed run={run.id} answer={asked.result} />}
      <Behind moment={moment} shown={asked.result !== null} />
    </Panel>
  );
}

function Needed({ run, answer }: { run: string; answer: NodesAnswer }) {
  return (
    <>
      <div className={classes.answer} role="status">
        <strong>{nodesSentence(answer)}</strong>
        <span className="grow" />
        <Csv name="capacity-nodes.csv" rows={() => nodesRows(answer)} />
      </div>
      <WithoutExtenders answer={answer} className={classes.note} />
      {answer.never.length === 0 ? null : (
        <>
          <p className={classes.note}>
            {t("podsPendingEvenWithSomething", {
              count: answer.never.length,
              such: t("suchNodes", { count: answer.limit }),
            })}
          </p>
          <ScrollRegion className={classes.scroll} label={t("podsThatNoSuchNode")}>
            <table className={classes.table}>
              <thead>
                <tr>
                  <th scope="col">{t("pod")}</th>
                  <th scope="col">{t("messageAsKubeSchedulerWrites")}</th>
                </tr>
              </thead>
              <tbody>
                {answer.never.map((one) => {
                  const target = splitPod(one.pod);
                  return (
                    <tr key={one.pod}>
                      <th scope="row">
                        <Link className="mono leads" to="/runs/$run/pods/$namespace/$name" params={{ run, ...target }}>
                          {one.pod}
                        </Link>
                      </th>
                      <td className={classes.wide}>{one.message}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </ScrollRegion>
        </>
      )}
    </>
  );
}

function Behind({ moment, shown }: { moment: ReturnType<typeof useMoment>; shown: boolean }) {
  if (moment.at === null)
    return (
      <p className={classes.note}>
        {t("theRunMovesOn")}{" "}
        <Button size="sm" onClick={moment.take}>
          {t("nAtThisMoment")}
        </Button>
      </p>
    );
  return moment.behind && shown ? (
    <p className={classes.note}>
      {t("theRunHasMovedOn")}{" "}
      <Button size="sm" onClick={moment.take}>
        {t("nAgain")}
      </Button>
    </p>
  ) : null;
}

function Csv({ name, rows }: { name: string; rows: () => (string | number)[][] }) {
  const save = () => {
    const address = URL.createObjectURL(new Blob([csv(rows())], { type: "text/csv" }));
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <Button size="sm" icon="download" onClick={save}>
      CSV
    </Button>
  );
}
