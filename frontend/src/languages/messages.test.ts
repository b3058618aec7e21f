/** Every language says the same things: the keys, placeholders and plural forms it must have, no more and no fewer. */
import { describe, expect, it } from "vitest";

import type { Bundle } from "./area";
import { LANGUAGES } from "./language";

const files = import.meta.glob<Record<string, string>>("./*/*.json", { eager: true, import: "default" });
const bundles: Record<string, Bundle> = {};
for (const [path, texts] of Object.entries(files)) {
  const [, tag = "", area = ""] = /^\.\/([^/]+)\/(.+)\.json$/.exec(path) ?? [];
  bundles[tag] = { ...bundles[tag], [area]: texts };
}
const english = bundles.en ?? {};
const isPlural = (area: string, key: string) =>
  /_(one|other)$/.test(key) && `${key.replace(/_\w+$/, "")}_other` in (english[area] ?? {});

/** What `tag` must have for the keys of an area: of a counted text one for each form of its plural rules. */
function wanted(tag: string, area: string): string[] {
  const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  const keys = new Set<string>();
  for (const key of Object.keys(english[area] ?? {})) {
    if (isPlural(area, key)) for (const form of forms) keys.add(key.replace(/_\w+$/, `_${form}`));
    else keys.add(key);
  }
  return [...keys].sort();
}

/**
 * Stand beside something that is drawn in another way (a badge, a number in another colour, what only a screen reader
 * hears). Everything else is whole: what belongs together is one message with placeholders, or goes through `format/lists`.
 */
const BESIDE: ReadonlySet<string> = new Set([
  "compare.clusterWithSeed",
  "components.forkMore",
  "configuration.problemLineBefore",
  "configuration.savedVAt",
  "configuration.lineRemoved",
  "configuration.lineAdded",
  "pod.allFrom",
  "pod.mostOfItFrom",
  "rewind.commandsAreHeld",
  "run.1OfEqual",
  "run.marginAhead",
  "run.marginAheadOf",
  "whatIf.equal",
  "whatIf.equalAndMore",
]);
const isFragment = (text: string) => /^[\s,，、;；.。:：·]|[\s,，、;；·]$/.test(text);

const parts = (text: string) => [...new Set(text.match(/\{\{\w+\}\}|<\/?\w+>/g) ?? [])].sort();

it("there are files for every language that can be chosen, and no others", () => {
  expect(Object.keys(bundles).sort()).toEqual(Object.keys(LANGUAGES).sort());
});

describe.each(Object.keys(LANGUAGES))("%s", (tag) => {
  const bundle = bundles[tag] ?? {};

  it("has the areas of English", () => expect(Object.keys(bundle).sort()).toEqual(Object.keys(english).sort()));

  it.each(Object.keys(english))("%s: the keys of English, in all plural forms of the language", (area) => {
    expect(Object.keys(bundle[area] ?? {}).sort()).toEqual(wanted(tag, area));
  });

  it.each(Object.keys(english))("%s: the placeholders of English, and nothing empty", (area) => {
    for (const [key, text] of Object.entries(bundle[area] ?? {})) {
      const base = key in (english[area] ?? {}) ? key : key.replace(/_\w+$/, "_other");
      expect(text.trim(), key).not.toBe("");
      if (!BESIDE.has(`${area}.${isPlural(area, base) ? base.replace(/_\w+$/, "") : base}`))
        expect(isFragment(text), `${key}: “${text}”`).toBe(false);
      const want = parts(english[area]?.[base] ?? "");
      // "One pod" may leave its number to the word.
      expect(
        parts(text).filter((part) => part !== "{{count}}"),
        key,
      ).toEqual(want.filter((part) => part !== "{{count}}"));
      if (!key.endsWith("_one")) expect(text.includes("{{count}}"), key).toBe(want.includes("{{count}}"));
    }
  });
});
