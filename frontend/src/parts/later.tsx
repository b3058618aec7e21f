import { type ComponentType, type FunctionComponent, use, useSyncExternalStore } from "react";

import { MissingPage, MissingPart } from "./Missing";
import { Part } from "./part";

/** A component in a file of its own, for inside a <Suspense>. Where it cannot be fetched a sentence says so. */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  const part = new Part(load);
  return function Later(props: Props) {
    const state = useSyncExternalStore(part.watch, part.getState);
    if (state === "missing") return <MissingPart retry={() => void part.fetch()} />;
    if (state === null) {
      use(part.fetch());
      return null;
    }
    const Fetched = state.value.default;
    return <Fetched {...props} />;
  };
}

/** The same for a page, and before it is shown: the router waits for `preload` with the page it leaves on screen. */
export function laterPage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): FunctionComponent & { preload: () => Promise<void> } {
  const part = new Part(load);
  function LaterPage() {
    const state = useSyncExternalStore(part.watch, part.getState);
    if (state === "missing") return <MissingPage retry={() => void part.fetch()} />;
    if (state === null) {
      use(part.fetch());
      return null;
    }
    const Fetched: ComponentType = state.value[name];
    return <Fetched />;
  }
  return Object.assign(LaterPage, { preload: part.fetch });
}
