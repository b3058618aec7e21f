/** Every English text is said somewhere, with the values that it has places for. */
import ts from "typescript";
import { expect, it } from "vitest";

interface Use {
  where: string;
  /** The key, or what keys look like that are put together. */
  key: RegExp;
  /** Undefined when the values are not written at the call. */
  values: string[] | undefined;
}

const files = import.meta.glob<string>("/src/**/*.{ts,tsx}", { eager: true, query: "?raw", import: "default" });
const sources = Object.entries(files).filter(([path]) => !/\.test\.|\.d\.ts$/.test(path));
const messages = import.meta.glob<Record<string, string>>("./en/*.json", { eager: true, import: "default" });

const areas = new Map<string, string>();
for (const [path, text] of sources) {
  const name = /\barea\("(\w+)"/.exec(text)?.[1];
  if (name !== undefined && path.endsWith("texts.ts")) areas.set(path, name);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function keysOf(node: ts.Expression): RegExp[] {
  if (ts.isParenthesizedExpression(node)) return keysOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...keysOf(node.whenTrue), ...keysOf(node.whenFalse)];
  if (ts.isStringLiteralLike(node)) return [new RegExp(`^${escaped(node.text)}$`)];
  if (!ts.isTemplateExpression(node)) throw new Error(`The key ${node.getText()} is not written where it is said.`);
  return [
    new RegExp(
      `^${escaped(node.head.text)}${node.templateSpans.map((span) => `.+${escaped(span.literal.text)}`).join("")}$`,
    ),
  ];
}

function valuesOf(node: ts.Expression | undefined): string[] | undefined {
  if (node === undefined) return [];
  if (!ts.isObjectLiteralExpression(node) || node.properties.some((one) => ts.isSpreadAssignment(one)))
    return undefined;
  return node.properties.map((one) => one.name?.getText() ?? "").sort();
}

/** Calls of `t` and `rich`, by area. */
const uses = new Map<string, Use[]>();
for (const [path, text] of sources) {
  const from = /import \{[^}]*\b(?:t|rich)\b[^}]*\} from "([^"]*texts)"/.exec(text)?.[1];
  if (from === undefined) continue;
  const texts = from.startsWith("@/") ? `/src/${from.slice(2)}` : new URL(from, `file://${path}`).pathname;
  const name = areas.get(`${texts}.ts`);
  if (name === undefined) throw new Error(`${path} takes texts from ${from}, which is no area.`);
  const found = uses.get(name) ?? [];
  uses.set(name, found);
  const file = ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const visit = (node: ts.Node): void => {
    const [key, values] =
      ts.isCallExpression(node) && ts.isIdentifier(node.expression) && ["t", "rich"].includes(node.expression.text)
        ? node.arguments
        : [];
    if (key !== undefined) {
      const where = `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
      for (const one of keysOf(key)) found.push({ where, key: one, values: valuesOf(values) });
    }
    node.forEachChild(visit);
  };
  visit(file);
}

const placesOf = (text: string) =>
  [...new Set([...text.matchAll(/\{\{(\w+)\}\}|<(\w+)>/g)].map((found) => found[1] ?? found[2] ?? ""))].sort();

it.each([...areas.values()])("%s: all texts are said, with their values", (name) => {
  const english = messages[`./en/${name}.json`] ?? {};
  const wrong: string[] = [];
  for (const [full, text] of Object.entries(english)) {
    const counted = `${full.replace(/_(one|other)$/, "")}_other` in english;
    const key = counted ? full.replace(/_(one|other)$/, "") : full;
    const said = (uses.get(name) ?? []).filter((use) => use.key.test(key));
    if (said.length === 0) wrong.push(`${full} is never said`);
    const places = placesOf(text);
    for (const { where, values } of said) {
      if (values === undefined || (counted && full.endsWith("_one"))) continue;
      const lacking = places.filter((place) => !values.includes(place));
      const idle = values.filter((value) => !places.includes(value) && !(counted && value === "count"));
      if (lacking.length + idle.length > 0)
        wrong.push(`${where}: ${key} lacks [${lacking.join(", ")}], has no place for [${idle.join(", ")}]`);
    }
  }
  expect(wrong).toEqual([]);
});
