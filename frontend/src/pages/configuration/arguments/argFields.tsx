/** Fields that rjsf has not: words in one line, small objects as a table, a map as pairs. */
import type { ErrorSchema, FieldProps, RegistryFieldsType } from "@rjsf/utils";
import { useState } from "react";

import { Button, IconButton } from "@/components/Button";

import { t } from "../texts";
import { describedBy, Errors, labelOf } from "./argParts";
import classes from "./ArgsForm.module.css";

/** A list of words in one line: "ml, data". */
function Words({ fieldPathId, formData, onChange, readonly, rawErrors }: FieldProps) {
  const { $id: id, path } = fieldPathId;
  const list = Array.isArray(formData) ? formData.map(String) : [];
  const [typed, setTyped] = useState<string | null>(null);
  const bad = (rawErrors?.length ?? 0) > 0;
  return (
    <input
      id={id}
      className="mono"
      value={typed ?? list.join(", ")}
      placeholder={t("none")}
      readOnly={readonly === true}
      spellCheck={false}
      autoComplete="off"
      aria-labelledby={`${id}__label`}
      aria-invalid={bad}
      aria-describedby={describedBy(id, bad)}
      onBlur={() => setTyped(null)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(
          event.currentTarget.value.split(/[\s,]+/).filter((word) => word !== ""),
          path,
        );
      }}
    />
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
  const columns = Object.entries(
    (schema.items as { properties?: Record<string, RowSchema> } | undefined)?.properties ?? {},
  );
  const name = labelOf(path);
  const set = (index: number, key: string, value: unknown) =>
    onChange(
      rows.map((row, at) => (at === index ? { ...row, [key]: value } : row)),
      path,
    );
  const add = () =>
    onChange(
      [
        ...rows,
        Object.fromEntries(
          columns.map(([key, column]) => [key, column.type === "integer" ? (column.minimum ?? 0) : ""]),
        ),
      ],
      path,
    );
  return (
    <>
      {rows.length === 0 ? null : (
        <table className={classes.rows} aria-labelledby={`${id}__label`}>
          <thead>
            <tr>
              {columns.map(([key, column]) => (
                <th key={key} scope="col" title={column.description}>
                  {columnTitle(key, column)}
                </th>
              ))}
              <th>
                <span className="srOnly">{t("remove")}</span>
              </th>
            </tr>
          </thead>
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
                        <input
                          id={cellId}
                          className={number ? "num" : "mono"}
                          value={shownText(row[key])}
                          inputMode={number ? "numeric" : "text"}
                          readOnly={readonly === true}
                          spellCheck={false}
                          autoComplete="off"
                          aria-label={`${name} ${index + 1}, ${key}`}
                          aria-invalid={bad}
                          {...(bad ? { "aria-describedby": `${id}_${index}__error` } : {})}
                          onChange={(event) => set(index, key, parsed(event.currentTarget.value, number))}
                        />
                      </td>
                    );
                  })}
                  <td>
                    {readonly === true ? null : (
                      <IconButton
                        icon="trash"
                        iconSize={14}
                        label={t("removeShownText", {
                          shownText: shownText(row[columns[0]?.[0] ?? ""]) || t("numberIndex", { index: index + 1 }),
                        })}
                        onClick={() =>
                          onChange(
                            rows.filter((_, at) => at !== index),
                            path,
                          )
                        }
                      />
                    )}
                  </td>
                </tr>,
                messages.length === 0 ? null : (
                  <tr key={`${index} error`}>
                    <td colSpan={columns.length + 1}>
                      <Errors id={`${id}_${index}`} messages={messages} />
                    </td>
                  </tr>
                ),
              ];
            })}
          </tbody>
        </table>
      )}
      <Errors id={id} messages={rawErrors} />
      {readonly === true ? null : (
        <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} onClick={add}>
          {t("addAnEntryTo", { field: name })}
        </Button>
      )}
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
          <thead>
            <tr>
              <th scope="col">{t("name")}</th>
              <th scope="col">{t("value")}</th>
              <th>
                <span className="srOnly">{t("remove")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pairs.map(([key, value], index) => {
              const messages = messagesOf((errorSchema as Record<string, ErrorSchema<unknown>> | undefined)?.[key]);
              return [
                <tr key={index}>
                  <td>
                    <input
                      className="mono"
                      value={key}
                      readOnly={readonly === true}
                      spellCheck={false}
                      autoComplete="off"
                      aria-label={t("nameIndex", { index: index + 1 })}
                      onBlur={settle}
                      onChange={(event) =>
                        set(
                          pairs.map((pair, at): [string, unknown] =>
                            at === index ? [event.currentTarget.value.trim(), pair[1]] : pair,
                          ),
                        )
                      }
                    />
                  </td>
                  <td data-number="">
                    <input
                      className="mono"
                      value={shownText(value)}
                      readOnly={readonly === true}
                      spellCheck={false}
                      autoComplete="off"
                      aria-label={t("valueOf2", { key })}
                      onBlur={settle}
                      aria-invalid={messages.length > 0}
                      {...(messages.length > 0 ? { "aria-describedby": `${id}_${index}__error` } : {})}
                      onChange={(event) =>
                        set(
                          pairs.map((pair, at): [string, unknown] =>
                            at === index ? [pair[0], event.currentTarget.value] : pair,
                          ),
                        )
                      }
                    />
                  </td>
                  <td>
                    {readonly === true ? null : (
                      <IconButton
                        icon="trash"
                        iconSize={14}
                        label={t("removeEntry", { which: key === "" ? t("numberIndex", { index: index + 1 }) : key })}
                        onClick={() => set(pairs.filter((_, at) => at !== index))}
                      />
                    )}
                  </td>
                </tr>,
                messages.length === 0 ? null : (
                  <tr key={`${index} error`}>
                    <td colSpan={3}>
                      <Errors id={`${id}_${index}`} messages={messages} />
                    </td>
                  </tr>
                ),
              ];
            })}
          </tbody>
        </table>
      )}
      {readonly === true ? null : (
        <Button
          kind="ghost"
          size="sm"
          icon="plus"
          className={classes.addButton ?? ""}
          onClick={() => setTyped([...pairs, ["", ""]])}
        >
          {t("addAPair")}
        </Button>
      )}
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
  return column.minimum !== undefined && column.maximum !== undefined
    ? t("titleMinimumToMaximum", { title, minimum: column.minimum, maximum: column.maximum })
    : title;
}

export const argFields: RegistryFieldsType = { Words, Rows, Pairs };
