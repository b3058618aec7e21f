/**
 * A plugin's arguments as a form made from its JSON Schema. Fetched with the first plugin that has arguments. The form
 * checks nothing itself: every change becomes edits, the server applies and judges them, and its errors stand under the
 * fields they are about.
 */
import Form, { type IChangeEvent } from "@rjsf/core";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import validator from "@rjsf/validator-ajv8";
import { useState } from "react";

import type { FormArgs, PathPart, PluginDescription, Problem } from "@/api/configurationTypes";
import { Icon } from "@/components/Icon";

import { argFields, argTemplates, argWidgets, type ArgsContext } from "./argFields";
import { useEditing } from "./editing";
import { argEdits, pruned } from "./edits";
import classes from "./ArgsForm.module.css";
import { shortMessage } from "./words";

interface ArgsFormProps {
  plugin: PluginDescription;
  args: FormArgs;
}

type Data = Record<string, unknown>;

export default function ArgsForm({ plugin, args }: ArgsFormProps) {
  const { profile, state, readOnly, edit, examination, saved, shown } = useEditing();
  const [typed, setTyped] = useState<Data | null>(null);
  const schema = plugin.args_schema;
  if (schema === null) return null;
  const server = pruned(args.value) as Data;
  // What is typed stands until the server has answered; then the server's reading of the text does.
  const data = state.busy && typed !== null ? typed : server;
  const errors = examination.errors.filter((error) => error.plugin === plugin.name && (error.profile ?? 0) === profile && error.field.length > 0);
  const savedIndex = saved?.effective?.profiles.findIndex((one) => one.scheduler_name === shown.scheduler_name) ?? -1;
  const context: ArgsContext = { saved: saved?.form?.profiles[savedIndex]?.args[plugin.name]?.value };
  const onChange = ({ formData }: IChangeEvent<Data>) => {
    const now = (pruned(formData) ?? {}) as Data;
    const edits = argEdits(profile, plugin.name, data, now, args.written);
    if (edits.length === 0) return;
    setTyped(formData ?? {});
    edit(...edits);
  };
  const { known, others } = sortErrors(errors, schema);
  return (
    <div className={classes.form}>
      {others.map((error) => (
        <p key={error.text} className={classes.error} title={error.text}><Icon name="warning" size={14} /><span><span className="mono">{error.field.join(".")}</span> {shortMessage(error)}</span></p>
      ))}
      <Form<Data> schema={withoutDefaults(schema) as RJSFSchema} uiSchema={uiSchemaOf(schema)} formData={data} formContext={context} validator={validator}
        extraErrors={known} idPrefix="arg" tagName="div" noHtml5Validate showErrorList={false} readonly={readOnly} onChange={onChange}
        fields={argFields} templates={argTemplates} widgets={argWidgets}
        experimental_defaultFormStateBehavior={{ emptyObjectFields: "skipDefaults", arrayMinItems: { populate: "never" } }}>
        <></>
      </Form>
      {args.written === null || readOnly ? null : (
        <button type="button" className={`${classes.reset} leads`} onClick={() => edit({ type: "removeArgs", profile, plugin: plugin.name, path: [] })}>Back to the default arguments</button>
      )}
    </div>
  );
}

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The server's value has the defaults already; a form that fills them in by itself would write them into the text. */
function withoutDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  if (!isSchema(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "default" && key !== "$schema").map(([key, value]) => [key, key === "enum" ? value : withoutDefaults(value)]));
}

const SCALARS = ["string", "integer", "number", "boolean"];

function isScalar(schema: unknown): boolean {
  return isSchema(schema) && (SCALARS.includes(String(schema.type)) || Array.isArray(schema.enum));
}

/** Which of our fields shows a part: lists of words in one line, small objects as a table, maps as pairs. */
export function uiSchemaOf(schema: unknown): UiSchema {
  if (!isSchema(schema)) return {};
  if (schema.type === "object") {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    if (Object.keys(properties).length === 0 && isSchema(schema.additionalProperties)) return { "ui:field": "Pairs" };
    return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, uiSchemaOf(value)]));
  }
  if (schema.type === "array" && isSchema(schema.items)) {
    const { items } = schema;
    if (items.type === "string" && !Array.isArray(items.enum)) return { "ui:field": "Words" };
    const columns = isSchema(items.properties) ? Object.values(items.properties) : [];
    if (columns.length > 0 && columns.length <= 3 && columns.every(isScalar)) return { "ui:field": "Rows" };
    return { items: uiSchemaOf(items) };
  }
  return {};
}

/** Errors by their field; those of places that the form does not have stand above it. */
export function sortErrors(errors: readonly Problem[], schema: unknown): { known: ErrorSchema<Data>; others: Problem[] } {
  const known: Record<string, unknown> = {};
  const others: Problem[] = [];
  for (const error of errors) {
    if (!hasPlace(schema, error.field)) {
      others.push(error);
      continue;
    }
    let at = known;
    for (const part of error.field) at = (at[String(part)] ??= {}) as Record<string, unknown>;
    ((at.__errors ??= []) as string[]).push(shortMessage(error));
  }
  return { known: known as ErrorSchema<Data>, others };
}

function hasPlace(schema: unknown, path: readonly PathPart[]): boolean {
  const [part, ...rest] = path;
  if (part === undefined) return isSchema(schema);
  if (!isSchema(schema)) return false;
  if (typeof part === "number") return schema.type === "array" && hasPlace(schema.items, rest);
  const properties = isSchema(schema.properties) ? schema.properties : {};
  return part in properties ? hasPlace(properties[part], rest) : isSchema(schema.additionalProperties) && rest.length === 0;
}
