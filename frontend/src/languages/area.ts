/**
 * Texts by area. An area is a directory of src with texts: `src/languages/en/<area>.json` has its English, and `texts.ts`
 * of the directory binds it. So English arrives with the code that says it, and `tsc` refuses a key that is not there.
 * The files are in i18next's JSON format (v4), which translators' tools read; docs/decisions/0011-languages.md says why
 * i18next itself is not here.
 */
import { createElement, Fragment, type ReactElement, type ReactNode } from "react";

import { language } from "./language";

type Form = "zero" | "one" | "two" | "few" | "many" | "other";
/** Keys of an area; `pods_one` and `pods_other` are the forms of one key, `pods`. */
export type KeyOf<Texts> = { [K in keyof Texts & string]: K extends `${infer Base}_${Form}` ? Base : K }[keyof Texts &
  string];
type CountedKey<Texts> = { [K in keyof Texts & string]: K extends `${infer Base}_other` ? Base : never }[keyof Texts &
  string];

export type Values = Record<string, string | number>;
/** An element stands where its placeholder is; a function gets what stands between `<name>` and `</name>`. */
type Part = ReactElement | ((inside: ReactNode) => ReactElement);
type RichValues = Record<string, string | number | Part>;
type Given<Texts, K, V> = K extends CountedKey<Texts> ? [values: V & { count: number }] : [values?: V];

export interface Area<Texts> {
  /** The text in the language in force. Numbers are written as that language writes them. */
  t: <K extends KeyOf<Texts>>(key: K, ...values: Given<Texts, K, Values>) => string;
  /** A text with elements inside. */
  rich: <K extends KeyOf<Texts>>(key: K, ...values: Given<Texts, K, RichValues>) => ReactNode;
}

const numbers = new Map<string, Intl.NumberFormat>();

/** With that many places behind the separator; without them as many as the number has, three at most. */
export function numberFormat(places?: number): Intl.NumberFormat {
  const kind = `${language()} ${places ?? ""}`;
  let format = numbers.get(kind);
  if (format === undefined) {
    const fixed = places === undefined ? {} : { minimumFractionDigits: places, maximumFractionDigits: places };
    format = new Intl.NumberFormat(language(), { useGrouping: "always", ...fixed });
    numbers.set(kind, format);
  }
  return format;
}

/** A number as a reader writes it. Its minus is the sign, U+2212, where Intl writes a hyphen. */
export function written(value: number, places?: number): string {
  return numberFormat(places).format(value).replace("-", "−");
}

export type Bundle = Record<string, Record<string, string>>;

/** What was fetched, by language. */
const known = new Map<string, Bundle>();
const plurals = new Map<string, Intl.PluralRules>();

/** All texts of a language. */
export function addLanguage(tag: string, bundle: Bundle): void {
  known.set(tag, bundle);
}

function formOf(count: number): Intl.LDMLPluralRule {
  const tag = language();
  let rules = plurals.get(tag);
  if (rules === undefined) {
    rules = new Intl.PluralRules(tag);
    plurals.set(tag, rules);
  }
  return rules.select(count);
}

const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/** What a translation lacks is said in English; tests see to it that none lacks anything. */
function say(
  texts: Record<string, string>,
  english: Record<string, string>,
  key: string,
  values: Values | undefined,
): string {
  const count = values?.count;
  const form = typeof count === "number" ? `${key}_${formOf(count)}` : key;
  const text = texts[key] ?? texts[form] ?? english[key] ?? english[`${key}_other`];
  if (text === undefined) throw new Error(`There is no text “${key}”.`);
  if (values === undefined) return text;
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? written(value) : value;
  });
}

export function area<Texts extends Record<string, string>>(name: string, english: Texts): Area<Texts> {
  const texts = () => (language() === "en" ? english : (known.get(language())?.[name] ?? english));
  return {
    t: (key, ...[values]) => say(texts(), english, key, values),
    rich: (key, ...[values = {}]) => {
      const plain: Values = {};
      const elements: Record<string, Part> = {};
      for (const [name, value] of Object.entries(values)) {
        if (typeof value === "number") plain[name] = value;
        else if (typeof value === "string") plain[name] = value.replaceAll("<", LESS_THAN);
        else elements[name] = value;
        if (typeof value === "object") plain[name] = `<${name}/>`;
      }
      return withElements(say(texts(), english, key, plain), elements);
    },
  };
}

/** Stands for the "<" of a value while tags are looked for: a value is never markup. */
const LESS_THAN = "\uE000";
const TAG = /<(\w+)(?:\/>|>(.*?)<\/\1>)/;

function withElements(text: string, elements: Record<string, Part>): ReactNode {
  const parts: ReactNode[] = [];
  let rest = text;
  for (let found = TAG.exec(rest); found !== null; found = TAG.exec(rest)) {
    const [whole, name = "", inside = ""] = found;
    const element = elements[name];
    if (element === undefined) throw new Error(`“${text}” wants an element for <${name}>.`);
    parts.push(rest.slice(0, found.index).replaceAll(LESS_THAN, "<"));
    parts.push(typeof element === "function" ? element(withElements(inside, elements)) : element);
    rest = rest.slice(found.index + whole.length);
  }
  parts.push(rest.replaceAll(LESS_THAN, "<"));
  return createElement(Fragment, null, ...parts);
}
