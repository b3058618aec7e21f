/** What every plugin said at one extension point: its code and reasons, in the order they were asked. */
import type { Attempt, AttemptPoint, Decisions, PluginVerdict } from "@/api/podTypes";
import { Icon, type IconName } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { milliseconds } from "@/format/milliseconds";

import { rich, t } from "../texts";
import { ObjectLink } from "../yaml/ObjectLink";
import classes from "./PluginVerdicts.module.css";
import { PreemptionPoint } from "./PreemptionPoint";

const PLAIN: Record<string, string> = {
  get PreEnqueue() {
    return t("mayThePodEnterThe");
  },
  get PreFilter() {
    return t("lookAtThePodOnce");
  },
  get Filter() {
    return t("mayThePodRunOn");
  },
  get PostFilter() {
    return t("noNodeFitsCanSomething");
  },
  get PreScore() {
    return t("lookAtTheFeasibleNodes");
  },
  get Score() {
    return t("howGoodIsEachFeasible");
  },
  get Reserve() {
    return t("claimWhatTheChosenNode");
  },
  get Permit() {
    return t("mayItBeBoundNow");
  },
  get PreBind() {
    return t("prepareBeforeBinding");
  },
  get Bind() {
    return t("writeTheBinding");
  },
  get PostBind() {
    return t("tellThatItIsBound");
  },
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
        {took?.us === undefined || took.us === null ? null : (
          <span className="faint num" title={t("fromTheEndOfThe")}>
            {milliseconds(took.us)}
          </span>
        )}
      </div>
      {point.plugins.length === 0 ? (
        <Empty small>
          {!reached
            ? t("notReachedTheAttemptEnded")
            : point.state === "skipped"
              ? t("skippedNote", { note: point.note })
              : `${sentence(point.note)}.`}
        </Empty>
      ) : (
        <div className={classes.scroll} role="region" aria-label={t("pluginsAt", { point: point.point })}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th>{t("plugin")}</th>
                <th>{t("code")}</th>
                <th>{t("whatItSaid")}</th>
              </tr>
            </thead>
            <tbody>
              {point.plugins.map((one, index) => (
                <Row
                  key={`${one.plugin}-${index}`}
                  verdict={one}
                  us={took?.plugins.find((each) => each.plugin === one.plugin)?.us}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {point.point === "PostFilter" && point.plugins.length > 0 ? (
        <PreemptionPoint run={run} attempt={attempt.number} />
      ) : null}
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
      <td className={classes.code} data-tone={tone}>
        <Icon name={icon} size={13} />
        {verdict.code}
      </td>
      <td className="muted">
        {said}
        {us === undefined ? null : <span className="faint num"> {milliseconds(us)}</span>}
      </td>
    </tr>
  );
}

const ACTIONS = {
  get bound() {
    return t("isBoundTo");
  },
  get match() {
    return t("isMatchedWith");
  },
  get provision() {
    return t("getsANewVolumeOf");
  },
} as const;

/** What Reserve chose for the pod's claims. */
function Decided({ decisions }: { decisions: Decisions }) {
  if (decisions.volumes.length + decisions.devices.length === 0) return null;
  return (
    <div className={classes.decided}>
      <h4>{t("decidedForItsClaims")}</h4>
      <ul>
        {decisions.volumes.map((one) => (
          <li key={`${one.claim} ${one.volume}`}>
            <ObjectLink object={{ kind: "PersistentVolumeClaim", namespace: one.namespace, name: one.claim }} />{" "}
            {ACTIONS[one.action]}{" "}
            {one.action === "provision" ? (
              <ObjectLink object={{ kind: "StorageClass", namespace: "", name: one.storage_class }} />
            ) : (
              <ObjectLink object={{ kind: "PersistentVolume", namespace: "", name: one.persistent_volume }} />
            )}
          </li>
        ))}
        {decisions.devices.map((one) => (
          <li key={`${one.claim} ${one.driver} ${one.pool} ${one.device}`}>
            <ObjectLink object={{ kind: "ResourceClaim", namespace: one.namespace, name: one.claim }} />{" "}
            {rich(one.admin_access ? "getsDeviceAsAdmin" : "getsDevice", {
              device: <span className="mono">{one.device}</span>,
              pool: <span className="mono">{one.pool}</span>,
              driver: one.driver,
              request: one.request,
            })}
          </li>
        ))}
      </ul>
    </div>
  );
}
