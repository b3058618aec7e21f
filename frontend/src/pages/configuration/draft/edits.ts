/** What a click in the form means as edits of the text. Pure, so that every case is tested without a page. */
import type {
  Edit,
  EffectiveProfile,
  FeatureGate,
  PathPart,
  PluginCell,
  PluginDescription,
  PluginRow,
} from "@/api/configurationTypes";

import { MULTI_POINT, QUEUE_SORT, written } from "../points";

/** Switches a plugin at one point: off where it runs, on where it does not. */
export function toggleEdits(
  profile: number,
  effective: EffectiveProfile,
  name: string,
  point: string,
  cell: PluginCell | undefined,
): Edit[] {
  if (cell !== undefined && cell.state !== "disabled")
    return [{ type: "disablePlugin", profile, point: written(point), name }];
  const enable: Edit = { type: "enablePlugin", profile, point: written(point), name };
  return point === QUEUE_SORT ? [...othersOff(profile, effective, name), enable] : [enable];
}

/** Adds a plugin wherever it can run. There is one QueueSort: what sorted until now steps back. */
export function addEdits(profile: number, effective: EffectiveProfile, plugin: PluginDescription): Edit[] {
  const enable: Edit = { type: "enablePlugin", profile, point: MULTI_POINT, name: plugin.name };
  return plugin.points.includes(QUEUE_SORT) ? [...othersOff(profile, effective, plugin.name), enable] : [enable];
}

/** Takes a plugin out of the profile altogether. */
export function removeEdits(profile: number, row: PluginRow): Edit[] {
  const running = Object.entries(row.cells)
    .filter(([, cell]) => cell.state !== "disabled")
    .map(([point]) => point);
  const off: Edit[] = [{ type: "disablePlugin", profile, point: MULTI_POINT, name: row.plugin }];
  // What a single point lists by itself is listed there and not in MultiPoint.
  for (const point of running) off.push({ type: "disablePlugin", profile, point: written(point), name: row.plugin });
  return row.origin === "added" ? [...off, { type: "removeArgs", profile, plugin: row.plugin, path: [] }] : off;
}

function othersOff(profile: number, effective: EffectiveProfile, name: string): Edit[] {
  return (effective.points[QUEUE_SORT] ?? [])
    .filter((plugin) => plugin.name !== name && plugin.state !== "disabled")
    .map((plugin): Edit => ({ type: "disablePlugin", profile, point: written(QUEUE_SORT), name: plugin.name }));
}

/**
 * Switches a feature gate, with what has to go with it: on, what it depends on; off, what depends on it. A gate that gets
 * its default back is not named any more.
 */
export function gateEdits(gates: readonly FeatureGate[], name: string, on: boolean): Edit[] {
  const found = new Map<string, boolean>();
  const visit = (gate: FeatureGate) => {
    if (found.has(gate.name) || (gate.name !== name && gate.enabled === on)) return;
    found.set(gate.name, gate.default === on);
    for (const other of gates) {
      if (on ? gate.depends_on.includes(other.name) : other.depends_on.includes(gate.name)) visit(other);
    }
  };
  for (const gate of gates) if (gate.name === name) visit(gate);
  return [...found].map(([gate, isDefault]): Edit => ({
    type: "setFeatureGate",
    name: gate,
    enabled: isDefault ? null : on,
  }));
}

// Arguments -----------------------------------------------------------------------------------------------------------

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without what says nothing: undefined and null, as a file leaves it out. */
export function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pruned(item) ?? null);
  if (!isObject(value)) return value ?? undefined;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, pruned(item)] as const)
      .filter(([, item]) => item !== undefined),
  );
}

function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => equal(item, other[index]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && equal(one[key], other[key]));
}

/**
 * The edits that make the arguments `now` out of `before`, each as deep as it can be, so that the lines beside stay as they
 * are written. A list is edited item by item only where the text has that very list; a default one is written out first.
 * So is an object that the text does not have: kube-scheduler fills in what it lacks as a whole, and not within it.
 */
export function argEdits(profile: number, plugin: string, before: unknown, now: unknown, text: unknown): Edit[] {
  const edits: Edit[] = [];
  const walk = (old: unknown, wanted: unknown, inText: unknown, path: PathPart[]): void => {
    if (equal(old, wanted)) return;
    if (isObject(old) && isObject(wanted) && (path.length === 0 || isObject(inText))) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
        walk(old[key], wanted[key], isObject(inText) ? inText[key] : undefined, [...path, key]);
      }
      return;
    }
    if (
      Array.isArray(old) &&
      Array.isArray(wanted) &&
      old.length === wanted.length &&
      Array.isArray(inText) &&
      inText.length === old.length
    ) {
      wanted.forEach((item, index) => walk(old[index], item, inText[index], [...path, index]));
      return;
    }
    if (wanted === undefined) edits.push({ type: "removeArgs", profile, plugin, path });
    else edits.push({ type: "setArgs", profile, plugin, path, value: wanted });
  };
  walk(pruned(before) ?? {}, pruned(now) ?? {}, text, []);
  return edits;
}
