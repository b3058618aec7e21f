/**
 * The keyboard: pages register bindings while they are mounted, the last registered wins, and `?` lists what is in force.
 * Single keys are off while a text field has focus or a dialog is open over the page, and can be switched off altogether.
 * A binding is one key ("p", "Escape", "?") or a chord ("g h").
 */
export interface Binding {
  keys: string;
  /** What it does, as the overlay lists it. */
  label: string;
  group: string;
  run: (event: KeyboardEvent) => void;
  /** Works inside text fields and dialogs too (Escape, Ctrl+K). */
  everywhere?: boolean;
  /** Of what floats over the page: it goes before the page's, whichever was registered last. */
  floats?: boolean;
}

export interface KeyLike {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

const CHORD_WITHIN = 1_000;
export const SINGLE_KEYS_OFF = "playground-single-keys-off";

export function nameOf(event: KeyLike): string {
  const key = event.key === " " ? "space" : event.key;
  const modifiers = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}`;
  return modifiers === "" ? key : modifiers + key.toLowerCase();
}

export class KeyRegistry {
  private readonly layers: Binding[][] = [];
  private readonly watchers = new Set<() => void>();
  private list: readonly Binding[] = [];
  private pending: { key: string; at: number } | null = null;
  singleKeys = true;

  register(bindings: Binding[]): () => void {
    this.layers.push(bindings);
    this.changed();
    return () => {
      const index = this.layers.indexOf(bindings);
      if (index >= 0) this.layers.splice(index, 1);
      this.changed();
    };
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };

  /** What is in force, first registered first; a key bound twice is listed once, as its last meaning. */
  readonly getBindings = (): readonly Binding[] => this.list;

  setSingleKeys(on: boolean): void {
    this.singleKeys = on;
    this.changed();
  }

  /** Finds what a key press means; `typing` says that a text field or a dialog has it. */
  resolve(event: KeyLike, typing: boolean, now: number): Binding | null {
    const name = nameOf(event);
    const before = this.pending;
    this.pending = null;
    const single = !name.includes("+") && name.length === 1;
    const usable = (binding: Binding) => binding.everywhere === true || (!typing && (this.singleKeys || !single));
    if (before !== null && now - before.at <= CHORD_WITHIN) {
      const chord = this.find(`${before.key} ${name}`, usable);
      if (chord !== null) return chord;
    }
    const found = this.find(name, usable);
    if (found !== null) return found;
    if (!typing && this.singleKeys && this.list.some((binding) => binding.keys.startsWith(`${name} `))) {
      this.pending = { key: name, at: now };
    }
    return null;
  }

  private find(keys: string, usable: (binding: Binding) => boolean): Binding | null {
    return this.inOrder().findLast((binding) => binding.keys === keys && usable(binding)) ?? null;
  }

  /** What goes before others comes last. */
  private inOrder(): Binding[] {
    const all = this.layers.flat();
    return [...all.filter((binding) => binding.floats !== true), ...all.filter((binding) => binding.floats === true)];
  }

  private changed(): void {
    const byKey = new Map<string, Binding>();
    for (const binding of this.inOrder()) byKey.set(binding.keys, binding);
    this.list = [...byKey.values()];
    for (const watcher of this.watchers) watcher();
  }
}

export const keyboard = new KeyRegistry();
