/** What is held of each kind, and how far it is. */
import type { ClusterDetails, ClusterKind } from "@/api/clusters";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { bytes, count, fixed } from "@/format/number";
import { age, exact, seconds } from "@/format/time";

import classes from "./Clusters.module.css";
import { t } from "./texts";

export function Kinds({ cluster, now }: { cluster: ClusterDetails; now: number }) {
  const held = cluster.kinds.reduce((sum, one) => sum + one.objects, 0);
  return (
    <Panel aria-labelledby="objects">
      <PanelHeader title={t("objects")} id="objects">
        <span className="muted">
          {t("heldOf", { objects: count(held), kinds: cluster.kinds.length, read: bytes(cluster.bytes_read) })}
        </span>
        <span className="grow" />
        <span className="muted num">{t("changesASecond", { rate: fixed(cluster.rate, 1) })}</span>
      </PanelHeader>
      <ScrollRegion label={t("objects")} className={classes.scrolls}>
        <table className={classes.kinds}>
          <thead>
            <tr>
              <th>{t("kind")}</th>
              <th className="num">{t("objects")}</th>
              <th className="num">{t("lastChange")}</th>
              <th className="num">{t("lag")}</th>
              <th>{t("state")}</th>
            </tr>
          </thead>
          <tbody>
            {cluster.kinds.map((kind) => (
              <Row key={`${kind.group}/${kind.plural}`} kind={kind} now={now} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {cluster.clock_ahead === null ? null : (
        <p className={classes.note}>
          {t(cluster.clock_ahead < 0 ? "clockBehind" : "clockAhead", {
            seconds: seconds(Math.abs(cluster.clock_ahead)),
          })}
        </p>
      )}
    </Panel>
  );
}

function Row({ kind, now }: { kind: ClusterKind; now: number }) {
  const changed = kind.changed_at === null ? t("never") : age(Math.max(0, now - Date.parse(kind.changed_at)));
  return (
    <tr>
      <td className="mono">{kind.plural}</td>
      <td className="num">{count(kind.state === "catching_up" ? kind.read : kind.objects)}</td>
      <td className="num faint">{changed}</td>
      <td className="num faint">{kind.lag === null ? "" : seconds(kind.lag)}</td>
      <td>
        <span className={classes.state} data-state={kind.state} title={exact(kind.since)}>
          <i aria-hidden="true" />
          {t(`kind.${kind.state}`)}
        </span>
        {kind.problem === "" ? null : <p className={classes.problem}>{kind.problem}</p>}
      </td>
    </tr>
  );
}
