import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";

import { Icon } from "@/components/Icon";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed } from "@/format/lists";
import { count } from "@/format/number";

import { useRowHeight } from "../../../components/useRowHeight";
import type { PluginLook } from "../score/pluginColours";
import bars from "../score/ScoreBars.module.css";
import { SHOWN } from "../score/scoreWindows";
import { type Matrix, OFF, type Ranking, type Weights, weightOf } from "./ranking";
import { t } from "./texts";
import classes from "./WhatIf.module.css";

interface RankedBarsProps {
  matrix: Matrix;
  before: Ranking;
  now: Ranking;
  looks: readonly PluginLook[];
  weights: Weights;
}

interface RowsProps extends RankedBarsProps {
  /** Rank → how many share it. */
  tied: Uint32Array;
}

const ROW = 28;
/** Narrower than this share of the bar, a segment has no room for its number. */
const NUMBERED = 0.06;

export function RankedBars(given: RankedBarsProps) {
  const { matrix, now } = given;
  const tied = useMemo(() => sharing(now.rank), [now]);
  const props = { ...given, tied };
  const [all, setAll] = useState(false);
  const rest = matrix.nodes.length - SHOWN;
  if (all && rest > 0) return <AllRows {...props} />;
  const top = [...now.order.subarray(0, SHOWN)];
  if (matrix.chosen !== null && !top.includes(matrix.chosen)) top.push(matrix.chosen);
  return (
    <>
      <Table {...props}>
        {top.map((place) => (
          <Row key={place} {...props} place={place} />
        ))}
      </Table>
      {rest <= 0 ? null : (
        <button type="button" className={`leads ${bars.more}`} onClick={() => setAll(true)}>
          {t("moreNodes", { count: rest })}
        </button>
      )}
    </>
  );
}

function AllRows(props: RowsProps) {
  const { now } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight(ROW);
  // eslint-disable-next-line react-hooks/incompatible-library -- its functions must not be memoised, and are not
  const virtual = useVirtualizer({
    count: now.order.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <ScrollRegion ref={scroller} className={bars.scroll} label={t("nodesRanked")}>
      <Table {...props}>
        {above > 0 ? <tr aria-hidden="true" style={{ height: above }} /> : null}
        {items.map((item) => (
          <Row key={item.key} {...props} place={now.order[item.index] ?? 0} />
        ))}
        {below > 0 ? <tr aria-hidden="true" style={{ height: below }} /> : null}
      </Table>
    </ScrollRegion>
  );
}

function Table({ matrix, now, children }: RankedBarsProps & { children: React.ReactNode }) {
  return (
    <table className={bars.bars} aria-rowcount={matrix.nodes.length + 1}>
      <thead>
        <tr>
          <th className={bars.rank}>{t("rank")}</th>
          <th className={classes.was}>{t("before")}</th>
          <th>{t("node")}</th>
          <th>{t("totalTo", { best: count(now.best) })}</th>
          <th className={bars.total}>{t("total")}</th>
          <th className={bars.toBest}>{t("toBest")}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** Rank → how many share it. */
function sharing(rank: Uint32Array): Uint32Array {
  const nodes = new Uint32Array(rank.length + 1);
  for (const one of rank) nodes[one] = (nodes[one] ?? 0) + 1;
  return nodes;
}

function Row({ matrix, before, now, looks, weights, tied, place }: RowsProps & { place: number }) {
  const rank = now.rank[place] ?? 0;
  const was = before.rank[place] ?? 0;
  const total = now.total[place] ?? 0;
  const isTied = (tied[rank] ?? 0) > 1;
  return (
    <tr
      className={bars.row}
      data-chosen={place === now.winner || undefined}
      data-selected={place === now.winner || undefined}
    >
      <td className={`${bars.rank} num`}>
        {count(rank)}
        {isTied ? "=" : ""}
      </td>
      <td className={`${classes.was} num`} data-change={was === rank ? undefined : was > rank ? "up" : "down"}>
        {was === rank ? "" : count(was)}
      </td>
      <td className={`${bars.node} mono`}>
        {matrix.nodes[place]}
        {place === now.winner ? (
          <span className={bars.chosen}>
            <Icon name="bound" size={12} />
            {t("wins")}
          </span>
        ) : null}
        {place === matrix.chosen && place !== now.winner ? (
          <span className={classes.chosenBefore}>{t("chosen")}</span>
        ) : null}
      </td>
      <td className={bars.barCell}>
        <Bar {...{ matrix, looks, weights, place }} scale={Math.max(1, now.best)} />
      </td>
      <td className={`${bars.total} num`}>{count(total)}</td>
      <td className={`${bars.toBest} num`}>{total === now.best ? "" : `−${count(now.best - total)}`}</td>
    </tr>
  );
}

function Bar({
  matrix,
  looks,
  weights,
  place,
  scale,
}: Pick<RankedBarsProps, "matrix" | "looks" | "weights"> & { place: number; scale: number }) {
  const parts = looks.flatMap((look) => {
    const plugin = matrix.plugins[look.cell];
    const weight = plugin === undefined ? OFF : weightOf(plugin, weights);
    const normalized = plugin?.normalized?.[place] ?? 0;
    return normalized * weight > 0 ? [{ look, weight, normalized, points: normalized * weight }] : [];
  });
  const sentence = listed(parts.map(({ look, points }) => `${look.name} ${count(points)}`));
  return (
    <span
      className={bars.bar}
      role="img"
      aria-label={`${matrix.nodes[place] ?? ""}: ${sentence === "" ? t("nothing") : sentence}`}
    >
      {parts.map(({ look, weight, normalized, points }) => (
        <i
          key={look.name}
          className={bars.segment}
          data-hatched={look.hatched || undefined}
          title={`${look.name}: ${count(normalized)} × ${count(weight)} = ${count(points)}`}
          style={{
            width: `${(points / scale) * 100}%`,
            background: `var(--pl-${look.colour})`,
            color: `var(--pl-${look.colour}-on)`,
          }}
        >
          {points / scale >= NUMBERED ? <b>{count(points)}</b> : null}
        </i>
      ))}
    </span>
  );
}
