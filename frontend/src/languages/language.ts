/**
 * The language of the page: one at a time, chosen by `?lang=`, by the picker (kept in localStorage) or by the browser's
 * own list, in this order. English comes with the code; the texts of another language are fetched before it is shown.
 */
export const LANGUAGES = { en: "English", uk: "Українська", "zh-CN": "简体中文" } as const;
export type Language = keyof typeof LANGUAGES;

export const LANGUAGE_KEY = "playground-language";

const watchers = new Set<() => void>();
let current: Language = "en";

/** The language in force, a BCP 47 tag that Intl and `Accept-Language` take. */
export function language(): Language {
  return current;
}

/** Only for ./choose: everybody else goes through `chooseLanguage`, which has the texts fetched first. */
export function setLanguage(to: Language): void {
  current = to;
  for (const watcher of watchers) watcher();
}

export function watchLanguage(callback: () => void): () => void {
  watchers.add(callback);
  return () => watchers.delete(callback);
}

/** "uk-UA" → "uk"; every Chinese but Traditional → "zh-CN"; undefined for what there are no texts for. */
export function languageOf(tag: string): Language | undefined {
  const parts = tag.toLowerCase().split("-");
  if (parts[0] === "zh") return parts.some((part) => ["hant", "tw", "hk", "mo"].includes(part)) ? undefined : "zh-CN";
  return parts[0] === "en" || parts[0] === "uk" ? parts[0] : undefined;
}

/** The first of the wishes, strongest first, that there are texts for; English when there is none. */
export function firstKnown(wishes: readonly (string | null)[]): Language {
  for (const wish of wishes) {
    const known = wish === null ? undefined : languageOf(wish);
    if (known !== undefined) return known;
  }
  return "en";
}
