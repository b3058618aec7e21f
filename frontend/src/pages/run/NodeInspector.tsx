/** The selected node: what it has, what is requested of it, who is on it, and what can be done to it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "@/api/client";
import { nodeQuery } from "@/api/queries";
import type { NodeDetail, Run } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Chip, PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed, Outlines } from "@/components/Outcome";
import { Panel } from "@/components/Panel";
import { queueOf } from "@/components/states";
import { count } from "@/format/number";
import { quantity, resourceLabel } from "@/format/resources";
import { useKeys } from "@/keys/useKeys";

import classes from "./Inspector.module.css";
import type { Commander } from "./useCommand";

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
  const navigate = useNavigate({ from: "/runs/$run" });
  const close = () => void navigate({ search: (old) => ({ ...old, node: undefined }), replace: true });
  useKeys([{ keys: "Escape", label: "Close the selected node", group: "Run", run: close }]);
  const { data } = detail;
  const missing = detail.error instanceof ApiError && detail.error.status === 404;
  return (
    <Panel className={classes.panel ?? ""} aria-label={`Selected node ${node}`}>
      <div className={classes.top}>
        <Icon name="node" size={14} /><span className="muted">Node</span>
        <span className="grow" />
        <IconButton icon="close" label="Close (Esc)" iconSize={14} onClick={close} />
      </div>
      <h2 className={`${classes.name} mono`}>{node}</h2>
      {detail.isPending ? <Outlines count={4} height={24} label="Reading the node" /> : null}
      {detail.error === null ? null
        : <Failed what={missing ? `There is no node ${node} in this run.` : "The node could not be read."} error={missing ? null : detail.error} retry={() => void detail.refetch()} />}
      {data === undefined ? null : <Details run={run} node={data} />}
      {data === undefined || !operates || !data.present ? null : <Actions node={data} commander={commander} onDone={() => void detail.refetch()} />}
    </Panel>
  );
}

function Details({ run, node }: { run: Run; node: NodeDetail }) {
  const labels = Object.entries(node.labels);
  const [all, setAll] = useState(false);
  return (
    <>
      <p className="muted">{[node.zone, node.type, node.cordoned ? "cordoned" : "", node.present ? "" : "deleted"].filter(Boolean).join(" · ")}</p>
      <table className={classes.table}>
        <thead><tr><th scope="col"><span className="srOnly">Resource</span></th><th scope="col">Requested</th><th scope="col">Reserved</th><th scope="col">Free</th><th scope="col">Allocatable</th></tr></thead>
        <tbody>
          {node.resources.filter((one) => one.allocatable !== "0" || one.requested !== "0").map((one) => (
            <tr key={one.name}>
              <th scope="row" title={one.name}>{resourceLabel(one.name)}</th>
              {[one.requested, one.reserved, one.free, one.allocatable].map((value, index) => <td key={index} className="num">{quantity(value)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {node.taints.length === 0 ? null : (
        <>
          <h3 className={classes.title}>Taints</h3>
          <div className={classes.labels}>{node.taints.map((taint) => <Chip key={`${taint.key}${taint.effect}`}>{taint.key}{taint.value ? `=${taint.value}` : ""}:{taint.effect}</Chip>)}</div>
        </>
      )}
      <h3 className={classes.title}>
        Pods <Link to="/runs/$run/pods" params={{ run: run.id }} search={{ node: node.name }} className="leads num">{count(node.pods.count)}</Link>
      </h3>
      <div className={classes.pods}>
        {node.pods.results.slice(0, PODS).map((pod) => (
          <Link key={pod.key} to="/runs/$run" params={{ run: run.id }} search={(old) => ({ ...old, node: undefined, pod: `${pod.namespace}/${pod.name}` })} replace resetScroll={false}>
            <span className={`st-${queueOf(pod) ?? "gated"}`} style={{ color: "var(--m)", display: "inline-flex" }}><Icon name={queueOf(pod) ?? "minus"} size={12} /></span>
            <PodName pod={pod} /><span className="faint">{pod.namespace}</span>
          </Link>
        ))}
        {node.pods.count === 0 ? <span className="faint">None</span> : null}
        {node.pods.count > PODS ? <Link to="/runs/$run/pods" params={{ run: run.id }} search={{ node: node.name }} className="faint">{count(node.pods.count - PODS)} more</Link> : null}
      </div>
      {labels.length === 0 ? null : (
        <>
          <h3 className={classes.title}>Labels {count(labels.length)}</h3>
          <div className={classes.labels}>
            {(all ? labels : labels.slice(0, LABELS)).map(([key, value]) => <Chip key={key} title={`${key}=${value}`}>{key}{value === "" ? "" : `=${value}`}</Chip>)}
            {labels.length > LABELS ? <Button size="sm" kind="ghost" aria-expanded={all} onClick={() => setAll(!all)}>{all ? "Fewer" : `${count(labels.length - LABELS)} more`}</Button> : null}
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
          <Button onClick={() => send(node.cordoned ? "node_uncordon" : "node_cordon")} disabled={commander.busy !== null}
            title={node.cordoned ? "New pods may come again" : "No new pods; those that are there stay"}>{node.cordoned ? "Uncordon" : "Cordon"}</Button>
          <Button onClick={() => setAsked("drain")} disabled={commander.busy !== null} title="Cordon it and send its pods away">Drain…</Button>
          <Button kind="danger" onClick={() => setAsked("delete")} disabled={commander.busy !== null}>Delete…</Button>
        </div>
      ) : (
        <>
          <p className="muted">{asked === "drain" ? "The node is cordoned and its pods are scheduled anew elsewhere." : "The node goes, and the pods on it with it."}</p>
          <div className={classes.buttons}>
            <Button kind="danger-solid" onClick={() => send(asked === "drain" ? "node_drain" : "node_delete")}>{asked === "drain" ? "Drain the node" : "Delete the node"}</Button>
            <Button kind="ghost" onClick={() => setAsked(null)}>Keep it</Button>
          </div>
        </>
      )}
    </div>
  );
}
