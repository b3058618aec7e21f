/** What a person does to the controls of a page. */
import { fireEvent, screen } from "@testing-library/react";

import type { Call } from "./showPage";

type Name = string | RegExp;

export const button = (name: Name): HTMLElement => screen.getByRole("button", { name });

export const press = (name: Name): void => void fireEvent.click(button(name));

export const isOff = (name: Name): boolean => (button(name) as HTMLButtonElement).disabled;

export const fill = (label: Name, value: string): void =>
  void fireEvent.change(screen.getByLabelText(label), { target: { value } });

/** The writes among the calls, as "METHOD /path" with what was sent. */
export const sent = (calls: readonly Call[]): [string, unknown][] =>
  calls.filter(({ method }) => method !== "GET").map(({ method, path, body }) => [`${method} ${path}`, body]);

/** The query of the last read of `path`. */
export function askedLast(calls: readonly Call[], path: string): Record<string, string> {
  const read = calls.filter((call) => call.method === "GET" && call.path.split("?")[0] === path).at(-1);
  return Object.fromEntries(new URLSearchParams(read?.path.split("?")[1] ?? ""));
}

export const reads = (calls: readonly Call[], path: string): number =>
  calls.filter((call) => call.method === "GET" && call.path.split("?")[0] === path).length;
