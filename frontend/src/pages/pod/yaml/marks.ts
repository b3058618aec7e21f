/** What the server said is wrong with a text, at its lines. */
import { ApiError } from "@/api/client";
import type { Mark } from "@/pages/configuration/text/YamlEditor";

export const NO_MARKS: readonly Mark[] = [];

export function marksOf(error: Error | null): readonly Mark[] {
  if (!(error instanceof ApiError)) return NO_MARKS;
  const { problems, line, column, message } = error.body;
  if (problems !== undefined) return problems.map((one) => ({ ...one, hint: "" }));
  return line === undefined ? NO_MARKS : [{ line, column: column ?? null, message, hint: "" }];
}
