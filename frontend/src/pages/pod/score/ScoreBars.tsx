import { useRef, useState } from "react";

import { scoresQuery, type ScoreWindow } from "@/api/podQueries";
import type { ScoreRow, Scores } from "@/api/podTypes";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { useRowHeight } from "@/components/useRowHeight";
import { clauses, listed } from "@/format/lists";
import { count } from "@/format/number";

import { t } from "../texts";
import { useWindows, type Windows } from "../useWindows";
import type { PluginLook } from "./pluginColours";
import classes from "./ScoreBars.module.css";
import { SHOWN, TOP } from "./scoreWindows";

export interface ScoreViewProps {
  run: string;
  attempt: number;
  scores: Scores;
  looks: readonly PluginLook[];
  window: ScoreWindow;
  selected: string | null;
  onSelect: (row: ScoreRow) => void;
}

const ROW = 28;
/** Narrower than this share of the bar, a segment has no room for its number. */
const NUMBERED = 0.035;

/** Rank as people write it: `1=` for a shared one. */
export function rankText(row: ScoreRow): string {
  return `${count(row.rank)}${row.tied ? "=" : ""}`;
}

export function ScoreBars(props: ScoreViewProps) {
  const { scores, run, attempt, window } = props;
  const [all, setAll] = useState(false);
  const rest = scores.count - SHOWN;
  if (all || rest <= 0) {
    return <AllBars {...props} query={(offset) => scoresQuery(run, attempt, { ...window, offset })} />;
  }
  const lowest = scores.histogram[0]?.low;
  const top = scores.rows.slice(0, SHOWN);
  const apart = scores.chosen !== null && !top.some((row) => row.chosen) ? scores.chosen : null;
  return (
    <>
      <Table {...props} scale={scaleOf(props)}>
        {top.map((row) => (
          <BarRow key={row.node} {...props} row={row} scale={scaleOf(props)} />
        ))}
        {apart === null ? null : <BarRow {...props} row={apart} scale={scaleOf(props)} />}
      </Table>
      <button type="button" className={`leads ${classes.more}`} onClick={() => setAll(true)}>
        {clauses([t("moreNodes", { count: rest }), ...(lowest === undefined ? [] : [t("downTo", { lowest })])])}
      </button>
    </>
  );
}

/** The widest bar: the best total, or with plugins left out the best sum of what is shown. */
function scaleOf({ scores, looks }: Pick<ScoreViewProps, "scores" | "looks">): number {
  const rows = [...scores.rows, ...(scores.chosen === null ? [] : [scores.chosen])];
  return Math.max(
    1,
    ...rows.map((row) => looks.reduce((sum, look) => sum + Math.max(0, row.cells[look.cell]?.points ?? 0), 0)),
  );
}

function AllBars({ query, ...props }: ScoreViewProps & { query: (offset: number) => ReturnType<typeof scoresQuery> }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight(ROW);
  const rows = useWindows({
    scroller,
    count: props.scores.count,
    rowHeight,
    size: TOP,
    query,
    rows: (answer) => answer.rows,
  });
  const scale = scaleOf(props);
  return (
    <ScrollRegion ref={scroller} className={classes.scroll} label={t("scoresByNode")}>
      <Table {...props} scale={scale}>
        <Virtual
          rows={rows}
          columns={5}
          render={(row) => <BarRow key={row.node} {...props} row={row} scale={scale} />}
        />
      </Table>
      {rows.failed === null ? null : (
        <Failed small what={t("moreScoresCouldNotBe")} error={rows.failed} retry={rows.retry} />
      )}
    </ScrollRegion>
  );
}

export function Virtual({
  rows,
  columns,
  render,
}: {
  rows: Windows<ScoreRow>;
  columns: number;
  render: (row: ScoreRow) => React.ReactNode;
}) {
  return (
    <>
      {rows.before > 0 ? <tr aria-hidden="true" style={{ height: rows.before }} /> : null}
      {rows.items.map((item) => {
        const row = rows.rowAt(item.index);
        return row === undefined ? (
          <tr key={item.index} style={{ height: ROW }}>
            <td colSpan={columns} className="faint">
              …
            </td>
          </tr>
        ) : (
          render(row)
        );
      })}
      {rows.after > 0 ? <tr aria-hidden="true" style={{ height: rows.after }} /> : null}
    </>
  );
}

function Table({
  scores,
  looks,
  scale,
  children,
}: Pick<ScoreViewProps, "scores" | "looks"> & { scale: number; children: React.ReactNode }) {
  const everything = looks.length === scores.plugins.length && scale === scores.best;
  return (
    <table className={classes.bars} aria-rowcount={scores.count + 1}>
      <thead>
        <tr>
          <th className={classes.rank}>{t("rank")}</th>
          <th>{t("node")}</th>
          <th>{t("0To", { which: everything ? t("total") : t("whatDiffers"), scale })}</th>
          <th className={classes.total}>{t("total")}</th>
          <th className={classes.toBest}>{t("toBest")}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

function BarRow({ row, looks, scale, selected, onSelect }: ScoreViewProps & { row: ScoreRow; scale: number }) {
  return (
    <tr
      className={classes.row}
      data-chosen={row.chosen || undefined}
      data-selected={row.node === selected || undefined}
    >
      <td className={`${classes.rank} num`}>{rankText(row)}</td>
      <td className={classes.node}>
        <button
          type="button"
          className="mono"
          aria-pressed={row.node === selected}
          title={t("stepByStep", { node: row.node })}
          onClick={() => onSelect(row)}
        >
          {row.node}
        </button>
        {row.chosen ? (
          <span className={classes.chosen}>
            <Icon name="bound" size={12} />
            {t("chosen")}
          </span>
        ) : null}
      </td>
      <td className={classes.barCell}>
        <Bar row={row} looks={looks} scale={scale} />
      </td>
      <td className={`${classes.total} num`}>{count(row.total)}</td>
      <td className={`${classes.toBest} num`}>{row.to_best === 0 ? "" : `−${count(-row.to_best)}`}</td>
    </tr>
  );
}

function Bar({ row, looks, scale }: { row: ScoreRow; looks: readonly PluginLook[]; scale: number }) {
  const parts = looks
    .map((look) => ({ look, cell: row.cells[look.cell] }))
    .filter(({ cell }) => cell !== undefined && cell.points > 0);
  const sentence = listed(parts.map(({ look, cell }) => `${look.name} ${count(cell?.points ?? 0)}`));
  return (
    <span
      className={classes.bar}
      role="img"
      aria-label={t("barsOfNode", { node: row.node, which: sentence === "" ? t("nothing") : sentence })}
    >
      {parts.map(({ look, cell }) => {
        const points = cell?.points ?? 0;
        return (
          <i
            key={look.name}
            className={classes.segment}
            data-hatched={look.hatched || undefined}
            style={{
              width: `${(points / scale) * 100}%`,
              background: `var(--pl-${look.colour})`,
              color: `var(--pl-${look.colour}-on)`,
            }}
            title={t("rawNormalised", {
              name: look.name,
              raw: cell?.raw ?? 0,
              normalized: cell?.normalized ?? 0,
              weight: look.weight,
              points,
            })}
          >
            {points / scale >= NUMBERED ? <b>{count(points)}</b> : null}
          </i>
        );
      })}
    </span>
  );
}
