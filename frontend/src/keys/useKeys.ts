import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";

import { type Binding, keyboard, SINGLE_KEYS_OFF } from "./registry";

/**
 * Registers bindings while the component is mounted. Handlers are always the latest ones, so they may close over state.
 * Layout effects: a key that is pressed as soon as a page is seen must not meet the bindings of the page before it.
 */
export function useKeys(bindings: Binding[]): void {
  const latest = useRef(bindings);
  useLayoutEffect(() => {
    latest.current = bindings;
  });
  const signature = bindings.map((binding) => `${binding.keys}\t${binding.label}\t${binding.group}`).join("\n");
  useLayoutEffect(() => {
    if (signature === "") return undefined;
    const stable = latest.current.map((binding) => ({
      ...binding,
      run: (event: KeyboardEvent) => latest.current.find((now) => now.keys === binding.keys)?.run(event),
    }));
    return keyboard.register(stable);
  }, [signature]);
}

export function useBindings(): readonly Binding[] {
  return useSyncExternalStore(keyboard.watch, keyboard.getBindings);
}

const TYPING = "input, textarea, select, [contenteditable=true], .cm-content";

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("[role=dialog]") !== null) return true;
  const field = target.closest(TYPING);
  if (field instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(field.type);
  return field !== null;
}

/** Mounted once, by the shell. */
export function useKeyboard(): void {
  useEffect(() => {
    try {
      keyboard.setSingleKeys(localStorage.getItem(SINGLE_KEYS_OFF) !== "1");
    } catch {
      keyboard.setSingleKeys(true);
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const binding = keyboard.resolve(event, isTyping(event.target), event.timeStamp);
      if (binding === null) return;
      // A focused button must still answer to space and Enter.
      if (
        (event.key === " " || event.key === "Enter") &&
        event.target instanceof HTMLElement &&
        event.target.closest("button, a, [role=button], input, summary") !== null
      )
        return;
      event.preventDefault();
      binding.run(event);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
