/** What every plugin said at one extension point: its code and reasons, in the order they were asked. */
import type { Attempt, AttemptPoint, Decisions, PluginVerdict } from "@/api/podTypes";
import { Icon, type IconName } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { milliseconds } from "@/format/milliseconds";

import { ObjectLink } from "./ObjectLink";
import classes from "./PluginVerdicts.module.css";
import { PreemptionPoint } from "./PreemptionPoint";

const PLAIN: Record<string, string> = {
  PreEnqueue: "may the pod enter the queue at all",
  PreFilter: "look at the pod once, before the nodes",
  Filter: "may the pod run on this node",
  PostFilter: "no node fits: can something be made free",
  PreScore: "look at the feasible nodes once",
  Score: "how good is each feasible node",
  Reserve: "claim what the chosen node gives",
  Permit: "may it be bound, now, later or not",
  PreBind: "prepare before binding",
  Bind: "write the binding",
  PostBind: "tell that it is bound",
};

function iconOf(code: string): { icon: IconName; tone: string } {
  if (code === "Success") return { icon: "bound", tone: "ok" };
  if (code === "Skip") return { icon: "minus", tone: "skip" };
  if (code === "Wait") return { icon: "waiting", tone: "wait" };
  return code === "Error" ? { icon: "warning", tone: "bad" } : { icon: "unschedulable", tone: "bad" };
}

export function PluginVerdicts({ run, attempt, point }: { run: string; attempt: Attempt; point: AttemptPoint }) {
  const reached = point.state !== "not_reached";
  const took = attempt.timing?.points.find((one) => one.point === point.point);
  return (
    <>
      <div className={classes.head}>
        <h3>{point.point}</h3>
        <span className="muted">{PLAIN[point.point]}</span>
        {took?.us === undefined || took.us === null ? null : <span className="faint num" title="From the end of the point before">{milliseconds(took.us)}</span>}
      </div>
      {point.plugins.length === 0 ? (
        <Empty small>{!reached ? "Not reached: the attempt ended before." : point.state === "skipped" ? `Skipped: ${point.note}.` : `${sentence(point.note)}.`}</Empty>
      ) : (
        <div className={classes.scroll} role="region" aria-label={`Plugins at ${point.point}`}>
          <table className={classes.table}>
            <thead><tr><th>Plugin</th><th>Code</th><th>What it said</th></tr></thead>
            <tbody>{point.plugins.map((one, index) => <Row key={`${one.plugin}-${index}`} verdict={one} us={took?.plugins.find((each) => each.plugin === one.plugin)?.us} />)}</tbody>
          </table>
        </div>
      )}
      {point.point === "PostFilter" && point.plugins.length > 0 ? <PreemptionPoint run={run} attempt={attempt.number} /> : null}
      {point.point === "Reserve" ? <Decided decisions={attempt.decisions} /> : null}
    </>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function Row({ verdict, us }: { verdict: PluginVerdict; us: number | undefined }) {
  const { icon, tone } = iconOf(verdict.code);
  const said = [...verdict.reasons, ...(verdict.note === undefined ? [] : [verdict.note])].join(" · ");
  return (
    <tr>
      <td className={classes.plugin}>{verdict.plugin}</td>
      <td className={classes.code} data-tone={tone}><Icon name={icon} size={13} />{verdict.code}</td>
      <td className="muted">{said}{us === undefined ? null : <span className="faint num"> {milliseconds(us)}</span>}</td>
    </tr>
  );
}

const ACTIONS = { bound: "is bound to", match: "is matched with", provision: "gets a new volume of" } as const;

/** What Reserve chose for the pod's claims. */
function Decided({ decisions }: { decisions: Decisions }) {
  if (decisions.volumes.length + decisions.devices.length === 0) return null;
  return (
    <div className={classes.decided}>
      <h4>Decided for its claims</h4>
      <ul>
        {decisions.volumes.map((one) => (
          <li key={`${one.claim} ${one.volume}`}>
            <ObjectLink object={{ kind: "PersistentVolumeClaim", namespace: one.namespace, name: one.claim }} /> {ACTIONS[one.action]}{" "}
            {one.action === "provision" ? <ObjectLink object={{ kind: "StorageClass", namespace: "", name: one.storage_class }} />
              : <ObjectLink object={{ kind: "PersistentVolume", namespace: "", name: one.persistent_volume }} />}
          </li>
        ))}
        {decisions.devices.map((one) => (
          <li key={`${one.claim} ${one.driver} ${one.pool} ${one.device}`}>
            <ObjectLink object={{ kind: "ResourceClaim", namespace: one.namespace, name: one.claim }} /> gets <span className="mono">{one.device}</span> of pool{" "}
            <span className="mono">{one.pool}</span> ({one.driver}) for request {one.request}{one.admin_access ? ", with admin access" : ""}
          </li>
        ))}
      </ul>
    </div>
  );
}
