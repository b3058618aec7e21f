/** What plugins of the catalogue read of a node: places that are held there, its NUMA zones, and its load. */
import { Link } from "@tanstack/react-router";

import type { NodeDetail, NodeLoad } from "@/api/types";
import { Sparkline } from "@/components/Sparkline";
import { listed } from "@/format/lists";
import { shareText } from "@/format/number";
import { quantity, resourceLabel } from "@/format/resources";

import { t } from "../texts";
import inspector from "./Inspector.module.css";
import classes from "./NodeFacts.module.css";

export default function NodeFacts({ run, node }: { run: string; node: NodeDetail }) {
  return (
    <>
      {node.held.length === 0 ? null : <Held run={run} places={node.held} />}
      {node.numa === null ? null : <Zones numa={node.numa} />}
      {node.load === null ? null : <Load load={node.load} />}
    </>
  );
}

function Held({ run, places }: { run: string; places: NodeDetail["held"] }) {
  return (
    <section aria-label={t("heldByReservations")}>
      <h3 className={inspector.title}>{t("heldByReservations")}</h3>
      <ul>
        {places.map((place) => (
          <li key={place.name} className={classes.zone}>
            <div className={classes.line}>
              <Link
                to="/runs/$run/objects"
                params={{ run }}
                search={{ kind: "Reservation", object: `Reservation//${place.name}` }}
                className="mono leads"
              >
                {place.name}
              </Link>
            </div>
            {place.resources.map((one) => (
              <div key={one.name}>
                <div className={classes.line}>
                  <span title={one.name}>{resourceLabel(one.name)}</span>
                  <span className="num">
                    {t("heldOf", { held: quantity(one.held.text), all: quantity(one.allocatable.text) })}
                  </span>
                </div>
                <span className={classes.bar} aria-hidden>
                  <i
                    style={{ width: `${((100 * one.held.amount) / Math.max(1, one.allocatable.amount)).toString()}%` }}
                  />
                </span>
              </div>
            ))}
          </li>
        ))}
      </ul>
      <p className="faint">{t("heldForOthers")}</p>
    </section>
  );
}

function Zones({ numa }: { numa: NonNullable<NodeDetail["numa"]> }) {
  return (
    <section aria-label={t("numaZones")}>
      <h3 className={inspector.title}>{t("numaZones")}</h3>
      <p className="faint">
        {numa.policy} · {t("numaScope", { scope: numa.scope })}
      </p>
      <ul>
        {numa.zones.map((zone) => (
          <li key={zone.name} className={classes.zone}>
            <div className={classes.line}>
              <b className="mono">{zone.name}</b>
              <span className="faint">
                {listed(zone.costs.map(({ name, value }) => t("numaCost", { zone: name, cost: value })))}
              </span>
            </div>
            {zone.resources.map((one) => (
              <div key={one.name}>
                <div className={classes.line}>
                  <span title={one.name}>{resourceLabel(one.name)}</span>
                  <span className="num">
                    {t("numaFree", { free: quantity(one.free.text), all: quantity(one.allocatable.text) })}
                  </span>
                </div>
                <span className={classes.bar} aria-hidden>
                  <i
                    style={{
                      width: `${(100 * (1 - one.free.amount / Math.max(1, one.allocatable.amount))).toString()}%`,
                    }}
                  />
                </span>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Load({ load }: { load: NodeLoad }) {
  return (
    <section aria-label={t("load")}>
      <h3 className={inspector.title}>{t("load")}</h3>
      <div className={classes.loads}>
        {load.figures.map((one) => {
          const name = one.type === "CPU" ? "cpu" : one.type.toLowerCase();
          return (
            <div key={one.type}>
              <div className={classes.line}>
                <span>{name}</span>
                <b className="num">{shareText(one.average / 100)}</b>
              </div>
              {one.history.length > 1 ? (
                <Sparkline
                  values={one.history}
                  label={t("loadOver", {
                    resource: name,
                    minutes: Math.round((one.step * (one.history.length - 1)) / 60),
                    now: shareText((one.history.at(-1) ?? 0) / 100),
                  })}
                />
              ) : null}
              {one.deviation === null ? null : (
                <p className="faint num">{t("loadDeviation", { deviation: shareText(one.deviation / 100) })}</p>
              )}
            </div>
          );
        })}
      </div>
      <p className="faint">{load.source === "" ? "" : t("loadFrom", { source: load.source })}</p>
    </section>
  );
}
