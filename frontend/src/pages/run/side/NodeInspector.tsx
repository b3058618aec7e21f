/** The selected node: what it has, what is requested of it, who is on it, and what can be done to it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { ApiError } from "@/api/client";
import { nodeQuery } from "@/api/queries";
import type { NodeDetail, Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Chip, PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { queueOf } from "@/components/states";
import { count } from "@/format/number";
import { quantity, resourceLabel } from "@/format/resources";
import { later } from "@/parts/later";

import { SelectLink } from "../SelectLink";
import { t } from "../texts";
import type { Commander } from "../useCommand";
import classes from "./Inspector.module.css";
import { Reading } from "./Reading";

const NodeFacts = later(() => import("./NodeFacts"));
const PODS = 12;
const LABELS = 8;

interface NodeInspectorProps {
  run: Run;
  node: string;
  commander: Commander;
  operates: boolean;
}

export function NodeInspector({ run, node, commander, operates }: NodeInspectorProps) {
  const detail = useQuery(nodeQuery(run.id, node));
  const { data } = detail;
  const missing = detail.error instanceof ApiError && detail.error.status === 404;
  return (
    <section className={classes.panel} aria-label={t("selectedNode", { node })}>
      <div className={classes.top}>
        <Icon name="node" size={14} />
        <span className="muted">{t("node")}</span>
      </div>
      <h2 className={`${classes.name} mono`}>{node}</h2>
      {detail.isPending ? (
        <Reading label={t("readingTheNode")} failed={t("theNodeCouldNotBe")} retry={() => void detail.refetch()} />
      ) : null}
      {detail.error === null ? null : (
        <Failed
          what={missing ? t("thereIsNoNodeIn", { node }) : t("theNodeCouldNotBe")}
          error={missing ? null : detail.error}
          retry={() => void detail.refetch()}
        />
      )}
      {data === undefined ? null : <Details run={run} node={data} />}
      {data === undefined || !operates || !data.present ? null : (
        <Actions node={data} commander={commander} onDone={() => void detail.refetch()} />
      )}
    </section>
  );
}

function Details({ run, node }: { run: Run; node: NodeDetail }) {
  const labels = Object.entries(node.labels);
  const [all, setAll] = useState(false);
  return (
    <>
      <p className="muted">
        {[node.zone, node.type, node.cordoned ? t("cordoned") : "", node.present ? "" : t("nodeIsDeleted")]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">
              <span className="srOnly">{t("resource")}</span>
            </th>
            <th scope="col">{t("requested")}</th>
            <th scope="col">{t("reserved")}</th>
            <th scope="col">{t("free")}</th>
            <th scope="col">{t("allocatable")}</th>
          </tr>
        </thead>
        <tbody>
          {node.resources
            .filter((one) => one.allocatable !== "0" || one.requested !== "0")
            .map((one) => (
              <tr key={one.name}>
                <th scope="row" title={one.name}>
                  {resourceLabel(one.name)}
                </th>
                {[one.requested, one.reserved, one.free, one.allocatable].map((value, index) => (
                  <td key={index} className="num">
                    {quantity(value)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {node.taints.length === 0 ? null : (
        <>
          <h3 className={classes.title}>{t("taints")}</h3>
          <div className={classes.labels}>
            {node.taints.map((taint) => (
              <Chip key={`${taint.key}${taint.effect}`}>
                {taint.key}
                {taint.value ? `=${taint.value}` : ""}:{taint.effect}
              </Chip>
            ))}
          </div>
        </>
      )}
      <h3 className={classes.title}>
        {t("pods")}{" "}
        <Link to="/runs/$run/pods" params={{ run: run.id }} search={{ node: node.name }} className="leads num">
          {count(node.pods.count)}
        </Link>
      </h3>
      <div className={classes.pods}>
        {node.pods.results.slice(0, PODS).map((pod) => (
          <SelectLink key={pod.key} pod={`${pod.namespace}/${pod.name}`} node={null}>
            <span className={`st-${queueOf(pod) ?? "gated"}`} style={{ color: "var(--m)", display: "inline-flex" }}>
              <Icon name={queueOf(pod) ?? "minus"} size={12} />
            </span>
            <PodName pod={pod} />
            <span className="faint">{pod.namespace}</span>
          </SelectLink>
        ))}
        {node.pods.count === 0 ? <span className="faint">{t("none")}</span> : null}
        {node.pods.count > PODS ? (
          <Link to="/runs/$run/pods" params={{ run: run.id }} search={{ node: node.name }} className="faint">
            {t("nMore", { n: node.pods.count - PODS })}
          </Link>
        ) : null}
      </div>
      {node.numa === null && node.load === null && node.held.length === 0 ? null : (
        <Suspense>
          <NodeFacts run={run.id} node={node} />
        </Suspense>
      )}
      {labels.length === 0 ? null : (
        <>
          <h3 className={classes.title}>{t("labelsLabels", { labels: labels.length })}</h3>
          <div className={classes.labels}>
            {(all ? labels : labels.slice(0, LABELS)).map(([key, value]) => (
              <Chip key={key} title={`${key}=${value}`}>
                {key}
                {value === "" ? "" : `=${value}`}
              </Chip>
            ))}
            {labels.length > LABELS ? (
              <Button size="sm" kind="ghost" aria-expanded={all} onClick={() => setAll(!all)}>
                {all ? t("fewer") : t("labelsMore", { labels: labels.length - LABELS })}
              </Button>
            ) : null}
          </div>
        </>
      )}
    </>
  );
}

function Actions({ node, commander, onDone }: { node: NodeDetail; commander: Commander; onDone: () => void }) {
  const [asked, setAsked] = useState<"drain" | "delete" | null>(null);
  const send = (type: "node_cordon" | "node_uncordon" | "node_drain" | "node_delete") => {
    setAsked(null);
    void commander.send({ type, name: node.name }).then(onDone);
  };
  return (
    <div className={classes.actions}>
      {asked === null ? (
        <div className={classes.buttons}>
          <Button
            sends
            onClick={() => send(node.cordoned ? "node_uncordon" : "node_cordon")}
            disabled={commander.busy !== null}
            title={node.cordoned ? t("newPodsMayComeAgain") : t("noNewPodsThoseThat")}
          >
            {node.cordoned ? t("uncordon") : t("cordon")}
          </Button>
          <Button onClick={() => setAsked("drain")} disabled={commander.busy !== null} title={t("cordonItAndSendIts")}>
            {t("drain")}
          </Button>
          <Button kind="danger" onClick={() => setAsked("delete")} disabled={commander.busy !== null}>
            {t("delete")}
          </Button>
        </div>
      ) : (
        <>
          <p className="muted">{asked === "drain" ? t("theNodeIsCordonedAnd") : t("theNodeGoesAndThe")}</p>
          <div className={classes.buttons}>
            <Button kind="danger-solid" sends onClick={() => send(asked === "drain" ? "node_drain" : "node_delete")}>
              {asked === "drain" ? t("drainTheNode") : t("deleteTheNode")}
            </Button>
            <Button kind="ghost" onClick={() => setAsked(null)}>
              {t("keepIt")}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
