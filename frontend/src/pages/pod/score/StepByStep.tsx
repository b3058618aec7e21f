import { Fragment } from "react";

import type { ScoreRow } from "@/api/podTypes";
import { count } from "@/format/number";

import { t } from "../texts";
import type { PluginLook } from "./pluginColours";
import classes from "./StepByStep.module.css";

/** Raw → normalised → × weight → points of one node, plugin by plugin. */
export function StepByStep({ row, looks }: { row: ScoreRow; looks: readonly PluginLook[] }) {
  return (
    <>
      <h4 className={classes.title}>{t("stepByStep", { node: row.node })}</h4>
      <div className={classes.scroll}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th>{t("plugin")}</th>
              <th className={classes.number}>{t("raw")}</th>
              <th className={classes.number}>{t("norm")}</th>
              <th className={classes.number}>{t("weight")}</th>
              <th className={classes.number}>{t("points")}</th>
            </tr>
          </thead>
          <tbody>
            {looks.map((look) => {
              const cell = row.cells[look.cell];
              return (
                <tr key={look.name}>
                  <PluginCell look={look} isExplained />
                  <td className={classes.number}>{count(cell?.raw ?? 0)}</td>
                  <td className={classes.number}>{count(cell?.normalized ?? 0)}</td>
                  <td className={`${classes.number} faint`}>× {count(look.weight)}</td>
                  <td className={classes.number}>
                    <b>{count(cell?.points ?? 0)}</b>
                  </td>
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={4}>{t("total")}</td>
              <td className={classes.number}>{count(row.total)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </>
  );
}

/** `isExplained`: with what its points stand for, where they tell nodes apart. */
export function PluginCell({ look, isExplained = false }: { look: PluginLook; isExplained?: boolean }) {
  return (
    <td>
      <i style={{ background: `var(--pl-${look.colour})` }} />
      <Breakable name={look.name} />
      {look.equalForAll ? <em>{t("equalForAllNodes")}</em> : null}
      {isExplained && !look.equalForAll && look.about ? <em>{look.about}</em> : null}
    </td>
  );
}

/** Long plugin names break between their words. */
function Breakable({ name }: { name: string }) {
  return name.split(/(?=[A-Z][a-z])/).map((word, index) => (
    <Fragment key={index}>
      {index > 0 ? <wbr /> : null}
      {word}
    </Fragment>
  ));
}
