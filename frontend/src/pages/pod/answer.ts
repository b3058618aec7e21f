/**
 * The answer in one sentence, worked out from the evidence of the attempt: why a node won, or what the nearest node lacks.
 * Each function answers null when the evidence does not carry a better sentence than the server's own.
 */
import type { FilterAnswer, FilterGroup, NodeAmount, Sampling, Scores } from "@/api/podTypes";
import { count, counted } from "@/format/number";
import { amount } from "@/format/resources";

import { resourceName, shortText } from "./amounts";

export interface Answer {
  headline: string;
  detail: string;
}

const NAMED = 3;

function list(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
}

/** "node-00 won with 700 points, equal with node-03 and node-09." */
export function wonAnswer(node: string, scores: Scores, sampling: Sampling): Answer | null {
  if (!scores.scored || scores.best === null || scores.chosen === null) return null;
  const others = scores.rows.filter((row) => row.rank === 1 && row.node !== node).map((row) => row.node);
  const equal = scores.tie.count - 1;
  const named = list([...others.slice(0, NAMED), ...(equal > NAMED ? [`${count(equal - NAMED)} more`] : [])]);
  const headline = `${node} won with ${count(scores.chosen.total)} points${equal > 0 && named !== "" ? `, equal with ${named}` : ""}.`;
  return { headline, detail: [tieSentence(scores), marginSentence(scores), seenSentence(sampling)].filter(Boolean).join(" ") };
}

function tieSentence(scores: Scores): string {
  if (scores.tie.count < 2) return "";
  const by = scores.tie.chosen_by;
  return `${by.charAt(0).toUpperCase()}${by.slice(1)} chose 1 of ${count(scores.tie.count)}.`;
}

function marginSentence(scores: Scores): string {
  const { runner_up: second, chosen } = scores;
  if (second === null || chosen === null) return "";
  const margin = chosen.total - second.total;
  const it = scores.tie.count > 1 ? "They beat" : "It beat";
  return `${it} ${second.node} by ${counted(margin, "point")}${fromWhat(scores, margin)}.`;
}

/** ", all from NodeResourcesFit" when one plugin alone made the difference, else which one gave most. */
function fromWhat(scores: Scores, margin: number): string {
  const { runner_up: second, chosen, decided_by: plugin } = scores;
  if (plugin === null || second === null || chosen === null) return "";
  const row = scores.rows.find((one) => one.node === second.node);
  const cell = scores.plugins.findIndex((one) => one.name === plugin);
  const gained = row === undefined || cell < 0 ? null : (chosen.cells[cell]?.points ?? 0) - (row.cells[cell]?.points ?? 0);
  return gained === margin ? `, all from ${plugin}` : `, most of it from ${plugin}`;
}

function seenSentence({ feasible, checked, of }: Sampling): string {
  const scored = feasible === 1 ? "" : ` and all ${count(feasible)} were scored`;
  const seen = checked < of ? `; ${count(of - checked)} were not looked at` : "";
  return `${count(feasible)} of ${counted(of, "node")} ${feasible === 1 ? "was" : "were"} feasible${scored}${seen}.`;
}

/** "No node has 8 free GPU. The nearest, ip-10-0-3-11, has 6." */
export function refusedAnswer(filter: FilterAnswer): Answer | null {
  const { groups } = filter;
  const first = groups[0];
  // With a feasible node it was not the filters that ended the attempt.
  if (first === undefined || filter.feasible > 0) return null;
  const total = groups.reduce((sum, group) => sum + group.count, 0) + filter.feasible + filter.not_checked;
  const detail = byPlugin(groups, total);
  const nearest = first.nodes[0];
  const missing = nearest === undefined ? [] : nearest.resources.filter((one) => one.short > 0);
  const only = missing[0];
  if (nearest === undefined || only === undefined || first.plugin !== "NodeResourcesFit") {
    const [one] = groups;
    if (groups.length !== 1 || one === undefined) return null;
    return { headline: `${one.count === 1 ? "The only node refuses it" : `All ${count(one.count)} nodes refuse it`}: ${one.text}.`, detail };
  }
  if (missing.length > 1) {
    const what = list(missing.map((one) => `${shortText(one)} ${resourceName(one.name)}`));
    return { headline: `No node fits. The nearest, ${nearest.name}, is short of ${what}.`, detail };
  }
  const free = amount(only.name, Math.max(0, only.free));
  const claim = groups.every((group) => isShort(group, only.name)) ? `No node has ${wantedText(only)}.` : `No node fits.`;
  const has = claim === "No node fits." ? `has ${free} free ${resourceName(only.name)} and the pod wants ${amount(only.name, only.wanted)}` : `has ${free}`;
  return { headline: `${claim} The nearest, ${nearest.name}, ${has}.`, detail };
}

function wantedText(one: NodeAmount): string {
  const wanted = amount(one.name, one.wanted);
  return one.name === "memory" ? `${wanted} of memory free` : `${wanted} free ${resourceName(one.name)}${one.name.endsWith("/gpu") && one.wanted !== 1 ? "s" : ""}`;
}

/** Whether every node of the group lacks the resource: the filter said so, or all of its nodes are here to be looked at. */
function isShort(group: FilterGroup, resource: string): boolean {
  if (group.reasons.includes(`Insufficient ${resource}`)) return true;
  return group.count <= group.nodes.length
    && group.nodes.every((node) => node.resources.some((one) => one.name === resource && one.short > 0));
}

/** "NodeResourcesFit refuses 29 of 36 nodes, TaintToleration 6, NodeUnschedulable 1." */
function byPlugin(groups: readonly FilterGroup[], total: number): string {
  const counts = new Map<string, number>();
  for (const group of groups) counts.set(group.plugin, (counts.get(group.plugin) ?? 0) + group.count);
  const words = [...counts].sort((a, b) => b[1] - a[1]).map(([plugin, nodes], index) =>
    index === 0 ? `${plugin} refuses ${count(nodes)} of ${counted(total, "node")}` : `${plugin} ${count(nodes)}`);
  const never = groups.filter((group) => !group.can_become_free).reduce((sum, group) => sum + group.count, 0);
  const can = groups.filter((group) => group.can_become_free).reduce((sum, group) => sum + group.count, 0);
  const hope = can === 0 ? "No pod that goes would change that."
    : never === 0 ? "" : `Pods that go can make room on ${count(can)} of them, not on the other ${count(never)}.`;
  return [`${words.join(", ")}.`, hope].filter(Boolean).join(" ");
}
