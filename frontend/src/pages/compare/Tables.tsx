/** What both runs came to, what still fits, and how even zones are. */
import type { ComparedFigures, Sides } from "@/api/compareQueries";
import { Empty } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed } from "@/format/lists";
import { count, fixed } from "@/format/number";
import { amount, resourceLabel } from "@/format/resources";

import classes from "./Compare.module.css";
import { bothOf } from "./Fullness";
import { SideName } from "./SideName";
import { rich, t } from "./texts";
import { type Names, shareText, signed, waitDifference, waitText } from "./words";

interface Props {
  comparison: Sides;
  names: Names;
}

interface Fact {
  name: string;
  of: (side: ComparedFigures) => number | null;
  text?: (value: number | null) => string;
  difference?: (value: number) => string;
}

const FACTS: readonly Fact[] = [
  {
    get name() {
      return t("podsPlaced");
    },
    of: (side) => side.placed,
  },
  {
    get name() {
      return t("podsNotPlaced");
    },
    of: (side) => side.unscheduled,
  },
  {
    get name() {
      return t("podsGated");
    },
    of: (side) => side.gated,
  },
  {
    get name() {
      return t("nodesInUse");
    },
    of: (side) => side.nodes_in_use,
  },
  {
    get name() {
      return t("attempts");
    },
    of: (side) => side.attempts.total,
  },
  {
    get name() {
      return t("attemptsPerPodTried");
    },
    of: (side) => side.attempts.mean,
    text: (value) => (value === null ? "–" : fixed(value, 2)),
    difference: (value) => signed(value, 2),
  },
  {
    get name() {
      return t("mostAttemptsOfAPod");
    },
    of: (side) => side.attempts.most,
  },
  {
    get name() {
      return t("podsPreempted");
    },
    of: (side) => side.attempts.victims,
  },
  {
    get name() {
      return t("waitedMedian");
    },
    of: (side) => side.waiting.p50,
    text: waitText,
    difference: waitDifference,
  },
  {
    get name() {
      return t("waited95Of100At");
    },
    of: (side) => side.waiting.p95,
    text: waitText,
    difference: waitDifference,
  },
  {
    get name() {
      return t("waitedLongest");
    },
    of: (side) => side.waiting.longest,
    text: waitText,
    difference: waitDifference,
  },
];

const countText = (value: number | null) => (value === null ? "–" : count(value));

export function CameTo({ comparison: { a, b }, names }: Props) {
  return (
    <Panel aria-labelledby="came-to">
      <PanelHeader id="came-to" title={t("whatTheyCameTo")} />
      <ScrollRegion className={classes.scroller} label={t("numbersOfBothRuns")}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">
                <span className="srOnly">{t("number")}</span>
              </th>
              <th scope="col">
                <SideName name={names.a} />
              </th>
              <th scope="col">
                <SideName name={names.b} />
              </th>
              <th scope="col">{t("bA")}</th>
            </tr>
          </thead>
          <tbody>
            {FACTS.map(({ name, of, text = countText, difference = signed }) => {
              const [one, two] = [of(a), of(b)];
              return (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{text(one)}</td>
                  <td>{text(two)}</td>
                  <td>{one === null || two === null ? "" : <b>{difference(two - one)}</b>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollRegion>
    </Panel>
  );
}

export function StillFits({ comparison, names }: Props) {
  const rows = bothOf(comparison).filter((row) => row.name !== "pods");
  const kinds = [...new Set([...comparison.a.gpus, ...comparison.b.gpus].map((one) => one.resource))];
  if (rows.length === 0) return null;
  return (
    <Panel aria-labelledby="fits">
      <PanelHeader id="fits" title={t("whatStillFits")}>
        <span className="muted hidePhone">{t("largestRequestThatOneNode")}</span>
      </PanelHeader>
      <ScrollRegion className={classes.scroller} label={t("largestRequestThatOneNode")}>
        <table className={`${classes.table ?? ""} ${classes.fits ?? ""}`}>
          <thead>
            <tr>
              <th scope="col">{t("resource")}</th>
              <th scope="col">{rich("aLargest", { a: names.a, name: () => <SideName name={names.a} /> })}</th>
              <th scope="col">{t("freeInAll")}</th>
              <th scope="col">{rich("bLargest", { b: names.b, name: () => <SideName name={names.b} /> })}</th>
              <th scope="col">{t("freeInAll")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, a, b }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[a, b].map((one, side) =>
                  one === null
                    ? [<td key={`l${side}`} />, <td key={`f${side}`} />]
                    : [
                        <td key={`l${side}`} title={one.largest_node}>
                          {amount(name, one.largest)}
                        </td>,
                        <td key={`f${side}`}>{amount(name, one.free)}</td>,
                      ],
                )}
              </tr>
            ))}
            {kinds.flatMap((kind) => {
              const [one, two] = [comparison.a, comparison.b].map((side) =>
                side.gpus.find((found) => found.resource === kind),
              );
              return (
                (one ?? two)?.fits.map(({ gpus }, place) => (
                  <tr key={`${kind} ${gpus}`}>
                    <th scope="row">{t("podsOf", { gpus, kind })}</th>
                    <td>{one === undefined ? "" : count(one.fits[place]?.pods ?? 0)}</td>
                    <td className={classes.islands}>{place === 0 ? islandText(one?.nodes) : ""}</td>
                    <td>{two === undefined ? "" : count(two.fits[place]?.pods ?? 0)}</td>
                    <td className={classes.islands}>{place === 0 ? islandText(two?.nodes) : ""}</td>
                  </tr>
                )) ?? []
              );
            })}
          </tbody>
        </table>
      </ScrollRegion>
    </Panel>
  );
}

/** "3 nodes × 8, 1 × 2": how free GPUs are scattered; lines break between the pieces. */
function islandText(nodes: readonly { free: number; nodes: number }[] | undefined): string {
  if (nodes === undefined) return "";
  const parts = [...nodes]
    .reverse()
    .map((one) => t("nodesFreeFree", { nodes: one.nodes, free: one.free }).replaceAll(" ", "\u00a0"));
  return parts.length === 0 ? t("noNodeHasOneFree") : listed(parts.length > 4 ? [...parts.slice(0, 4), "…"] : parts);
}

export function Zones({ comparison: { a, b }, names }: Props) {
  const zones = [...new Set([...a.zones, ...b.zones].map((zone) => zone.name))].sort();
  const shown = [...new Set([...a.zones, ...b.zones].flatMap((zone) => zone.shares.map((share) => share.name)))].filter(
    (name) => name === "cpu" || name === "memory" || name.endsWith("/gpu"),
  );
  const heads = shown.map((name) =>
    shown.some((other) => other !== name && resourceLabel(other) === resourceLabel(name)) ? name : resourceLabel(name),
  );
  return (
    <Panel aria-labelledby="zones">
      <PanelHeader id="zones" title={t("zones")}>
        <span className="muted hidePhone">{t("requestsOfWhatAZone")}</span>
      </PanelHeader>
      {zones.length < 2 ? (
        <Empty small>{t("allNodesAreInOne")}</Empty>
      ) : (
        <ScrollRegion className={classes.scroller} label={t("useOfZones")}>
          <table className={`${classes.table ?? ""} ${classes.zones ?? ""}`}>
            <thead>
              <tr>
                <th scope="col">{t("zone")}</th>
                <th scope="col">{t("nodes")}</th>
                <th scope="col" className={classes.left}>
                  {t("run")}
                </th>
                {shown.map((name, place) => (
                  <th key={name} scope="col" title={name}>
                    {heads[place]}
                  </th>
                ))}
              </tr>
            </thead>
            {zones.map((zone) => {
              const both = [a, b].map((side) => side.zones.find((one) => one.name === zone));
              return (
                <tbody key={zone}>
                  {both.map((side, place) => (
                    <tr key={place}>
                      {place > 0 ? null : (
                        <>
                          <th scope="rowgroup" rowSpan={2}>
                            {zone === "" ? t("noZone") : zone}
                          </th>
                          <td rowSpan={2}>{count(both[0]?.nodes ?? both[1]?.nodes ?? 0)}</td>
                        </>
                      )}
                      <td className={classes.left}>
                        <SideName name={place === 0 ? names.a : names.b} />
                      </td>
                      {shown.map((name) => (
                        <td key={name}>{shareText(side?.shares.find((one) => one.name === name)?.share ?? null)}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              );
            })}
          </table>
        </ScrollRegion>
      )}
    </Panel>
  );
}
