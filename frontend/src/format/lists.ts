/** Several words, clauses or sentences as one text, with the marks that the reader's language puts between them. */
import { t } from "./texts";

/** "a, b, c"; "" of nothing. */
export function listed(words: readonly string[]): string {
  return words.length === 0 ? "" : words.reduce((list, next) => t("listed", { list, next }));
}

/** "a, b and c" */
export function both(words: readonly string[]): string {
  return words.length < 2
    ? listed(words)
    : t("listedAnd", { list: listed(words.slice(0, -1)), last: words.at(-1) ?? "" });
}

/** "a, b or c" */
export function either(words: readonly string[]): string {
  return words.length < 2
    ? listed(words)
    : t("listedOr", { list: listed(words.slice(0, -1)), last: words.at(-1) ?? "" });
}

/** "3 fit, 2 wait": each says something of its own. */
export function clauses(parts: readonly string[]): string {
  return parts.length === 0 ? "" : parts.reduce((before, then) => t("clauses", { before, then }));
}

/** "web: 3, 4; db: 1": of parts that are lists themselves. */
export function series(parts: readonly string[]): string {
  return parts.length === 0 ? "" : parts.reduce((before, then) => t("series", { before, then }));
}

/** "This. That.": what is empty is left out. */
export function sentences(all: readonly (string | undefined)[]): string {
  const said = all.filter((one) => one !== undefined && one !== "") as string[];
  return said.length === 0 ? "" : said.reduce((before, then) => t("sentences", { before, then }));
}

/** The sentence that a series or a list makes. */
export function fullStop(said: string): string {
  return t("fullStop", { said });
}
