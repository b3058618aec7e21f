/**
 * k9s' filter grammar in one parser, the same on every page and on the server's `q`:
 * words that must appear, `!word` that must not, `-l key=value` (also `!=`, `key`, `!key`, `key in (a,b)` via commas) labels.
 */
export interface Filter {
  include: string[];
  exclude: string[];
  labels: LabelRequirement[];
}

export interface LabelRequirement {
  key: string;
  operator: "=" | "!=" | "exists" | "absent";
  value?: string;
}

export const EMPTY_FILTER: Filter = { include: [], exclude: [], labels: [] };

function requirement(text: string): LabelRequirement | null {
  const different = text.indexOf("!=");
  if (different > 0) return { key: text.slice(0, different), operator: "!=", value: text.slice(different + 2) };
  const equal = text.indexOf("=");
  if (equal > 0) return { key: text.slice(0, equal), operator: "=", value: text.slice(equal + 1).replace(/^=/, "") };
  if (text.startsWith("!") && text.length > 1) return { key: text.slice(1), operator: "absent" };
  return text === "" ? null : { key: text, operator: "exists" };
}

export function parseFilter(text: string): Filter {
  const filter: Filter = { include: [], exclude: [], labels: [] };
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "-l" || word.startsWith("-l=")) {
      const value = word === "-l" ? words[(index += 1)] : word.slice(3);
      for (const part of (value ?? "").split(",")) {
        const label = requirement(part);
        if (label !== null) filter.labels.push(label);
      }
    } else if (word.startsWith("!")) {
      if (word.length > 1) filter.exclude.push(word.slice(1).toLowerCase());
    } else {
      filter.include.push(word.toLowerCase());
    }
  }
  return filter;
}

function fits(label: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[label.key];
  switch (label.operator) {
    case "=":
      return value === label.value;
    case "!=":
      return value !== label.value;
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
  }
}

export function matches(filter: Filter, text: string, labels: Readonly<Record<string, string>> = {}): boolean {
  const lower = text.toLowerCase();
  return (
    filter.include.every((word) => lower.includes(word)) &&
    filter.exclude.every((word) => !lower.includes(word)) &&
    filter.labels.every((label) => fits(label, labels))
  );
}

export function isEmpty(filter: Filter): boolean {
  return filter.include.length + filter.exclude.length + filter.labels.length === 0;
}
