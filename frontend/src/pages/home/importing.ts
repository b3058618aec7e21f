/** What the import panel shows of the server's counts: every kind once, workloads together, in the order people look for them. */
import type { SnapshotCounts } from "@/api/types";
import { both, listed } from "@/format/lists";
import { count } from "@/format/number";
import { language } from "@/languages/language";

import { t } from "./texts";

export interface KindTile {
  name: string;
  count: number;
  detail?: string;
  used: boolean;
}

const ORDER = ["Node", "Pod", "Namespace", "PriorityClass", "PodDisruptionBudget", "Service"];
const WORKLOADS: readonly [string, string][] = [
  ["Deployment", "Deploy"],
  ["ReplicaSet", "RS"],
  ["StatefulSet", "STS"],
  ["DaemonSet", "DS"],
  ["ReplicationController", "RC"],
  ["Job", "Jobs"],
  ["CronJob", "CronJobs"],
];

/** Kinds are named in English everywhere, but only English puts an English ending to them. */
export function plural(kind: string, value: number): string {
  if (value === 1 || language() !== "en") return kind;
  if (/(s|x|ch|sh)$/.test(kind)) return `${kind}es`;
  return /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

export function kindTiles(counts: SnapshotCounts): KindTile[] {
  // `kinds` counts all that is kept; what no decision reads is taken out here and listed last.
  const used = (kind: string, value: number) => value - (counts.unused_kinds[kind] ?? 0);
  const rest = new Map(
    Object.entries(counts.kinds)
      .map(([kind, value]) => [kind, used(kind, value)] as const)
      .filter(([, value]) => value > 0),
  );
  const take = (kind: string): number => {
    const value = rest.get(kind) ?? 0;
    rest.delete(kind);
    return value;
  };
  const tiles: KindTile[] = [];
  for (const kind of ORDER) {
    const taken = take(kind);
    const value =
      kind === "Node" ? counts.nodes : kind === "Pod" ? counts.pods : kind === "Namespace" ? counts.namespaces : taken;
    if (value === 0 && kind !== "Node" && kind !== "Pod") continue;
    const parts = [
      counts.pending > 0 ? t("pendingPending", { pending: counts.pending }) : "",
      counts.gated > 0 ? t("gatedGated", { gated: counts.gated }) : "",
    ].filter(Boolean);
    tiles.push({
      name: plural(kind, value),
      count: value,
      used: true,
      ...(kind === "Pod" && parts.length > 0 ? { detail: listed(parts) } : {}),
    });
  }
  const workloads = WORKLOADS.flatMap(([kind, short]) => {
    const value = take(kind);
    return value === 0 ? [] : [{ value, text: `${count(value)} ${short}` }];
  });
  if (workloads.length > 0) {
    tiles.push({
      name: t("workloads"),
      count: workloads.reduce((sum, one) => sum + one.value, 0),
      used: true,
      detail: listed(workloads.map((one) => one.text)),
    });
  }
  const largestFirst = (kinds: Iterable<[string, number]>) =>
    [...kinds].filter(([, value]) => value > 0).sort(([, a], [, b]) => b - a);
  for (const [kind, value] of largestFirst(rest)) tiles.push({ name: plural(kind, value), count: value, used: true });
  for (const [kind, value] of largestFirst(Object.entries(counts.unused_kinds))) {
    tiles.push({ name: plural(kind, value), count: value, used: false, detail: t("keptNotUsed") });
  }
  if (counts.events !== undefined && counts.events.kept > 0) {
    tiles.push({
      name: t("schedulerEvents"),
      count: counts.events.kept,
      used: true,
      detail: t("ofPods", { pods: counts.events.pods }),
    });
  }
  if (counts.events !== undefined && counts.events.others > 0) {
    tiles.push({ name: t("otherEvents"), count: counts.events.others, used: false, detail: t("dropped") });
  }
  for (const [kind, value] of largestFirst(Object.entries(counts.dropped_kinds))) {
    tiles.push({ name: plural(kind, value), count: value, used: false, detail: t("dropped") });
  }
  return tiles;
}

/** A text area lays out all of its text again with every key: a larger paste is taken as a file. */
export const LARGEST_PASTE = 64 * 1024;

/** What a paste brings, when it is too large to be edited as text. */
export function pastedFile(text: string, name: string): File | null {
  return text.length > LARGEST_PASTE ? new File([text], name, { type: "text/plain" }) : null;
}

/** "shop and staging", "monitoring, ml and 3 more" */
export function listedFew(names: readonly string[], longest = 3): string {
  const shown = names.slice(0, longest);
  const more = names.length - shown.length;
  return more > 0 ? t("andMore", { shown: listed(shown), more }) : both(shown);
}
