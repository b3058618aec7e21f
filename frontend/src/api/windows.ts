/** Where the next window of a list begins; undefined behind the last. */
export function nextOffset(last: { offset: number; count: number; results: readonly unknown[] }): number | undefined {
  const next = last.offset + last.results.length;
  return next < last.count ? next : undefined;
}
