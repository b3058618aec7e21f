/** Unsaved text lives in this browser until it is saved: a reload, a failed save or a closed tab loses nothing. */
import type { StoredDraft } from "./draftStore";

const PREFIX = "playground-draft-";

export function readDraft(configuration: string): StoredDraft | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + configuration) ?? "null");
    if (typeof value !== "object" || value === null || !("text" in value) || !("base" in value)) return null;
    return typeof value.text === "string" && typeof value.base === "number"
      ? { text: value.text, base: value.base }
      : null;
  } catch {
    return null;
  }
}

/** False when this browser does not let us: the page then says that a reload would lose the draft. */
export function writeDraft(configuration: string, draft: StoredDraft | null): boolean {
  try {
    if (draft === null) localStorage.removeItem(PREFIX + configuration);
    else localStorage.setItem(PREFIX + configuration, JSON.stringify(draft));
    return true;
  } catch {
    return draft === null;
  }
}

export function hasDraft(configuration: string): boolean {
  return readDraft(configuration) !== null;
}
