/** What the page says about plugins, drafts, errors and versions. */
import type {
  EffectiveChange,
  Comparison,
  EffectiveProfile,
  Meanwhile,
  PluginCell,
  PluginRow,
  Problem,
} from "@/api/configurationTypes";
import { both, clauses, listed } from "@/format/lists";
import { day } from "@/format/time";

import { SCORE, written } from "./points";
import { t } from "./texts";

/** "Coscheduling at Permit: added by this profile" */
export function cellTitle(row: PluginRow, point: string, cell: PluginCell | undefined, saved?: PluginCell): string {
  const where = t("pluginAtPoint", { plugin: row.plugin, point });
  if (cell === undefined) return t("offPressToAddIt", { where });
  if (cell.state === "disabled") {
    return t("whereByInDisabledin", {
      where,
      by: disabledWord(cell.origin),
      disabledin: cell.disabled_in ?? written(point),
    });
  }
  const parts = [cell.state === "added" ? t("addedByThisProfile") : t("onByDefault")];
  if (cell.moved) parts.push(t("moved"));
  if (cell.weight !== null) {
    parts.unshift(t("weightWeight", { weight: cell.weight }));
    if (cell.default_weight !== null && cell.default_weight !== cell.weight)
      parts.push(t("defaultWeight", { defaultweight: cell.default_weight }));
    if (typeof saved?.weight === "number" && saved.weight !== cell.weight)
      parts.push(t("savedWeight", { weight: saved.weight }));
  }
  return t("whereParts", { where, parts: clauses(parts) });
}

/** How a plugin was switched off, in the words of the list that did it. */
export function disabledWord(origin: PluginCell["origin"]): string {
  return origin === "disabled by *" ? t("disabledBy") : t("disabledByName");
}

/** What a screen reader hears in a cell, whose row and column are headers. */
export function cellWord(cell: PluginCell | undefined): string {
  if (cell === undefined) return t("off");
  const state = t(`cell.${cell.state}`);
  return cell.weight === null || cell.state === "disabled"
    ? state
    : t("stateWeightWeight", { state, weight: cell.weight });
}

export function changesCount(changes: readonly EffectiveChange[], profile?: string): number {
  return changes
    .filter((change) => profile === undefined || change.profile === profile)
    .reduce((sum, change) => sum + change.what.length, 0);
}

/** "Draft, 4 changes" */
export function draftLabel(comparison: Comparison | null | undefined, readable: boolean): string {
  if (comparison === null || comparison === undefined) return t("draft");
  if (!readable) return t("draftCannotBeRead");
  const count = changesCount(comparison.changes);
  return count === 0 ? t("draftNoChangeInEffect") : t("draftChanges", { count });
}

/** "22 plugins, 4 changes" */
export function profileNote(profile: EffectiveProfile, changes: readonly EffectiveChange[]): string {
  const count = changesCount(changes, profile.scheduler_name);
  const plugins = t("nPlugins", { count: profile.plugins_count });
  return count === 0 ? plugins : t("pluginsCountChanges", { count, plugins });
}

/** Beside the field the value is plain to see; the whole sentence is in the title. */
export function shortMessage(problem: Pick<Problem, "message">): string {
  return problem.message.replace(/^Invalid value: (?:"(?:[^"\\]|\\.)*"|[^\s:]+): (?=\S)/, "");
}

/** "1 error on line 30 keeps Save off, switching to Form is fine" */
export function yamlNote(errors: readonly Problem[], readable: boolean): string {
  const first = errors[0];
  if (first === undefined) return "";
  const count = errors.length;
  const line = errors.find((error) => error.line !== null)?.line ?? null;
  if (!readable) return line === null ? t("textCannotBeRead") : t("lineCannotBeRead", { line });
  if (line === null) return t("errorsKeepSaveOff", { count });
  return count === 1 ? t("errorOnLineKeepsSaveOff", { line }) : t("errorsFromLineKeepSaveOff", { count, line });
}

export function who(author: string, me: string | undefined): string {
  if (author === "") return t("builtInAuthor");
  return author === me ? t("you") : author;
}

/** "you, today 09:57 · 3 runs" */
export function versionNote(
  version: { author: string; created_at: string; runs: number },
  me: string | undefined,
  now: number,
): string {
  const made = clauses([who(version.author, me), day(version.created_at, now)]);
  return version.runs === 0 ? made : [made, t("runsOfVersion", { count: version.runs })].join(" · ");
}

/** Which plugins theirs is about: "Coscheduling and NodeResourcesFit" */
export function subjects(changes: readonly EffectiveChange[]): string {
  const names = [...new Set(changes.map((change) => change.plugin ?? change.profile ?? t("subjectAllProfiles")))];
  if (names.length === 0) return t("noEffectiveValue");
  if (names.length > 3) return t("andMore", { slice: listed(names.slice(0, 2)), names: names.length - 2 });
  return both(names);
}

export function meanwhileSentence(meanwhile: Meanwhile): string {
  const about = t("itChanges", { subjects: subjects(meanwhile.changes) });
  if (meanwhile.overlaps) return t("onLinesThatYouChanged", { about });
  return meanwhile.merged === null ? t("noneOfYourLinesBut", { about }) : t("noneOfYourLinesBoth", { about });
}

/** A weight of the saved version, to say what was there before. */
export function savedWeight(saved: EffectiveProfile | undefined, plugin: string): number | null {
  return saved?.rows.find((row) => row.plugin === plugin)?.cells[SCORE]?.weight ?? null;
}

/** "team.yaml" → "team"; a name that is taken gets a number. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  if (!used.has(wanted.toLowerCase())) return wanted;
  let number = 2;
  while (used.has(`${wanted} ${number}`.toLowerCase())) number += 1;
  return `${wanted} ${number}`;
}
