/** How full nodes are in both runs: share in use, spread over the nodes, and the fullest one; a table with the numbers behind. */
import type { ComparedResource, Sides } from "@/api/compareQueries";
import { Empty } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { fixed } from "@/format/number";
import { amount, resourceLabel } from "@/format/resources";

import classes from "./Compare.module.css";
import { SideName } from "./SideName";
import { t } from "./texts";
import { type Names, shareText } from "./words";

interface FullnessProps {
  comparison: Sides;
  names: Names;
  asTable: boolean;
  onView: (table: boolean) => void;
}

interface Both {
  name: string;
  a: ComparedResource | null;
  b: ComparedResource | null;
}

export function bothOf({ a, b }: Sides): Both[] {
  const names = [...new Set([...a.resources, ...b.resources].map((one) => one.name))];
  return names.map((name) => ({
    name,
    a: a.resources.find((one) => one.name === name) ?? null,
    b: b.resources.find((one) => one.name === name) ?? null,
  }));
}

export function Fullness({ comparison, names, asTable, onView }: FullnessProps) {
  const rows = bothOf(comparison);
  return (
    <Panel aria-labelledby="fullness">
      <PanelHeader id="fullness" title={t("howFullNodesAre")}>
        <span className="muted hidePhone">{t("requestsOfAllocatable")}</span>
        <span className="grow" />
        <Segmented
          label={t("useOfNodesAs")}
          value={asTable ? "table" : "bars"}
          onChange={(view) => onView(view === "table")}
          options={[
            { value: "bars", label: t("viewBars") },
            { value: "table", label: t("viewTable") },
          ]}
        />
      </PanelHeader>
      {rows.length === 0 ? (
        <Empty>{t("neitherRunHasBegun")}</Empty>
      ) : asTable ? (
        <Table rows={rows} names={names} />
      ) : (
        <div className={classes.body}>
          <div className={classes.pictures}>
            {rows.map((row) => (
              <Picture key={row.name} row={row} names={names} />
            ))}
          </div>
          <p className={classes.legend}>
            <span>{t("barMeanOfTheNodes")}</span>
            <span>{t("lineOneStandardDeviationTo")}</span>
            <span>{t("markTheFullestNode")}</span>
          </p>
        </div>
      )}
    </Panel>
  );
}

function Picture({ row, names }: { row: Both; names: Names }) {
  return (
    <div className={classes.picture}>
      <b title={row.name}>{resourceLabel(row.name)}</b>
      <Line side="a" name={names.a} one={row.a} />
      <Line side="b" name={names.b} one={row.b} />
    </div>
  );
}

const at = (share: number): string => `${Math.min(100, Math.max(0, share * 100))}%`;

function Line({ side, name, one }: { side: "a" | "b"; name: string; one: ComparedResource | null }) {
  const { mean = null, deviation = null, highest = null } = one ?? {};
  const text = mean === null || deviation === null ? t("none") : `${shareText(mean)} ± ${fixed(deviation * 100, 1)}`;
  const sentence = t("meanFullest", { name, text, shareText: shareText(highest) });
  return (
    <div className={classes.line} data-side={side}>
      <i aria-hidden="true">{side.toUpperCase()}</i>
      <span className={classes.track} role="img" aria-label={sentence} title={sentence}>
        {mean === null || deviation === null || highest === null ? null : (
          <>
            <span className={classes.fill} style={{ width: at(mean) }} />
            <span
              className={classes.range}
              style={{ left: at(mean - deviation), right: `calc(100% - ${at(mean + deviation)})` }}
            />
            <span className={classes.most} style={{ left: `calc(${at(highest)} - 2px)` }} />
          </>
        )}
      </span>
      <span className="num" aria-hidden="true">
        {text}
      </span>
    </div>
  );
}

function Table({ rows, names }: { rows: readonly Both[]; names: Names }) {
  return (
    <ScrollRegion className={classes.scroller} label={t("useOfNodesTable")}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("resource")}</th>
            <th scope="col" className={classes.left}>
              {t("run")}
            </th>
            <th scope="col">{t("requested")}</th>
            <th scope="col">{t("allocatable")}</th>
            <th scope="col">{t("share")}</th>
            <th scope="col">{t("mean")}</th>
            <th scope="col">{t("stdDeviation")}</th>
            <th scope="col">{t("fullest")}</th>
            <th scope="col">{t("zonesApart")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.flatMap((row) =>
            (["a", "b"] as const)
              .map((side) => [side, row[side]] as const)
              .map(([side, one]) =>
                one === null ? null : (
                  <tr key={`${row.name} ${side}`}>
                    <th scope="row">{row.name}</th>
                    <td className={classes.left}>
                      <SideName name={names[side]} />
                    </td>
                    <td>{amount(row.name, one.used)}</td>
                    <td>{amount(row.name, one.allocatable)}</td>
                    <td>{shareText(one.share)}</td>
                    <td>{shareText(one.mean)}</td>
                    <td>{shareText(one.deviation)}</td>
                    <td>{shareText(one.highest)}</td>
                    <td>{shareText(one.zones_apart)}</td>
                  </tr>
                ),
              ),
          )}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
