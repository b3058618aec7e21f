/**
 * After an upgrade the server has other files than this page asks for. The page is then loaded anew by itself, once; not
 * while something is typed that would be lost.
 */
const RELOADED_AT = "playground-reloaded-at";
/** Loading anew that did not help is not tried again for so long. */
const NOT_AGAIN_FOR = 60_000;

const typedInto = new Set<HTMLElement>();

export function rememberTyping(): void {
  document.addEventListener(
    "input",
    ({ target }) => {
      if (target instanceof HTMLElement) typedInto.add(target);
    },
    true,
  );
}

function textOf(field: HTMLElement): string {
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (field instanceof HTMLInputElement)
    return ["checkbox", "radio", "range", "file"].includes(field.type) ? "" : field.value;
  return field.isContentEditable ? field.textContent : "";
}

/** Whether a field that is still on the page holds what a person typed. */
export function holdsTypedText(): boolean {
  for (const field of typedInto) if (!field.isConnected) typedInto.delete(field);
  return [...typedInto].some((field) => textOf(field).trim() !== "");
}

/** Loads the page anew; false when it must not: something is typed, or that was tried a moment ago. */
export function reloadOnce(now: number): boolean {
  if (holdsTypedText()) return false;
  try {
    if (now - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < NOT_AGAIN_FOR) return false;
    sessionStorage.setItem(RELOADED_AT, String(now));
  } catch {
    // Without storage nobody could tell a second time from the first.
    return false;
  }
  location.reload();
  return true;
}
