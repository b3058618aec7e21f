/** From a plugin's JSON Schema and the server's errors to what the form library wants. */
import type { ErrorSchema, UiSchema } from "@rjsf/utils";

import type { PathPart, Problem } from "@/api/configurationTypes";

import { shortMessage } from "../words";

export type Data = Record<string, unknown>;
type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The server's value has the defaults already; a form that fills them in by itself would write them into the text. */
export function withoutDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  if (!isSchema(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== "default" && key !== "$schema")
      .map(([key, value]) => [key, key === "enum" ? value : withoutDefaults(value)]),
  );
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
export function sortErrors(
  errors: readonly Problem[],
  schema: unknown,
): { known: ErrorSchema<Data>; others: Problem[] } {
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
  return part in properties
    ? hasPlace(properties[part], rest)
    : isSchema(schema.additionalProperties) && rest.length === 0;
}
