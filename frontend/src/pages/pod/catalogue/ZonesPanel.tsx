/** NUMA zones of the nodes that are nearest to taking the pod: what each has free, and what it lacks. */
import type { NumaNode, NumaZone } from "@/api/podTypes";
import { Chip } from "@/components/Chip";
import { Panel, PanelHeader } from "@/components/Panel";
import { series } from "@/format/lists";
import { quantity } from "@/format/resources";

import { t } from "../texts";
import { ObjectLink } from "../yaml/ObjectLink";
import classes from "./Catalogue.module.css";

export function ZonesPanel({ nodes }: { nodes: NumaNode[] }) {
  if (nodes.length === 0) return null;
  return (
    <Panel aria-labelledby="numa-zones">
      <PanelHeader id="numa-zones" title={t("numaZones")}>
        <span className="faint">{t("numaNearest", { count: nodes.length })}</span>
      </PanelHeader>
      {nodes.map((node) => (
        <section key={node.node} className={classes.node} aria-label={t("numaZonesOf", { node: node.node })}>
          <div className={classes.head}>
            <ObjectLink object={{ kind: "NodeResourceTopology", namespace: "", name: node.node }} />
            <Chip>{node.policy}</Chip>
            <Chip>{t("numaScope", { scope: node.scope })}</Chip>
            {node.container === "" ? null : (
              <span className="faint">{t("numaContainer", { container: node.container })}</span>
            )}
          </div>
          <ul className={classes.zones}>
            {node.zones.map((zone) => (
              <Zone key={zone.name} zone={zone} />
            ))}
          </ul>
        </section>
      ))}
      <p className={classes.foot}>{t("numaSource")}</p>
    </Panel>
  );
}

function Zone({ zone }: { zone: NumaZone }) {
  const costs = zone.costs.map(({ name, value }) => t("numaCost", { zone: name, cost: value }));
  return (
    <li className={classes.zone}>
      <div className={classes.head}>
        <b className="mono">{zone.name}</b>
        <span className="grow" />
        <span className="faint">{series(costs)}</span>
      </div>
      {zone.resources.map((one) => (
        <div key={one.name} className={classes.resource}>
          <div className={classes.line}>
            <span>{one.name}</span>
            <span className="num">
              {t("numaFree", { free: quantity(one.free.text), all: quantity(one.allocatable.text) })}
            </span>
          </div>
          <span className={classes.bar} aria-hidden>
            <i className={classes.track} style={{ width: "100%" }} />
            <i
              className={classes.used}
              style={{ width: `${(100 * (1 - one.free.amount / Math.max(1, one.allocatable.amount))).toString()}%` }}
            />
          </span>
          {one.asked === null ? null : (
            <div className={classes.line}>
              {one.short === null ? (
                <span className={classes.ok}>{t("numaFits")}</span>
              ) : (
                <span className={classes.bad}>{t("numaShort", { amount: quantity(one.short.text) })}</span>
              )}
              <span className="faint num">{t("numaAsks", { amount: quantity(one.asked.text) })}</span>
            </div>
          )}
        </div>
      ))}
    </li>
  );
}
