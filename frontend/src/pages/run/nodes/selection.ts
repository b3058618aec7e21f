/** What a selected pod says of every node: feasible with rank and total, chosen, or the first reason against it. */
import type { Selection } from "@/api/types";

import { t } from "../texts";

export interface NodeVerdict {
  kind: "chosen" | "feasible" | "refused" | "unseen";
  reason?: string;
  plugin?: string;
  rank?: number | null;
  total?: number | null;
}

/** Nodes that were not looked at (percentageOfNodesToScore) carry this in `verdict`. */
const UNSEEN = -2;
const FEASIBLE = -1;

export function verdictOf(selection: Selection, row: number): NodeVerdict {
  const verdict = selection.verdict[row] ?? UNSEEN;
  const scored = { rank: selection.rank[row] ?? null, total: selection.total[row] ?? null };
  if (selection.chosen === row) return { kind: "chosen", ...scored };
  if (verdict === FEASIBLE) return { kind: "feasible", ...scored };
  const reason = selection.reasons[verdict];
  if (verdict < 0 || reason === undefined) return { kind: "unseen", reason: t("notChecked") };
  return { kind: "refused", reason: reason.text, plugin: reason.plugin };
}

export interface ReasonCount {
  text: string;
  plugin: string;
  nodes: number[];
}

export function reasonCounts(selection: Selection): {
  feasible: number;
  scored: number;
  unseen: number;
  reasons: ReasonCount[];
} {
  const reasons = selection.reasons.map((reason) => ({ ...reason, nodes: [] as number[] }));
  let feasible = 0;
  let scored = 0;
  let unseen = 0;
  selection.verdict.forEach((verdict, row) => {
    if (verdict === FEASIBLE) {
      feasible += 1;
      if (selection.total[row] !== null && selection.total[row] !== undefined) scored += 1;
    } else if (reasons[verdict] !== undefined) reasons[verdict].nodes.push(row);
    else unseen += 1;
  });
  return {
    feasible,
    scored,
    unseen,
    reasons: reasons.filter((one) => one.nodes.length > 0).sort((a, b) => b.nodes.length - a.nodes.length),
  };
}

/** The row with rank 2, to say how far ahead the chosen node was. */
export function runnerUp(selection: Selection): number | null {
  let best: number | null = null;
  selection.total.forEach((total, row) => {
    if (total === null || row === selection.chosen || selection.verdict[row] !== FEASIBLE) return;
    if (best === null || total > (selection.total[best] ?? -Infinity)) best = row;
  });
  return best;
}

/** kube-scheduler's reasons are long; on a tile only their core has room. The whole reason is in the tile's name and title. */
const SHORT: readonly [RegExp, (...groups: string[]) => string][] = [
  [/^node\(s\) had untolerated taint(?:\(s\))? \{([^:}]+).*$/, (key = "") => t("short.taintOf", { key })],
  [/^node\(s\) had untolerated taint.*$/, () => t("short.taint")],
  [/^node\(s\) were unschedulable$/, () => t("cordoned")],
  [/^node\(s\) didn't match Pod's node affinity\/selector$/, () => t("short.affinity")],
  [/^node\(s\) didn't match pod topology spread constraints.*$/, () => t("short.spread")],
  [/^node\(s\) didn't (?:match|satisfy) (?:existing )?pods? (?:anti-)?affinity.*$/, () => t("short.podAffinity")],
  [/^node\(s\) didn't have free ports.*$/, () => t("short.portInUse")],
  [/^node\(s\) didn't match the requested node name$/, () => t("short.otherNodeNamed")],
  [/^node\(s\) (.*)$/, (rest = "") => rest],
];

const COMMON: ReadonlySet<string> = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);

export function shortReason(text: string): string {
  for (const [pattern, words] of SHORT) {
    const found = pattern.exec(text);
    if (found !== null) return words(...found.slice(1));
  }
  if (!text.startsWith("Insufficient ")) return text;
  // The rarest resource tells most: a node without a GPU is hopeless, one without free cpu may get some.
  const missing = text.split(", ").map((part) => part.replace(/^Insufficient /, "").replace(/^.*\/gpu$/, "GPU"));
  const resource = missing.find((name) => !COMMON.has(name)) ?? missing[0] ?? "";
  return missing.length > 1
    ? t("short.noAndMore", { resource, more: missing.length - 1 })
    : t("short.no", { resource });
}
