/** What the page says about plugins, drafts, errors and versions. */
import type { Change, Comparison, EffectiveProfile, Meanwhile, PluginCell, PluginRow, Problem } from "@/api/configurationTypes";
import { counted } from "@/format/number";
import { day } from "@/format/time";

import { SCORE, written } from "./points";

/** "Coscheduling at Permit: added by this profile" */
export function cellTitle(row: PluginRow, point: string, cell: PluginCell | undefined, saved?: PluginCell): string {
  const where = `${row.plugin} at ${point}`;
  if (cell === undefined) return `${where}: off, press to add it`;
  if (cell.state === "disabled") {
    const by = cell.origin === "disabled by *" ? "disabled by *" : "disabled by name";
    return `${where}: ${by} in ${cell.disabled_in ?? written(point)}`;
  }
  const parts = [cell.state === "added" ? "added by this profile" : "on by default"];
  if (cell.moved) parts.push("moved");
  if (cell.weight !== null) {
    parts.unshift(`weight ${cell.weight}`);
    if (cell.default_weight !== null && cell.default_weight !== cell.weight) parts.push(`default weight ${cell.default_weight}`);
    if (typeof saved?.weight === "number" && saved.weight !== cell.weight) parts.push(`saved ${saved.weight}`);
  }
  return `${where}: ${parts.join(", ")}`;
}

/** What a screen reader hears in a cell, whose row and column are headers. */
export function cellWord(cell: PluginCell | undefined): string {
  if (cell === undefined) return "off";
  if (cell.state === "disabled") return "disabled";
  return cell.weight === null ? cell.state : `${cell.state}, weight ${cell.weight}`;
}

export function changesCount(changes: readonly Change[], profile?: string): number {
  return changes.filter((change) => profile === undefined || change.profile === profile).reduce((sum, change) => sum + change.what.length, 0);
}

/** "Draft, 4 changes" */
export function draftLabel(comparison: Comparison | null | undefined, readable: boolean): string {
  if (comparison === null || comparison === undefined) return "Draft";
  if (!readable) return "Draft, cannot be read";
  const count = changesCount(comparison.changes);
  return count === 0 ? "Draft, no change in effect" : `Draft, ${counted(count, "change")}`;
}

/** "22 plugins, 4 changes" */
export function profileNote(profile: EffectiveProfile, changes: readonly Change[]): string {
  const count = changesCount(changes, profile.scheduler_name);
  const plugins = counted(profile.plugins_count, "plugin");
  return count === 0 ? plugins : `${plugins}, ${counted(count, "change")}`;
}

/** Beside the field the value is plain to see; the whole sentence is in the title. */
export function shortMessage(problem: Pick<Problem, "message">): string {
  return problem.message.replace(/^Invalid value: (?:"(?:[^"\\]|\\.)*"|[^\s:]+): (?=\S)/, "");
}

/** "1 error on line 30 keeps Save off, switching to Form is fine" */
export function yamlNote(errors: readonly Problem[], readable: boolean): string {
  const first = errors[0];
  if (first === undefined) return "";
  const line = errors.find((error) => error.line !== null)?.line;
  const where = line === undefined || line === null ? "" : errors.length === 1 ? ` on line ${line}` : `, the first on line ${line},`;
  const verb = errors.length === 1 ? "keeps" : "keep";
  return readable
    ? `${counted(errors.length, "error")}${where} ${verb} Save off, switching to Form is fine`
    : `${line === undefined || line === null ? "The text" : `Line ${line}`} cannot be read, which keeps Form and Save off`;
}

export function who(author: string, me: string | undefined): string {
  if (author === "") return "built in";
  return author === me ? "you" : author;
}

/** "you, today 09:57 · 3 runs" */
export function versionNote(version: { author: string; created_at: string; runs: number }, me: string | undefined, now: number): string {
  return `${who(version.author, me)}, ${day(version.created_at, now)}${version.runs === 0 ? "" : ` · ${counted(version.runs, "run")}`}`;
}

/** Which plugins theirs is about: "Coscheduling and NodeResourcesFit" */
export function subjects(changes: readonly Change[]): string {
  const names = [...new Set(changes.map((change) => change.plugin ?? change.profile ?? "all profiles"))];
  if (names.length === 0) return "no effective value";
  if (names.length > 3) return `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;
  return names.length === 1 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

export function meanwhileSentence(meanwhile: Meanwhile): string {
  const about = `It changes ${subjects(meanwhile.changes)}`;
  if (meanwhile.overlaps) return `${about}, on lines that you changed too.`;
  return meanwhile.merged === null ? `${about}, none of your lines, but both together have errors.` : `${about}, none of your lines; both can be kept.`;
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
