/** Answers about capacity as rows and as files; shapes of the nodes that a run has. */
import type { NodeRoom, NodesAnswer, PodsAnswer } from "@/api/analyses";
import { listed, series } from "@/format/lists";
import { count } from "@/format/number";
import { amount, resourceLabel } from "@/format/resources";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "./texts";

export interface Shape {
  /** The node that stands for it. */
  node: string;
  label: string;
  nodes: number;
}

/** Nodes of one type, pool and size are one shape; those with most nodes first. */
export function shapesOf(
  table: Pick<NodeColumns, "names" | "type" | "types" | "pool" | "pools" | "resources" | "allocatable">,
): Shape[] {
  const shapes = new Map<string, Shape>();
  table.names.forEach((node, row) => {
    const type = table.types[table.type[row] ?? -1] ?? "";
    const pool = table.pools[table.pool[row] ?? -1] ?? "";
    const amounts = table.resources.map((_, index) => table.allocatable[index]?.[row] ?? 0);
    const key = JSON.stringify([type, pool, amounts]);
    const known = shapes.get(key);
    if (known !== undefined) {
      known.nodes += 1;
      return;
    }
    const size = table.resources.flatMap((name, index) => {
      const value = amounts[index] ?? 0;
      return value === 0 || name === "pods" || name === "ephemeral-storage"
        ? []
        : [name === "memory" ? amount(name, value) : `${amount(name, value)} ${resourceLabel(name)}`];
    });
    shapes.set(key, { node, nodes: 1, label: [type || pool || node, listed(size)].filter(Boolean).join(": ") });
  });
  return [...shapes.values()].sort((a, b) => b.nodes - a.nodes || a.node.localeCompare(b.node));
}

export interface Full {
  plugin: string;
  reasons: string;
  nodes: string[];
}

/** Nodes that take some, those that take most first; the others by what stops them. */
export function roomOf(answer: PodsAnswer): { taking: NodeRoom[]; full: Full[] } {
  const taking = answer.nodes
    .filter((one) => one.fits > 0)
    .sort((a, b) => b.fits - a.fits || a.node.localeCompare(b.node));
  const full = new Map<string, Full>();
  for (const one of answer.nodes) {
    if (one.fits > 0) continue;
    const reasons = listed(one.reasons);
    const known = full.get(`${one.plugin} ${reasons}`);
    if (known === undefined) full.set(`${one.plugin} ${reasons}`, { plugin: one.plugin, reasons, nodes: [one.node] });
    else known.nodes.push(one.node);
  }
  return { taking, full: [...full.values()].sort((a, b) => b.nodes.length - a.nodes.length) };
}

/** "21 more like staging/web fit." */
export function podsSentence(answer: PodsAnswer): string {
  if (answer.fits === 0) return t("noMoreLikeFits", { pod: answer.pod });
  const more = answer.at_limit ? t("atLeast", { fits: answer.fits }) : count(answer.fits);
  return t("moreLike", { count: answer.fits, more, pod: answer.pod });
}

/** All who would be pending with one node less are told of, also those whom no such node helps. */
export function nodesSentence(answer: NodesAnswer): string {
  if (answer.nodes === 0) {
    return answer.never.length === 0 ? t("everyPendingPodHasRoom") : t("noNumberOfNodesLike", { shape: answer.shape });
  }
  return series([
    t("moreNodesGiveAPlace", {
      count: answer.nodes,
      shape: answer.shape,
      pending: t("pendingPods", { count: answer.helped }),
    }),
    t("withFewerStillPending", { which: answer.nodes - 1, count: answer.with_one_less + answer.never.length }),
  ]);
}

type Cell = string | number;

/** RFC 4180. A cell that a spreadsheet would take for a formula is text. */
export function csv(rows: readonly (readonly Cell[])[]): string {
  const cell = (value: Cell): string => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

export const podsRows = (answer: PodsAnswer): Cell[][] => [
  ["node", "fits", "plugin", "reasons", "can_become_free"],
  ...answer.nodes.map((one) => [one.node, one.fits, one.plugin, one.reasons.join("; "), String(one.can_become_free)]),
];

export const nodesRows = (answer: NodesAnswer): Cell[][] => [
  ["shape", "nodes", "helped", "with_one_less", "pod_that_stays_pending", "message"],
  [answer.shape, answer.nodes, answer.helped, answer.with_one_less, "", ""],
  ...answer.never.map((one) => [answer.shape, "", "", "", one.pod, one.message]),
];
