/** rjsf's fields, templates and widgets in our look. Labels are the paths a file has; errors and help are tied to the field. */
import {
  type ArrayFieldItemTemplateProps, type ArrayFieldTemplateProps, type BaseInputTemplateProps, type ErrorSchema, type FieldProps, type FieldTemplateProps,
  type ObjectFieldTemplateProps, type RegistryFieldsType, type RegistryWidgetsType, type TemplatesType, type WidgetProps,
} from "@rjsf/utils";
import { useState } from "react";

import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Segmented } from "@/components/Segmented";

import classes from "./ArgsForm.module.css";
import { t } from "./texts";

export interface ArgsContext {
  /** The arguments of the saved version. */
  saved: Record<string, unknown> | undefined;
}

const LONG_CHOICES: Record<string, string> = { RequestedToCapacityRatio: "Ratio" };
const SEGMENTS_TO = 3;

/** Without the parts that a list's frame shows already. */
function labelOf(path: readonly (string | number)[]): string {
  const last = path.findLastIndex((part) => typeof part === "number");
  return path.slice(last + 1).join(".");
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, part) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[String(part)] : undefined), value);
}

function describedBy(id: string, hasError: boolean): string {
  return hasError ? `${id}__error ${id}__help` : `${id}__help`;
}

function Errors({ id, messages }: { id: string; messages: readonly string[] | undefined }) {
  if (messages === undefined || messages.length === 0) return null;
  return <p className={classes.error} id={`${id}__error`}><Icon name="warning" size={14} /><span>{messages.join(". ")}</span></p>;
}

function FieldTemplate({ id, fieldPathId, schema, children, rawErrors, rawDescription, formData, registry, uiSchema }: FieldTemplateProps) {
  const { path } = fieldPathId;
  if (path.length === 0) return children;
  const inList = typeof path.at(-1) === "number";
  const nested = schema.type === "object" && uiSchema?.["ui:field"] === undefined;
  if (nested || inList) return <>{children}<Errors id={id} messages={rawErrors} /></>;
  const label = labelOf(path);
  const saved = valueAt((registry.formContext as ArgsContext).saved, path);
  const changed = (typeof saved === "string" || typeof saved === "number" || typeof saved === "boolean") && saved !== formData;
  const help = (
    <p className={classes.help} id={`${id}__help`}>
      {rawDescription}{changed ? t("savedWhich", { which: saved === "" ? t("empty") : String(saved) }) : ""}
    </p>
  );
  const single = schema.type !== "array" && schema.type !== "object" && schema.enum === undefined;
  return (
    <div className={classes.field} {...(single ? {} : { role: "group", "aria-labelledby": `${id}__label` })}>
      {single && schema.type !== "boolean" ? <label htmlFor={id}>{label}</label> : <span className={classes.label} id={`${id}__label`}>{schema.type === "boolean" ? "" : label}</span>}
      {schema.type === "boolean" ? <label className={classes.check} htmlFor={id}>{children}{label}</label> : children}
      {uiSchema?.["ui:field"] === "Rows" ? null : <Errors id={id} messages={rawErrors} />}
      {help}
    </div>
  );
}

/** Its fields one under the other; an optional part that is not given stays folded until somebody wants it. */
function ObjectFieldTemplate({ properties, fieldPathId, formData, errorSchema, schema, readonly }: ObjectFieldTemplateProps) {
  const [opened, setOpened] = useState(false);
  const { path, $id: id } = fieldPathId;
  const given = typeof formData === "object" && formData !== null && Object.keys(formData as object).length > 0;
  const optional = path.length > 0 && typeof path.at(-1) === "string";
  if (optional && !given && !opened && Object.keys(errorSchema ?? {}).length === 0) {
    return (
      <div className={classes.field}>
        <span className={classes.label}>{labelOf(path)}</span>
        {readonly === true ? <span className="faint">{t("notGiven")}</span>
          : <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} aria-describedby={`${id}__help`} onClick={() => setOpened(true)}>{t("giveLabelOf", { labelOf: labelOf(path.slice(-1)) })}</Button>}
        <p className={classes.help} id={`${id}__help`}>{schema.description}</p>
      </div>
    );
  }
  return <>{properties.map((property) => <div key={property.name} className={property.hidden ? classes.hidden : ""}>{property.content}</div>)}</>;
}

/** Lists of what does not fit a table row: cards. */
function ArrayFieldTemplate({ items, canAdd, onAddClick, readonly, fieldPathId }: ArrayFieldTemplateProps) {
  return (
    <div className={classes.cards}>
      {items}
      {canAdd === true && readonly !== true ? <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} onClick={onAddClick}>{t("addAnEntryTo", { field: labelOf(fieldPathId.path) })}</Button> : null}
    </div>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index, readonly }: ArrayFieldItemTemplateProps) {
  return (
    <div className={classes.card}>
      {readonly === true ? null : <IconButton className={classes.cardRemove ?? ""} icon="trash" iconSize={14} label={t("removeNumber", { index: index + 1 })} onClick={buttonsProps.onRemoveItem} />}
      {children}
    </div>
  );
}

function BaseInputTemplate({ id, value, onChange, schema, readonly, disabled, rawErrors }: BaseInputTemplateProps) {
  const number = schema.type === "integer" || schema.type === "number";
  const bad = (rawErrors?.length ?? 0) > 0;
  return (
    <input id={id} className={number ? "num" : "mono"} value={value === undefined || value === null ? "" : String(value)} inputMode={number ? "numeric" : "text"}
      readOnly={readonly} disabled={disabled} aria-invalid={bad} aria-describedby={describedBy(id, bad)} spellCheck={false} autoComplete="off"
      placeholder={t("none")} onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)} />
  );
}

function SelectWidget({ id, value, onChange, options, readonly, disabled, label, rawErrors }: WidgetProps) {
  const choices = (options.enumOptions ?? []).map((option) => String(option.value));
  const off = readonly === true || disabled === true;
  if (choices.length <= SEGMENTS_TO) {
    return (
      <Segmented className={classes.segments ?? ""} label={label} value={String(value ?? "")} disabled={off} onChange={onChange}
        options={choices.map((choice) => ({ value: choice, label: LONG_CHOICES[choice] ?? choice, title: choice }))} />
    );
  }
  return (
    <select id={id} value={String(value ?? "")} disabled={off} aria-labelledby={`${id}__label`} aria-describedby={describedBy(id, (rawErrors?.length ?? 0) > 0)}
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}>
      <option value="">{t("none")}</option>
      {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
    </select>
  );
}

function CheckboxWidget({ id, value, onChange, readonly, disabled, rawErrors }: WidgetProps) {
  return (
    <input id={id} type="checkbox" checked={value === true} disabled={readonly === true || disabled === true}
      aria-describedby={describedBy(id, (rawErrors?.length ?? 0) > 0)} onChange={(event) => onChange(event.currentTarget.checked)} />
  );
}

/** A list of words in one line: "ml, data". */
function Words({ fieldPathId, formData, onChange, readonly, rawErrors }: FieldProps) {
  const { $id: id, path } = fieldPathId;
  const list = Array.isArray(formData) ? formData.map(String) : [];
  const [typed, setTyped] = useState<string | null>(null);
  const bad = (rawErrors?.length ?? 0) > 0;
  return (
    <input id={id} className="mono" value={typed ?? list.join(", ")} placeholder={t("none")} readOnly={readonly === true} spellCheck={false} autoComplete="off"
      aria-labelledby={`${id}__label`} aria-invalid={bad} aria-describedby={describedBy(id, bad)} onBlur={() => setTyped(null)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(event.currentTarget.value.split(/[\s,]+/).filter((word) => word !== ""), path);
      }} />
  );
}

interface RowSchema {
  type?: string;
  minimum?: number;
  maximum?: number;
  description?: string;
  enum?: unknown[];
  default?: unknown;
}

type Row = Record<string, unknown>;

/** Small objects as a table: one row each, the error under the row it is about. */
function Rows({ fieldPathId, formData, onChange, readonly, schema, errorSchema, rawErrors }: FieldProps) {
  const { $id: id, path } = fieldPathId;
  const rows = (Array.isArray(formData) ? formData : []) as Row[];
  const columns = Object.entries(((schema.items as { properties?: Record<string, RowSchema> } | undefined)?.properties) ?? {});
  const name = labelOf(path);
  const set = (index: number, key: string, value: unknown) => onChange(rows.map((row, at) => (at === index ? { ...row, [key]: value } : row)), path);
  const add = () => onChange([...rows, Object.fromEntries(columns.map(([key, column]) => [key, column.type === "integer" ? column.minimum ?? 0 : ""]))], path);
  return (
    <>
      {rows.length === 0 ? null : (
        <table className={classes.rows} aria-labelledby={`${id}__label`}>
          <thead><tr>{columns.map(([key, column]) => <th key={key} scope="col" title={column.description}>{columnTitle(key, column)}</th>)}<th><span className="srOnly">{t("remove")}</span></th></tr></thead>
          <tbody>
            {rows.map((row, index) => {
              const errors = (errorSchema as Record<number, ErrorSchema<Row>> | undefined)?.[index];
              const messages = columns.flatMap(([key]) => messagesOf(errors?.[key]));
              return [
                <tr key={index}>
                  {columns.map(([key, column]) => {
                    const bad = messagesOf(errors?.[key]).length > 0;
                    const cellId = `${id}_${index}_${key}`;
                    const number = column.type === "integer" || column.type === "number";
                    return (
                      <td key={key} {...(number ? { "data-number": "" } : {})}>
                        <input id={cellId} className={number ? "num" : "mono"} value={shownText(row[key])} inputMode={number ? "numeric" : "text"} readOnly={readonly === true} spellCheck={false} autoComplete="off"
                          aria-label={`${name} ${index + 1}, ${key}`} aria-invalid={bad} {...(bad ? { "aria-describedby": `${id}_${index}__error` } : {})}
                          onChange={(event) => set(index, key, parsed(event.currentTarget.value, number))} />
                      </td>
                    );
                  })}
                  <td>{readonly === true ? null : <IconButton icon="trash" iconSize={14} label={t("removeShownText", { shownText: shownText(row[columns[0]?.[0] ?? ""]) || t("numberIndex", { index: index + 1 }) })} onClick={() => onChange(rows.filter((_, at) => at !== index), path)} />}</td>
                </tr>,
                messages.length === 0 ? null : <tr key={`${index} error`}><td colSpan={columns.length + 1}><Errors id={`${id}_${index}`} messages={messages} /></td></tr>,
              ];
            })}
          </tbody>
        </table>
      )}
      <Errors id={id} messages={rawErrors} />
      {readonly === true ? null : <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} onClick={add}>{t("addAnEntryTo", { field: name })}</Button>}
    </>
  );
}

/** A map as pairs. A pair without a key waits here until it has one. */
function Pairs({ fieldPathId, formData, onChange, readonly, errorSchema }: FieldProps) {
  const { $id: id, path } = fieldPathId;
  const entries = Object.entries((formData ?? {}) as Row);
  const [typed, setTyped] = useState<[string, unknown][] | null>(null);
  const pairs = typed ?? entries;
  const settle = () => setTyped((now) => (now?.some(([key]) => key === "") === true ? now : null));
  const set = (next: [string, unknown][]) => {
    const complete = next.every(([key]) => key !== "") && new Set(next.map(([key]) => key)).size === next.length;
    setTyped(next);
    if (complete) onChange(Object.fromEntries(next), path);
  };
  return (
    <>
      {pairs.length === 0 ? null : (
        <table className={classes.rows} aria-labelledby={`${id}__label`}>
          <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("value")}</th><th><span className="srOnly">{t("remove")}</span></th></tr></thead>
          <tbody>
            {pairs.map(([key, value], index) => {
              const messages = messagesOf((errorSchema as Record<string, ErrorSchema<unknown>> | undefined)?.[key]);
              return [
                <tr key={index}>
                  <td><input className="mono" value={key} readOnly={readonly === true} spellCheck={false} autoComplete="off" aria-label={t("nameIndex", { index: index + 1 })} onBlur={settle}
                    onChange={(event) => set(pairs.map((pair, at): [string, unknown] => (at === index ? [event.currentTarget.value.trim(), pair[1]] : pair)))} /></td>
                  <td data-number=""><input className="mono" value={shownText(value)} readOnly={readonly === true} spellCheck={false} autoComplete="off" aria-label={t("valueOf2", { key })} onBlur={settle}
                    aria-invalid={messages.length > 0} {...(messages.length > 0 ? { "aria-describedby": `${id}_${index}__error` } : {})}
                    onChange={(event) => set(pairs.map((pair, at): [string, unknown] => (at === index ? [pair[0], event.currentTarget.value] : pair)))} /></td>
                  <td>{readonly === true ? null : <IconButton icon="trash" iconSize={14} label={t("removeWhich", { which: key === "" ? t("numberIndex", { index: index + 1 }) : key })} onClick={() => set(pairs.filter((_, at) => at !== index))} />}</td>
                </tr>,
                messages.length === 0 ? null : <tr key={`${index} error`}><td colSpan={3}><Errors id={`${id}_${index}`} messages={messages} /></td></tr>,
              ];
            })}
          </tbody>
        </table>
      )}
      {readonly === true ? null : <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} onClick={() => setTyped([...pairs, ["", ""]])}>{t("addAPair")}</Button>}
    </>
  );
}

function messagesOf(errors: unknown): string[] {
  const found = (errors as { __errors?: string[] } | undefined)?.__errors;
  return found ?? [];
}

function shownText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** A number where it is one; the server says what is wrong with anything else. */
function parsed(text: string, number: boolean): unknown {
  if (!number) return text;
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? text : value;
}

function columnTitle(key: string, column: RowSchema): string {
  const title = key.slice(0, 1).toUpperCase() + key.slice(1);
  return column.minimum !== undefined && column.maximum !== undefined ? t("titleMinimumToMaximum", { title, minimum: column.minimum, maximum: column.maximum }) : title;
}

export const argTemplates: Partial<TemplatesType> = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate, BaseInputTemplate };
export const argWidgets: RegistryWidgetsType = { SelectWidget, CheckboxWidget };
export const argFields: RegistryFieldsType = { Words, Rows, Pairs };
