import { numberFormat } from "@/languages/area";

/** "8,152" */
export function count(value: number): string {
  return numberFormat().format(Math.round(value));
}

/** Priorities on cards: "100k", "−10", "2B"; the exact value belongs in the title. */
export function shortPriority(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  for (const [unit, letter] of [[1e9, "B"], [1e6, "M"], [1e3, "k"]] as const) {
    if (size >= unit) return `${sign}${Number((size / unit).toFixed(size % unit === 0 ? 0 : 1))}${letter}`;
  }
  return `${sign}${size}`;
}

/** "1.7 MB", powers of ten as file managers show them. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  for (const [unit, name] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]] as const) {
    if (value >= unit) return `${(value / unit).toFixed(value >= unit * 100 ? 0 : 1)} ${name}`;
  }
  return `${value} B`;
}

export function percent(share: number): number {
  return Math.round(share * 100);
}
