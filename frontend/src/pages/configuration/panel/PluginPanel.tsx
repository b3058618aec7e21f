/** The selected plugin: what it does, its weight, its arguments, and where it runs. */
import { type CSSProperties, Suspense, useState } from "react";

import type { PluginRow } from "@/api/configurationTypes";
import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Outlines } from "@/components/Outcome";
import { Panel } from "@/components/Panel";
import { clauses } from "@/format/lists";
import { later } from "@/parts/later";

import { useEditing } from "../draft/editing";
import { addEdits, removeEdits, toggleEdits } from "../draft/edits";
import { SCORE, written } from "../points";
import { t } from "../texts";
import { cellTitle, disabledWord, savedWeight, shortMessage } from "../words";
import classes from "./Panels.module.css";

const ArgsForm = later(() => import("../arguments/ArgsForm"));
const SLIDER_TO = 10;
const LARGEST_WEIGHT = 2_147_483_647;

export function PluginPanel({ name }: { name: string }) {
  const editing = useEditing();
  const { shown, plugins, profile, readOnly, edit, select, examination } = editing;
  const row = shown.rows.find((one) => one.plugin === name);
  const plugin = plugins.get(name);
  const general = examination.errors.filter(
    (error) => error.plugin === name && (error.profile ?? 0) === profile && error.field.length === 0,
  );
  const form = examination.form?.profiles[profile]?.args[name];
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="plugin-name">
      <header className={classes.head}>
        <h2 id="plugin-name">{name}</h2>
        <span className="grow" />
        <IconButton icon="close" iconSize={14} label={t("closeEsc")} onClick={() => select(undefined)} />
      </header>
      <p className={classes.says}>{plugin?.description ?? t("noPluginOfThisName")}</p>
      {plugin === undefined || plugin.distribution === null ? null : (
        <p className={classes.note}>{t("pluginIsFromDistribution", { distribution: plugin.distribution })}</p>
      )}
      {general.map((error) => (
        <p key={error.text} className={classes.error} title={error.text}>
          <Icon name="warning" size={14} />
          {shortMessage(error)}
        </p>
      ))}
      {row === undefined && plugin !== undefined ? (
        <p className={classes.actions}>
          <span className="muted">{t("notInThisProfile")}</span>
          {readOnly ? null : (
            <Button size="sm" icon="plus" onClick={() => edit(...addEdits(profile, shown, plugin))}>
              {t("addToTheProfile")}
            </Button>
          )}
        </p>
      ) : null}
      {row?.cells[SCORE] !== undefined && row.cells[SCORE].state !== "disabled" ? (
        <WeightField key={`${name} ${profile}`} row={row} />
      ) : null}
      {form === undefined || plugin === undefined ? null : (
        <>
          <h3>
            {t("arguments")} <span className="faint">{form.kind}</span>
          </h3>
          <Suspense fallback={<Outlines count={3} height={30} label={t("readingTheForm")} />}>
            <ArgsForm key={`${name} ${profile}`} plugin={plugin} args={form} />
          </Suspense>
        </>
      )}
      {row === undefined || plugin === undefined ? null : <RunsAt row={row} points={plugin.points} />}
      {row !== undefined && !readOnly ? (
        <p className={classes.actions}>
          {row.off ? (
            <Button
              size="sm"
              icon="plus"
              onClick={() => edit(...(plugin === undefined ? [] : addEdits(profile, shown, plugin)))}
            >
              {t("switchOn")}
            </Button>
          ) : (
            <Button
              size="sm"
              icon={row.origin === "added" ? "trash" : "close"}
              onClick={() => edit(...removeEdits(profile, row))}
            >
              {row.origin === "added" ? t("removeFromTheProfile") : t("switchOff")}
            </Button>
          )}
        </p>
      ) : null}
    </Panel>
  );
}

/** The slider for the usual range, the field for any; both wait for the server's answer under the hand that moves them. */
function WeightField({ row }: { row: PluginRow }) {
  const { edit, profile, readOnly, state, savedProfile, examination } = useEditing();
  const warned = examination.warnings.find(
    (one) => one.plugin === row.plugin && one.profile === profile && one.path.endsWith(".weight"),
  );
  const [typed, setTyped] = useState<string | null>(null);
  const current = row.cells[SCORE]?.weight ?? 1;
  const refused = typed === null ? null : refusal(typed);
  const text = typed !== null && (state.busy || refused !== null) ? typed : String(current);
  const value = Number(text);
  const saved = savedWeight(savedProfile, row.plugin);
  const defaultWeight = row.cells[SCORE]?.default_weight;
  const set = (given: string) => {
    setTyped(given);
    if (refusal(given) === null)
      edit({ type: "setWeight", profile, point: written(SCORE), name: row.plugin, weight: Number(given) });
  };
  const valid = refused === null && value > 0;
  return (
    <div className={classes.field}>
      <label htmlFor="weight">{t("weightAtScore")}</label>
      <div className={classes.weight}>
        <input
          type="range"
          min={1}
          max={Math.max(SLIDER_TO, current)}
          value={valid ? value : current}
          disabled={readOnly}
          aria-label={t("weightOf", { plugin: row.plugin })}
          onChange={(event) => set(event.currentTarget.value)}
          style={
            {
              "--filled": `${(((valid ? value : current) - 1) / (Math.max(SLIDER_TO, current) - 1)) * 100}%`,
            } as CSSProperties
          }
        />
        <input
          id="weight"
          className="num"
          inputMode="numeric"
          value={text}
          readOnly={readOnly}
          aria-invalid={refused !== null}
          aria-describedby="weight-error"
          onBlur={() => setTyped(null)}
          onChange={(event) => set(event.currentTarget.value.trim())}
        />
        <span className="faint num">
          {saved !== null && saved !== current
            ? t("savedSaved", { saved })
            : typeof defaultWeight === "number"
              ? t("defaultDefaultWeight", { defaultWeight })
              : ""}
        </span>
      </div>
      <p id="weight-error" className={classes.error} role="status">
        {refused === null ? null : (
          <>
            <Icon name="warning" size={14} />
            {refused} {t("itStaysAtWeight", { weight: current })}
          </>
        )}
      </p>
      {warned === undefined ? null : <p className={classes.help}>{warned.message}</p>}
    </div>
  );
}

/** Why the text is no weight that can be written; null if it is one. */
function refusal(typed: string): string | null {
  const weight = Number(typed);
  if (typed === "" || !Number.isInteger(weight)) return t("aWeightIsAWholeNumber");
  if (weight === 0) return t("aWeightOfZeroIsNone");
  return Math.abs(weight) > LARGEST_WEIGHT ? t("aWeightHas32Bits") : null;
}

/** Every point the plugin extends: on or off, why, and its place in the order there. */
function RunsAt({ row, points }: { row: PluginRow; points: readonly string[] }) {
  const { shown, profile, readOnly, edit, selectPoint } = useEditing();
  const all = [...points, ...Object.keys(row.cells).filter((point) => !points.includes(point))];
  return (
    <>
      <h3>{t("runsAt")}</h3>
      <ul className={classes.points}>
        {all.map((point) => {
          const cell = row.cells[point];
          const on = cell !== undefined && cell.state !== "disabled";
          const running = (shown.points[point] ?? []).filter((one) => one.state !== "disabled").length;
          return (
            <li key={point}>
              <label title={cellTitle(row, point, cell)}>
                <input
                  type="checkbox"
                  checked={on}
                  disabled={readOnly}
                  onChange={() => edit(...toggleEdits(profile, shown, row.plugin, point, cell))}
                />
                {point}
              </label>
              <span className="grow" />
              {cell === undefined ? null : cell.state === "disabled" ? (
                <span className="faint">
                  {t("originInDisabledin", { origin: disabledWord(cell.origin), disabledin: cell.disabled_in ?? "" })}
                </span>
              ) : (
                <button
                  type="button"
                  className={`${classes.place} leads num`}
                  onClick={() => selectPoint(point)}
                  title={t("theOrderAt", { point })}
                >
                  {clauses([
                    ...(cell.position === null
                      ? []
                      : [t("positionOfRunning", { position: cell.position + 1, running })]),
                    ...(cell.moved ? [t("moved")] : []),
                  ])}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
