/** What every part of the editor needs: the draft, the profile it shows, and how to change both. */
import { createContext, useContext } from "react";

import type {
  EffectiveChange,
  Edit,
  Effective,
  EffectiveProfile,
  Examination,
  PluginDescription,
  Problem,
  VersionDetail,
} from "@/api/configurationTypes";

import type { DraftState, DraftStore } from "./draftStore";

export interface Editing {
  store: DraftStore;
  state: DraftState;
  examination: Examination;
  /** Of the newest text that could be read. */
  effective: Effective;
  /** Index of the profile in view. */
  profile: number;
  shown: EffectiveProfile;
  /** The same profile of the version that the draft began with. */
  savedProfile: EffectiveProfile | undefined;
  saved: VersionDetail | undefined;
  changes: readonly EffectiveChange[];
  plugins: ReadonlyMap<string, PluginDescription>;
  readOnly: boolean;
  selected: { plugin: string | undefined; point: string | undefined };
  select: (plugin: string | undefined) => void;
  selectPoint: (point: string | undefined) => void;
  showProfile: (name: string) => void;
  edit: (...edits: Edit[]) => void;
  goTo: (problem: Problem) => void;
}

export const EditingContext = createContext<Editing | null>(null);

export function useEditing(): Editing {
  const editing = useContext(EditingContext);
  if (editing === null) throw new Error("This part stands outside an editor.");
  return editing;
}
