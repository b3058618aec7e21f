/** Of a NetworkTopology what it costs from one place to another, of an AppGroup who talks to whom. */
import type { ObjectYaml } from "@/api/podTypes";
import { ScrollRegion } from "@/components/ScrollRegion";
import { count } from "@/format/number";
import { quantity } from "@/format/resources";

import { t } from "../texts";
import classes from "./NetworkTables.module.css";

type CostTable = ObjectYaml["costs"][number];

export function NetworkTables({ costs, dependencies }: Pick<ObjectYaml, "costs" | "dependencies">) {
  return (
    <>
      {costs.map((one) => (
        <Costs key={`${one.weights} ${one.topology_key}`} table={one} />
      ))}
      {dependencies.length === 0 ? null : <Dependencies dependencies={dependencies} />}
    </>
  );
}

function Costs({ table }: { table: CostTable }) {
  const { weights, topology_key: key, destinations, rows, more } = table;
  const most = Math.max(1, ...rows.flatMap((row) => row.costs.map((cost) => cost ?? 0)));
  return (
    <ScrollRegion className={classes.scroll} label={t("costsBetweenPlaces", { key, weights })}>
      <table className={classes.costs}>
        <caption>
          {t("costsBetweenPlaces", { key, weights })}
          {more === 0 ? null : ` ${t("morePlacesOfCosts", { count: more })}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">{t("costsFromAndTo")}</th>
            {destinations.map((name) => (
              <th key={name} scope="col" className="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ origin, costs }) => (
            <tr key={origin}>
              <th scope="row">{origin}</th>
              {destinations.map((name, index) => (
                <Cost key={name} cost={costs[index] ?? null} most={most} own={name === origin} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface CostProps {
  cost: number | null;
  most: number;
  /** To the place itself, of which nothing has to be said. */
  own: boolean;
}

/** The dearer the darker. */
function Cost({ cost, most, own }: CostProps) {
  if (cost === null) return <td className="num faint">{own ? "" : t("costNotNamed")}</td>;
  const share = `${Math.round((36 * cost) / most).toString()}%`;
  return (
    <td className="num" style={{ background: `color-mix(in srgb, var(--c-bar) ${share}, transparent)` }}>
      {count(cost)}
    </td>
  );
}

function Dependencies({ dependencies }: Pick<ObjectYaml, "dependencies">) {
  return (
    <ScrollRegion className={classes.scroll} label={t("whoTalksToWhom")}>
      <table className={classes.costs}>
        <caption>{t("whoTalksToWhom")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("talksWorkload")}</th>
            <th scope="col">{t("talksTo")}</th>
            <th scope="col" className="num">
              {t("talksMaxCost")}
            </th>
            <th scope="col" className="num">
              {t("talksMinBandwidth")}
            </th>
          </tr>
        </thead>
        <tbody>
          {dependencies.map((one, index) => (
            <tr key={index}>
              <th scope="row">{one.workload}</th>
              <td>{one.on}</td>
              <td className="num">{count(one.max_cost)}</td>
              <td className="num">{one.min_bandwidth === "0" ? "" : quantity(one.min_bandwidth)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
