/** Texts of objects that were typed and not applied: a drawer that was closed by mistake has them again. */
import type { ObjectRef } from "@/api/podQueries";

import { objectText } from "./objects";

export interface ObjectDraft {
  /** The object as it was read. */
  read: string;
  text: string;
  /** Of the state that was read. */
  version: string;
}

const drafts = new Map<string, ObjectDraft>();
const keyOf = (run: string, object: ObjectRef) => `${run} ${objectText(object)}`;

export const draftOf = (run: string, object: ObjectRef): ObjectDraft | null => drafts.get(keyOf(run, object)) ?? null;

export const dropDraft = (run: string, object: ObjectRef): void => void drafts.delete(keyOf(run, object));

/** What is as it was read is no draft. */
export function keepDraft(run: string, object: ObjectRef, draft: ObjectDraft): void {
  if (draft.text === draft.read) dropDraft(run, object);
  else drafts.set(keyOf(run, object), draft);
}
