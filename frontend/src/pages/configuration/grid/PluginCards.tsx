/** The grid on a phone: one card per plugin with its points as words. */
import { Icon } from "@/components/Icon";
import { Panel, PanelHeader } from "@/components/Panel";

import { useEditing } from "../draft/editing";
import { POINTS } from "../points";
import { t } from "../texts";
import { cellTitle } from "../words";
import { AddPlugin } from "./AddPlugin";
import classes from "./PluginCards.module.css";
import { RowMarks } from "./PluginGrid";

const ORDER = new Map(POINTS.map((point, index) => [point.name, index]));

export function PluginCards() {
  const { shown, select, plugins, examination, profile, readOnly } = useEditing();
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="effective-plugins">
      <PanelHeader title={t("effectivePlugins")} id="effective-plugins">
        <span className="faint clip">{t("afterDefaultsMultiPointAnd")}</span>
      </PanelHeader>
      <ul>
        {shown.rows.map((row) => {
          const wrong = examination.errors.some(
            (error) => error.plugin === row.plugin && (error.profile ?? 0) === profile,
          );
          const cells = Object.entries(row.cells).sort(
            ([one], [other]) => (ORDER.get(one) ?? 99) - (ORDER.get(other) ?? 99),
          );
          return (
            <li key={row.plugin}>
              <button type="button" onClick={() => select(row.plugin)} title={plugins.get(row.plugin)?.description}>
                <span className={classes.name}>
                  <b>{row.plugin}</b>
                  {wrong ? (
                    <span className={classes.error}>
                      <Icon name="warning" size={13} />
                      <span className="srOnly">{t("hasAnError")}</span>
                    </span>
                  ) : null}
                  <RowMarks row={row} />
                </span>
                <span className={classes.points}>
                  {cells.map(([point, cell]) => (
                    <span key={point} data-state={cell.state} title={cellTitle(row, point, cell)}>
                      <Icon
                        name={cell.state === "default" ? "bound" : cell.state === "added" ? "plus" : "close"}
                        size={10}
                      />
                      <span className="srOnly">{t("stateAt", { state: cell.state })} </span>
                      {point}
                      {cell.weight === null ? null : <b className="num">{cell.weight}</b>}
                    </span>
                  ))}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {readOnly ? null : (
        <div className={classes.foot}>
          <AddPlugin />
        </div>
      )}
    </Panel>
  );
}
