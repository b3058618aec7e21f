/**
 * The editor of one configuration as one person works in it: the draft, what of it is in view, where problems lead to, and
 * which dialog is open. What is selected stands in the address, which is handed in. Plain TypeScript; views show `get()`.
 */
import type { Effective, EffectiveProfile, Examination, Problem, VersionDetail } from "@/api/configurationTypes";

import { type DraftOptions, type DraftState, DraftStore, type StoredDraft } from "./draftStore";

export type View = "form" | "yaml";

/** What the address says. */
export interface EditorAddress {
  view?: View | undefined;
  profile?: string | undefined;
  plugin?: string | undefined;
  point?: string | undefined;
}

export interface EditorOutlet {
  address: () => EditorAddress;
  /** Changes the address; what is on screen stays where it is scrolled to, unless it is another view. */
  go: (change: EditorAddress, view?: View) => void;
  leave: () => void;
  focusField: (id: string) => void;
}

export interface EditorOptions extends Pick<DraftOptions, "configuration" | "stored" | "check"> {
  version: VersionDetail;
  /** Answers whether this browser keeps drafts. */
  keep: (draft: StoredDraft | null) => boolean;
  outlet: EditorOutlet;
}

export interface EditorState {
  draft: DraftState;
  /** This browser keeps no drafts: a reload would lose it. */
  unkept: boolean;
  saving: boolean;
  /** The version that a run is about to be started with. */
  running: { version: string; number: number } | null;
  /** Where the text is wanted; a new object with every wish. */
  line: { line: number } | null;
}

/** What of the configuration is in view. */
export interface Sight {
  view: View;
  /** Of the text as it is; null while nothing is known of it. */
  examination: Examination | null;
  /** Of the newest text that could be read. */
  effective: Effective | null;
  /** Index of the profile. */
  profile: number;
  shown: EffectiveProfile | undefined;
}

export function sightOf(draft: DraftState, version: VersionDetail, address: EditorAddress): Sight {
  const examination = draft.result ?? (draft.text === version.text ? version : null);
  const effective = examination?.effective ?? draft.readable?.effective ?? version.effective;
  const named = effective?.profiles.findIndex((one) => one.scheduler_name === address.profile) ?? 0;
  const profile = Math.max(0, named);
  return {
    view: address.view === "yaml" || (examination !== null && examination.effective === null) ? "yaml" : "form",
    examination,
    effective,
    profile,
    shown: effective?.profiles[profile],
  };
}

export class EditorStore {
  readonly draft: DraftStore;
  readonly version: VersionDetail;
  private readonly outlet: EditorOutlet;
  private readonly watchers = new Set<() => void>();
  private state: EditorState;

  constructor({ configuration, version, stored, check, keep, outlet }: EditorOptions) {
    this.version = version;
    this.outlet = outlet;
    this.draft = new DraftStore({
      configuration,
      base: version.number,
      savedText: version.text,
      stored,
      check,
      keep: (draft) => this.update({ unkept: !keep(draft) }),
    });
    this.state = { draft: this.draft.get(), unkept: false, saving: false, running: null, line: null };
    this.draft.watch(() => this.update({ draft: this.draft.get() }));
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };
  readonly get = (): EditorState => this.state;

  get sight(): Sight {
    return sightOf(this.draft.get(), this.version, this.outlet.address());
  }

  /** Once every edit is in the text: the other view shows them all. */
  async show(view: View): Promise<void> {
    await this.draft.settled();
    this.outlet.go({ view: view === "yaml" ? view : undefined }, view);
  }

  toggleView(): void {
    void this.show(this.sight.view === "yaml" ? "form" : "yaml");
  }

  select(plugin: string | undefined): void {
    this.outlet.go({ plugin, point: undefined });
  }

  selectPoint(point: string | undefined): void {
    this.outlet.go({ point, plugin: undefined });
  }

  showProfile(name: string): void {
    this.outlet.go({ profile: name === "" ? undefined : name });
  }

  /** Selects the next or the previous plugin; from nothing the first or the last. */
  step(by: 1 | -1): void {
    const names = this.sight.shown?.rows.map((row) => row.plugin) ?? [];
    const { plugin } = this.outlet.address();
    const at = plugin === undefined ? (by > 0 ? -1 : names.length) : names.indexOf(plugin);
    const next = names[at + by];
    if (next !== undefined) this.select(next);
  }

  /** Closes what is selected, or else the editor. */
  close(): void {
    const { plugin, point } = this.outlet.address();
    if (plugin !== undefined || point !== undefined) this.select(undefined);
    else this.outlet.leave();
  }

  /** Leads to where a problem is: the plugin's field in the form, or the line of the text. */
  goTo(problem: Problem): void {
    const { effective, view } = this.sight;
    const profile = effective?.profiles[problem.profile ?? 0];
    if (view === "form" && profile?.rows.some((row) => row.plugin === problem.plugin) === true) {
      this.outlet.go({ plugin: problem.plugin ?? undefined, point: undefined, profile: profile.scheduler_name });
      this.outlet.focusField(["arg", ...problem.field].join("_"));
      return;
    }
    this.update({ line: { line: problem.line ?? 1 } });
    void this.show("yaml");
  }

  /** In the form the list of the errors, or the only one; in the text each in its turn. */
  goToErrors(): void {
    const { examination, view } = this.sight;
    const errors = examination?.errors ?? [];
    const [first] = errors;
    if (first === undefined) return;
    if (view === "form") {
      if (errors.length > 1) this.select(undefined);
      else this.goTo(first);
      return;
    }
    const from = this.state.line?.line ?? 0;
    this.goTo(errors.find((error) => (error.line ?? 0) > from) ?? first);
  }

  get isSavable(): boolean {
    return this.draft.dirty && this.draft.get().failure === null && this.sight.examination?.errors.length === 0;
  }

  setSaving(saving: boolean): void {
    this.update({ saving });
  }

  setRunning(running: EditorState["running"]): void {
    this.update({ running });
  }

  private update(change: Partial<EditorState>): void {
    this.state = { ...this.state, ...change };
    for (const watcher of this.watchers) watcher();
  }
}
