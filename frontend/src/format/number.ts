import { numberFormat, written } from "@/languages/area";

/** "8,152" */
export function count(value: number): string {
  return written(Math.round(value));
}

/** "87.50": always that many places behind the separator; "87,50" where that is how it is written. */
export function fixed(value: number, places: number): string {
  return written(value, places);
}

/** "7.92": at most that many places behind the separator, three at the most. */
export function rounded(value: number, places: number): string {
  return written(Number(value.toFixed(places)));
}

/** A decimal that came as text, with the reader's separator: "96.1" → "96,1". */
export function decimal(text: string): string {
  return text.replace(
    ".",
    numberFormat(1)
      .formatToParts(0)
      .find(({ type }) => type === "decimal")?.value ?? ".",
  );
}

/** 0.8751 → "87.5 %" */
export function percentText(share: number, places: number): string {
  return `${fixed(share * 100, places)} %`;
}

/** Priorities on cards: "100k", "−10", "2B"; the exact value belongs in the title. */
export function shortPriority(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  for (const [unit, letter] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (size >= unit) return `${sign}${rounded(size / unit, 1)}${letter}`;
  }
  return `${sign}${size}`;
}

/** "1.7 MB", powers of ten as file managers show them. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  for (const [unit, name] of [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ] as const) {
    if (value >= unit) return `${fixed(value / unit, value >= unit * 100 ? 0 : 1)} ${name}`;
  }
  return `${value} B`;
}

export function percent(share: number): number {
  return Math.round(share * 100);
}

/** 0.26 → "26 %"; what is something but rounds to nothing is "< 1 %". */
export function shareText(share: number): string {
  return share > 0 && share < 0.005 ? "< 1 %" : `${percent(share)} %`;
}
