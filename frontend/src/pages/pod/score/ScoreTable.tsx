import { useRef } from "react";

import { scoresQuery } from "@/api/podQueries";
import type { ScoreRow } from "@/api/podTypes";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { useRowHeight } from "@/components/useRowHeight";
import { count } from "@/format/number";

import { t } from "../texts";
import { useWindows } from "../useWindows";
import { rankText, type ScoreViewProps, Virtual } from "./ScoreBars";
import classes from "./ScoreTable.module.css";
import { TOP } from "./scoreWindows";

interface ScoreTableProps extends ScoreViewProps {
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

/** The same numbers as a table: raw, normalised and points of every plugin. The server sorts. */
export function ScoreTable(props: ScoreTableProps) {
  const { scores, looks, run, attempt, window, sort, onSort } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight(24);
  const rows = useWindows({
    scroller,
    count: scores.count,
    rowHeight,
    size: TOP,
    query: (offset) => scoresQuery(run, attempt, { ...window, offset }),
    rows: (answer) => answer.rows,
  });
  return (
    <ScrollRegion ref={scroller} className={classes.scroll} label={t("scoresByNode")}>
      <table className={classes.table} aria-rowcount={scores.count + 2}>
        <thead>
          <tr>
            <th rowSpan={2} className={classes.number}>
              {t("rank")}
            </th>
            <Sorted name="node" label={t("node")} sort={sort} onSort={onSort} rowSpan={2} />
            {looks.map((look) => (
              <th
                key={look.name}
                colSpan={3}
                className={classes.plugin}
                scope="colgroup"
                aria-sort={orderOf(sort, look.name)}
              >
                <button
                  type="button"
                  title={t("sortByIt", { name: look.name, weight: look.weight })}
                  onClick={() => onSort(next(sort, look.name))}
                >
                  <i style={{ background: `var(--pl-${look.colour})` }} />
                  <abbr title={look.name}>{look.short}</abbr>
                  <em className="num"> × {count(look.weight)}</em>
                  <Arrow sort={sort} name={look.name} />
                </button>
              </th>
            ))}
            <Sorted name="total" label={t("total")} sort={sort} onSort={onSort} rowSpan={2} number />
          </tr>
          <tr>
            {looks.map((look) =>
              (["raw", "norm", "pts"] as const).map((part) => (
                <th key={`${look.name} ${part}`} className={classes.number} data-last={part === "pts" || undefined}>
                  {t(`part.${part}`)}
                </th>
              )),
            )}
          </tr>
        </thead>
        <tbody>
          <Virtual
            rows={rows}
            columns={looks.length * 3 + 3}
            render={(row) => <Row key={row.node} {...props} row={row} />}
          />
        </tbody>
      </table>
      {rows.failed === null ? null : (
        <Failed small what={t("moreScoresCouldNotBe")} error={rows.failed} retry={rows.retry} />
      )}
    </ScrollRegion>
  );
}

function orderOf(sort: string | undefined, name: string): "ascending" | "descending" | undefined {
  return sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined;
}

/** Numbers begin with the largest, names with A; the third press goes back to the ranking. */
function next(sort: string | undefined, name: string): string | undefined {
  const [first, second] = name === "node" ? [name, `-${name}`] : [`-${name}`, name];
  return sort === first ? second : sort === second ? undefined : first;
}

function Arrow({ sort, name }: { sort: string | undefined; name: string }) {
  const order = orderOf(sort, name);
  return order === undefined ? null : <Icon name={order === "ascending" ? "chevronUp" : "chevronDown"} size={11} />;
}

interface SortedProps {
  name: string;
  label: string;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
  rowSpan: number;
  number?: boolean;
}

function Sorted({ name, label, sort, onSort, rowSpan, number = false }: SortedProps) {
  return (
    <th rowSpan={rowSpan} className={number ? classes.number : undefined} aria-sort={orderOf(sort, name)}>
      <button type="button" onClick={() => onSort(next(sort, name))}>
        {label}
        <Arrow sort={sort} name={name} />
      </button>
    </th>
  );
}

function Row({ row, looks, selected, onSelect }: ScoreTableProps & { row: ScoreRow }) {
  return (
    <tr data-selected={row.node === selected || undefined}>
      <td className={classes.number}>{rankText(row)}</td>
      <td>
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
            <Icon name="bound" size={11} />
            <span className="srOnly">{t("chosen")}</span>
          </span>
        ) : null}
      </td>
      {looks.map((look) => {
        const cell = row.cells[look.cell];
        return [
          <td key={`${look.name} raw`} className={classes.number}>
            {count(cell?.raw ?? 0)}
          </td>,
          <td key={`${look.name} norm`} className={classes.number}>
            {count(cell?.normalized ?? 0)}
          </td>,
          <td key={`${look.name} pts`} className={classes.number} data-last="true">
            <b>{count(cell?.points ?? 0)}</b>
          </td>,
        ];
      })}
      <td className={classes.number}>
        <b>{count(row.total)}</b>
      </td>
    </tr>
  );
}
