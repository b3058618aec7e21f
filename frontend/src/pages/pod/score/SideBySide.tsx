import type { ScoreCell, ScoreRow } from "@/api/podTypes";
import { ScrollRegion } from "@/components/ScrollRegion";
import { count } from "@/format/number";

import { t } from "../texts";
import { differences, differenceSentence, signed } from "./difference";
import type { PluginLook } from "./pluginColours";
import { PluginCell } from "./StepByStep";
import classes from "./StepByStep.module.css";

/** Two nodes' points plugin by plugin, with the difference and what decides between them. */
export function SideBySide({ one, other, looks }: { one: ScoreRow; other: ScoreRow; looks: readonly PluginLook[] }) {
  const all = differences(one, other, looks);
  return (
    <>
      <h4 className={classes.title}>{t("nodeBesideNode2", { node: one.node, node2: other.node })}</h4>
      <p className={classes.sentence}>{differenceSentence(one, other, all)}</p>
      <ScrollRegion className={classes.scroll} label={t("pointsOfAnd", { node: one.node, node2: other.node })}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th>{t("plugin")}</th>
              <th className={`${classes.number} mono`}>{one.node}</th>
              <th className={`${classes.number} mono`}>{other.node}</th>
              <th className={classes.number}>{t("difference")}</th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ look, one: first, other: second, ahead }) => (
              <tr key={look.name} data-same={ahead === 0 || undefined}>
                <PluginCell look={look} />
                <Points cell={first} weight={look.weight} />
                <Points cell={second} weight={look.weight} />
                <td className={classes.number}>{ahead === 0 ? "" : <b>{signed(ahead)}</b>}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td>{t("total")}</td>
              <td className={classes.number}>{count(one.total)}</td>
              <td className={classes.number}>{count(other.total)}</td>
              <td className={classes.number}>{signed(one.total - other.total)}</td>
            </tr>
          </tfoot>
        </table>
      </ScrollRegion>
    </>
  );
}

/** "84" over "84 → 84 × 1". */
function Points({ cell, weight }: { cell: ScoreCell; weight: number }) {
  return (
    <td
      className={classes.number}
      title={t("scoreArithmetic", { raw: cell.raw, normalized: cell.normalized, weight, points: cell.points })}
    >
      <b>{count(cell.points)}</b>
      <span className={classes.small}>
        {count(cell.raw)} → {count(cell.normalized)} × {count(weight)}
      </span>
    </td>
  );
}
