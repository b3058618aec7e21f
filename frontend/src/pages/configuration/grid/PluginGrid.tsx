/**
 * Plugin × extension point as it takes effect: after defaults, MultiPoint and `*`. One tab stop; arrows move inside, Enter
 * opens, space switches a plugin on or off at a point, Alt with up or down changes its order there.
 */
import { type KeyboardEvent, useRef, useState } from "react";

import type { PluginCell, PluginRow } from "@/api/configurationTypes";
import { Icon } from "@/components/Icon";
import { Panel, PanelHeader } from "@/components/Panel";

import { useEditing } from "../draft/editing";
import { toggleEdits } from "../draft/edits";
import { columnsFor, type PointColumn, SCORE, written } from "../points";
import { t } from "../texts";
import { cellTitle, cellWord } from "../words";
import { AddPlugin } from "./AddPlugin";
import classes from "./PluginGrid.module.css";

const NAME = "name";

export function PluginGrid() {
  const editing = useEditing();
  const { shown } = editing;
  const table = useRef<HTMLTableElement>(null);
  const [active, setActive] = useState<{ row: string; column: string }>({ row: "", column: NAME });
  const { rows } = shown;
  const columns = columnsFor(shown.rows.flatMap((row) => Object.keys(row.cells)));
  const activeRow = rows.some((row) => row.plugin === active.row) ? active.row : rows[0]?.plugin;
  const focus = (row: string, column: string) => {
    setActive({ row, column });
    table.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row)}"][data-column="${column}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTableElement>) => {
    const at =
      event.target instanceof HTMLElement ? event.target.closest<HTMLElement>("[data-row]")?.dataset : undefined;
    const { row: atRow, column: atColumn } = at ?? {};
    if (atRow === undefined || atColumn === undefined) return;
    const order = [NAME, ...columns.map((column) => column.name)];
    const row = rows.findIndex((one) => one.plugin === atRow);
    const column = order.indexOf(atColumn);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.altKey && step?.[1] === 0) {
      event.preventDefault();
      move(atRow, atColumn, step[0] ?? 0);
      return;
    }
    let target: [number, number] | undefined;
    if (step !== undefined) target = [row + (step[0] ?? 0), column + (step[1] ?? 0)];
    else if (event.key === "Home") target = [event.ctrlKey ? 0 : row, 0];
    else if (event.key === "End") target = [event.ctrlKey ? rows.length - 1 : row, order.length - 1];
    if (target === undefined) return;
    event.preventDefault();
    const [toRow, toColumn] = [rows[target[0]], order[target[1]]];
    if (toRow !== undefined && toColumn !== undefined) focus(toRow.plugin, toColumn);
  };
  const move = (plugin: string, point: string, by: number) => {
    const position = shown.rows.find((row) => row.plugin === plugin)?.cells[point]?.position;
    const running = (shown.points[point] ?? []).filter((one) => one.state !== "disabled").length;
    if (
      editing.readOnly ||
      position === undefined ||
      position === null ||
      position + by < 0 ||
      position + by >= running
    )
      return;
    editing.edit({
      type: "movePlugin",
      profile: editing.profile,
      point: written(point),
      name: plugin,
      to: position + by,
    });
  };
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="effective-plugins">
      <PanelHeader title={t("effectivePlugins")} id="effective-plugins">
        <span className="faint">{t("afterDefaultsMultiPointAnd")}</span>
        <span className="grow" />
        <Legend />
      </PanelHeader>
      <div className={classes.scroll}>
        <table
          ref={table}
          // eslint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- walked with arrows, it is a grid
          role="grid"
          className={classes.grid}
          aria-labelledby="effective-plugins"
          onKeyDown={onKeyDown}
        >
          <colgroup>
            <col className={classes.nameColumn} />
            {columns.map((column) => (
              <col key={column.name} />
            ))}
          </colgroup>
          <thead>
            <tr className={classes.cycles}>
              <td />
              <th scope="colgroup" colSpan={columns.filter((column) => !column.binding).length}>
                {t("schedulingCycle")}
              </th>
              <th
                scope="colgroup"
                className={classes.binding}
                colSpan={columns.filter((column) => column.binding).length}
              >
                {t("bindingCycle")}
              </th>
            </tr>
            <tr>
              <th scope="col" className={classes.nameHead}>
                {t("pluginInMultiPointOrder")}
              </th>
              {columns.map((column, index) => (
                <Head
                  key={column.name}
                  column={column}
                  first={column.binding && columns[index - 1]?.binding === false}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row
                key={row.plugin}
                row={row}
                columns={columns}
                active={row.plugin === activeRow ? active.column : null}
                onFocus={(column) => setActive({ row: row.plugin, column })}
              />
            ))}
          </tbody>
        </table>
      </div>
      {editing.readOnly ? null : (
        <div className={classes.foot}>
          <AddPlugin />
        </div>
      )}
    </Panel>
  );
}

function Head({ column, first }: { column: PointColumn; first: boolean }) {
  const { selected, selectPoint } = useEditing();
  const pressed = selected.point === column.name;
  return (
    <th scope="col" className={`${classes.pointHead} ${first ? classes.binding : ""}`}>
      <button
        type="button"
        title={t("pressForTheOrder", { name: column.name, says: column.says })}
        aria-pressed={pressed}
        onClick={() => selectPoint(pressed ? undefined : column.name)}
      >
        <span className="srOnly">{column.name}</span>
        {column.label.map((line) => (
          <span key={line} aria-hidden="true">
            {line}
          </span>
        ))}
      </button>
    </th>
  );
}

interface RowProps {
  row: PluginRow;
  columns: readonly PointColumn[];
  active: string | null;
  onFocus: (column: string) => void;
}

function Row({ row, columns, active, onFocus }: RowProps) {
  const editing = useEditing();
  const selected = editing.selected.plugin === row.plugin;
  const saved = editing.savedProfile?.rows.find((one) => one.plugin === row.plugin);
  const points = editing.plugins.get(row.plugin)?.points;
  const errors = editing.examination.errors.filter(
    (error) => error.plugin === row.plugin && (error.profile ?? 0) === editing.profile,
  );
  return (
    <tr className={selected ? classes.selected : ""} aria-selected={selected}>
      <th scope="row" className={classes.name}>
        <button
          type="button"
          data-row={row.plugin}
          data-column={NAME}
          tabIndex={active === NAME ? 0 : -1}
          onFocus={() => onFocus(NAME)}
          onClick={() => editing.select(selected ? undefined : row.plugin)}
          title={editing.plugins.get(row.plugin)?.description ?? row.plugin}
        >
          <span className="clip">{row.plugin}</span>
          {errors.length > 0 ? (
            <span className={classes.error} title={errors[0]?.message}>
              <Icon name="warning" size={12} />
              <span className="srOnly">{t("hasAnError")}</span>
            </span>
          ) : null}
          <RowMarks row={row} />
        </button>
      </th>
      {columns.map((column, index) => (
        <td
          key={column.name}
          className={column.binding && columns[index - 1]?.binding === false ? classes.binding : ""}
          {...(row.cells[column.name] === undefined && points?.includes(column.name) !== true
            ? {
                "data-row": row.plugin,
                "data-column": column.name,
                tabIndex: active === column.name ? 0 : -1,
                onFocus: () => onFocus(column.name),
              }
            : {})}
        >
          {row.cells[column.name] === undefined && points?.includes(column.name) !== true ? null : (
            <CellButton
              row={row}
              column={column.name}
              cell={row.cells[column.name]}
              saved={saved?.cells[column.name]}
              tabIndex={active === column.name ? 0 : -1}
              onFocus={() => onFocus(column.name)}
            />
          )}
        </td>
      ))}
    </tr>
  );
}

export function RowMarks({ row }: { row: PluginRow }) {
  return (
    <>
      {row.off ? <span className={classes.chip}>{t("off")}</span> : null}
      {row.origin === "added" && !row.off ? (
        <span className={`${classes.chip} ${classes.added}`}>{t("added")}</span>
      ) : null}
      {row.changed && !row.off && row.origin === "default" ? (
        <span className={classes.chip} title={t("differsFromTheDefaultProfile")}>
          {t("changed")}
        </span>
      ) : null}
      {!row.known ? (
        <span className={classes.chip} title={t("noSuchPluginIsInstalled")}>
          {t("unknown")}
        </span>
      ) : null}
      {row.has_args ? (
        <span className={classes.gear} title={t("hasArguments")}>
          <Icon name="sliders" size={12} />
          <span className="srOnly">{t("hasArguments")}</span>
        </span>
      ) : null}
    </>
  );
}

interface CellButtonProps {
  row: PluginRow;
  column: string;
  cell: PluginCell | undefined;
  saved: PluginCell | undefined;
  tabIndex: number;
  onFocus: () => void;
}

function CellButton({ row, column, cell, saved, tabIndex, onFocus }: CellButtonProps) {
  const editing = useEditing();
  const weighs = column === SCORE && typeof cell?.weight === "number";
  const title = cellTitle(row, column, cell, saved);
  const state = cell === undefined ? "absent" : weighs ? "weight" : cell.state;
  return (
    <button
      type="button"
      className={classes.cell}
      data-state={state}
      data-row={row.plugin}
      data-column={column}
      tabIndex={tabIndex}
      onFocus={onFocus}
      {...(weighs && typeof saved?.weight === "number" && saved.weight !== cell.weight ? { "data-changed": "" } : {})}
      title={title}
      aria-label={cellWord(cell)}
      aria-disabled={editing.readOnly}
      onKeyDown={(event) => {
        if (!weighs || event.key !== " ") return;
        event.preventDefault();
        if (!editing.readOnly) editing.edit(...toggleEdits(editing.profile, editing.shown, row.plugin, column, cell));
      }}
      onClick={() => {
        if (weighs || editing.readOnly) editing.select(row.plugin);
        else editing.edit(...toggleEdits(editing.profile, editing.shown, row.plugin, column, cell));
      }}
    >
      {state === "weight" ? (
        <b className="num">{cell?.weight}</b>
      ) : (
        <Icon
          name={state === "default" ? "bound" : state === "disabled" ? "close" : "plus"}
          size={state === "absent" ? 9 : 11}
        />
      )}
    </button>
  );
}

function Legend() {
  return (
    <span className={classes.legend} aria-hidden="true">
      <span>
        <i className={classes.cell} data-state="default">
          <Icon name="bound" size={10} />
        </i>
        {t("default")}
      </span>
      <span>
        <i className={classes.cell} data-state="added">
          <Icon name="plus" size={10} />
        </i>
        {t("added")}
      </span>
      <span>
        <i className={classes.cell} data-state="disabled">
          <Icon name="close" size={10} />
        </i>
        {t("disabled")}
      </span>
      <span>
        <i className={classes.cell} data-state="weight">
          <b>5</b>
        </i>
        {t("weight")}
      </span>
    </span>
  );
}
