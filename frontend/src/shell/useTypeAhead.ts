import { useEffect } from "react";

/**
 * While the search is on its way, what is typed is meant for its field and not for the page below.
 * Keys that reach a dialog are the dialog's own.
 */
export function useTypeAhead(
  opened: boolean,
  change: (edit: (text: string) => string) => void,
  close: () => void,
): void {
  useEffect(() => {
    if (!opened) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.target instanceof Element && event.target.closest("[role=dialog]") !== null) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key.length === 1) change((text) => text + event.key);
      else if (event.key === "Backspace") change((text) => text.slice(0, -1));
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener("keydown", onKeyDown, true);
    return () => document.removeEventListener("keydown", onKeyDown, true);
  }, [opened, change, close]);
}
