/** Reading the query string: state lives in the URL, so it is parsed like any other input. */
export type RawSearch = Record<string, unknown>;

export function text(search: RawSearch, key: string): string | undefined {
  const value = search[key];
  if (typeof value === "string" && value !== "") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

export function whole(search: RawSearch, key: string): number | undefined {
  const value = Number(search[key]);
  return Number.isInteger(value) && value >= 0 && search[key] !== undefined ? value : undefined;
}

export function oneOf<T extends string>(search: RawSearch, key: string, allowed: readonly T[]): T | undefined {
  const value = search[key];
  return allowed.find((one) => one === value);
}

export function flag(search: RawSearch, key: string): true | undefined {
  const value = search[key];
  return value === true || value === "true" || value === 1 || value === "1" ? true : undefined;
}

/** Yes or no, or not asked. */
export function either(search: RawSearch, key: string): boolean | undefined {
  if (flag(search, key)) return true;
  const value = search[key];
  return value === false || value === "false" || value === 0 || value === "0" ? false : undefined;
}

/** Drops what is undefined, so that the address stays short. */
export function compact<T extends object>(search: T): Partial<T> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Partial<T>;
}
