/**
 * One draft of a configuration: its text, what the server says of it, and what is under way.
 *
 * The text is the only truth. Forms send edits, which the server applies to the text (comments and unknown fields survive);
 * the YAML editor replaces the text. Both are checked after 150 ms of quiet. An answer to a question that was overtaken is
 * dropped; edits go one after the other, since each is made for the text that the one before left behind.
 */
import { ApiError } from "@/api/client";
import type { CheckRequest, CheckResult, Edit } from "@/api/configurationTypes";

export const QUIET = 150;
const UNDO_STEPS = 100;

export interface DraftState {
  text: string;
  /** The version that the draft began with. */
  base: number;
  /** What the server said of `checked`; of an older text while `busy`. */
  result: CheckResult | null;
  /** The newest answer to a text that could be read: what the form shows while it cannot. */
  readable: CheckResult | null;
  /** Edits or a changed text that the server has not answered yet. */
  busy: boolean;
  /** The last question failed; the text is kept. */
  failure: Error | null;
  canUndo: boolean;
}

export interface StoredDraft {
  text: string;
  base: number;
}

export interface DraftOptions {
  configuration: string;
  base: number;
  savedText: string;
  stored: StoredDraft | null;
  check: (body: CheckRequest, signal: AbortSignal) => Promise<CheckResult>;
  /** Called with every new text; null when the draft equals what is saved. */
  keep: (draft: StoredDraft | null) => void;
}

/** Two edits of the same place: only the last one counts. */
export function sameTarget(one: Edit, other: Edit): boolean {
  return targetOf(one) !== null && targetOf(one) === targetOf(other);
}

function targetOf(edit: Edit): string | null {
  switch (edit.type) {
    case "setField":
      return JSON.stringify([edit.type, edit.path]);
    case "setArgs":
      return JSON.stringify([edit.type, edit.profile, edit.plugin, edit.path ?? []]);
    case "setWeight":
      return JSON.stringify([edit.type, edit.profile, edit.point, edit.name]);
    default:
      return null;
  }
}

/** The server understood and said no; asking again would change nothing. */
function refused(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

export class DraftStore {
  private state: DraftState;
  private savedText: string;
  private readonly configuration: string;
  private readonly check: DraftOptions["check"];
  private readonly keep: DraftOptions["keep"];
  private readonly watchers = new Set<() => void>();
  private pending: Edit[] = [];
  private history: string[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked: AbortController | null = null;
  /** Grows with every text that did not come from the answer to an edit. */
  private generation = 0;
  private idle: (() => void)[] = [];

  constructor({ configuration, base, savedText, stored, check, keep }: DraftOptions) {
    this.configuration = configuration;
    this.savedText = savedText;
    this.check = check;
    this.keep = keep;
    this.state = {
      text: stored?.text ?? savedText,
      base: stored?.base ?? base,
      result: null,
      readable: null,
      busy: false,
      failure: null,
      canUndo: false,
    };
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };

  readonly get = (): DraftState => this.state;

  get dirty(): boolean {
    return this.state.text !== this.savedText;
  }

  /** Asks about the text as it is: at the start, and after a failure. */
  start(): void {
    this.schedule(0);
  }

  edit(...edits: Edit[]): void {
    for (const edit of edits) {
      const last = this.pending.at(-1);
      if (last !== undefined && sameTarget(last, edit)) this.pending.pop();
      this.pending.push(edit);
    }
    this.schedule();
  }

  /** A text typed or brought in; edits that were not answered yet are of the old text and end here. */
  setText(text: string, { undoable = false }: { undoable?: boolean } = {}): void {
    if (text === this.state.text && this.pending.length === 0) return;
    if (undoable) this.remember();
    this.pending = [];
    this.generation += 1;
    this.update({ text });
    this.store();
    this.schedule();
  }

  undo(): void {
    const before = this.history.pop();
    if (before === undefined) return;
    this.setText(before);
    this.update({ canUndo: this.history.length > 0 });
  }

  /** Back to what is saved. */
  discard(): void {
    this.setText(this.savedText, { undoable: true });
  }

  /** The draft goes on from another version: theirs is known and taken into account. */
  rebase(base: number, savedText: string, text: string): void {
    this.savedText = savedText;
    this.update({ base });
    this.setText(text, { undoable: true });
    this.store();
    this.schedule(0);
  }

  /** After a save: this text is the version `base` now. */
  saved(base: number, text: string): void {
    this.savedText = text;
    this.update({ base });
    this.store();
    this.schedule(0);
  }

  /** Once every edit is in the text. */
  settled(): Promise<void> {
    if (!this.state.busy || this.state.failure !== null) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.asked?.abort();
    this.asked = null;
  }

  private remember(): void {
    this.history = [...this.history.slice(1 - UNDO_STEPS), this.state.text];
    this.update({ canUndo: true });
  }

  private store(): void {
    this.keep(this.dirty ? { text: this.state.text, base: this.state.base } : null);
  }

  private schedule(delay = QUIET): void {
    this.update({ busy: true, failure: null });
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.ask();
    }, delay);
  }

  private async ask(): Promise<void> {
    if (this.asked !== null) {
      // Edits that are on their way change the text these would be made for; a mere question can be given up.
      if (this.asking.length > 0 && this.asking.generation === this.generation) return;
      this.asked.abort();
    }
    const edits = this.pending;
    const generation = this.generation;
    const controller = new AbortController();
    this.pending = [];
    this.asked = controller;
    this.asking = { length: edits.length, generation };
    try {
      const result = await this.check(
        { text: this.state.text, edits, configuration: this.configuration, base_version: this.state.base },
        controller.signal,
      );
      if (this.asked !== controller) return;
      this.asked = null;
      if (generation !== this.generation) return;
      if (result.text !== this.state.text) {
        this.remember();
        this.update({ text: result.text });
        this.store();
      }
      this.update(result.effective === null ? { result } : { result, readable: result });
    } catch (error) {
      if (this.asked !== controller) return;
      this.asked = null;
      if (generation !== this.generation) return;
      this.update({ failure: error instanceof Error ? error : new Error(String(error)) });
      if (!refused(error)) {
        // Nobody answered: the edits wait for the next try.
        this.pending = [...edits, ...this.pending];
        this.rest();
        return;
      }
    }
    if (this.pending.length > 0) this.schedule(0);
    else if (this.timer === null) this.rest();
  }

  private asking = { length: 0, generation: 0 };

  private rest(): void {
    this.update({ busy: this.pending.length > 0 });
    for (const resolve of this.idle.splice(0)) resolve();
  }

  private update(change: Partial<DraftState>): void {
    this.state = { ...this.state, ...change };
    for (const watcher of this.watchers) watcher();
  }
}
