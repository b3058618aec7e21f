/** How the rows of the node table are sorted: by one number a row, whatever the column shows. */

export interface Sorting {
  column: string;
  descending: boolean;
}

/** A click on a column's head: texts begin ascending and numbers descending, then the other way round, then not at all. */
export function nextSorting(now: Sorting | null, column: string, isNumber: boolean): Sorting | null {
  if (now?.column !== column) return { column, descending: isNumber };
  return now.descending === isNumber ? { column, descending: !isNumber } : null;
}

/** Rows by key, equals as they stood. */
export function sortRows(rows: readonly number[], keys: Float64Array, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * ((keys[a] ?? 0) - (keys[b] ?? 0)));
}

/** The place of each text among all of them; numbers within count as numbers, so node-2 stands before node-10. */
export function ranksOf(texts: readonly string[]): Float64Array {
  const padded = new Map<string, string>();
  for (const text of texts)
    if (!padded.has(text))
      padded.set(
        text,
        text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(16, "0")),
      );
  const ordered = [...padded].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  const rank = new Map(ordered.map(([text], index) => [text, index]));
  return Float64Array.from(texts, (text) => rank.get(text) ?? 0);
}
