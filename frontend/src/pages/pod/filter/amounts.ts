/** Amounts of resources on a node beside what the pod wants: "6 free of 8", "short 2", and the shares of the meter. */
import type { FilterGroup, FilterNode, NodeAmount } from "@/api/podTypes";
import { both, either, listed } from "@/format/lists";
import { amount } from "@/format/resources";

import { t } from "../texts";

/** "nvidia.com/gpu" → "GPU" */
export function resourceName(name: string): string {
  if (name.endsWith("/gpu")) return "GPU";
  if (name === "ephemeral-storage") return t("disk");
  return name.slice(name.lastIndexOf("/") + 1);
}

/** "143 free of 191 Gi": a unit that both have is written once. */
export function freeOf(one: NodeAmount): { free: string; of: string } {
  const of = amount(one.name, one.allocatable);
  const free = amount(one.name, Math.max(0, one.free));
  const unit = /\s\S+$/.exec(of)?.[0] ?? "";
  return { free: unit !== "" && free.endsWith(unit) ? free.slice(0, -unit.length) : free, of };
}

/** "2", "1 Gi" */
export function shortText(one: NodeAmount): string {
  return amount(one.name, one.short);
}

export interface MeterShares {
  requested: number;
  pod: number;
  missing: number;
  /** Where the allocatable amount ends. */
  allocatable: number;
}

/** Percent of the meter; its full width is the allocatable amount, or more when the pod wants more than there is. */
export function meterShares(one: NodeAmount): MeterShares {
  const whole = Math.max(one.allocatable, one.requested + one.wanted, 1);
  const share = (value: number) => (Math.max(0, value) / whole) * 100;
  const fits = Math.max(0, Math.min(one.wanted, one.free));
  return {
    requested: share(one.requested),
    pod: share(fits),
    missing: share(one.wanted - fits),
    allocatable: share(one.allocatable),
  };
}

export interface NodeKind {
  nodes: FilterNode[];
  type: string;
  resources: NodeAmount[];
}

/** Nodes of one type and size as one line: "18 nodes, m7i.2xlarge, 7.92 cpu". */
export function kindsOf(nodes: readonly FilterNode[]): NodeKind[] {
  const kinds = new Map<string, NodeKind>();
  for (const node of nodes) {
    const key = JSON.stringify([node.type, node.resources.map((one) => [one.name, one.allocatable, one.short > 0])]);
    const kind = kinds.get(key);
    if (kind === undefined) kinds.set(key, { nodes: [node], type: node.type, resources: node.resources });
    else kind.nodes.push(node);
  }
  return [...kinds.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}

/** "ip-10-0-1-10 … 27": what the last has in common with the first is left out. */
export function nameRange(names: readonly string[]): string {
  const sorted = [...names].sort();
  const first = sorted[0] ?? "";
  const last = sorted.at(-1) ?? "";
  if (sorted.length < 2) return first;
  let same = 0;
  while (same < last.length && first[same] === last[same]) same += 1;
  const cut = Math.max(first.lastIndexOf("-", same - 1), first.lastIndexOf(".", same - 1)) + 1;
  return `${first} … ${last.slice(cut)}`;
}

/** Whether the reason is the size of the node: then "never" is a help, where a taint or a label speaks for itself. */
export function isAboutRoom(group: FilterGroup): boolean {
  return group.plugin === "NodeResourcesFit" && group.nodes.some((node) => node.resources.some((one) => one.short > 0));
}

/** What is worth a line: how many pods a node may have is, only when that is what is missing. */
export function telling(resources: readonly NodeAmount[]): NodeAmount[] {
  return resources.filter((one) => one.name !== "pods" || one.short > 0);
}

const REMARKS = 2;

/** "dedicated=data:NoSchedule": what of the nodes was refused, where few things tell it of all. */
function remarksOf(group: FilterGroup): string {
  const remarks = [...new Set(group.nodes.flatMap((node) => node.remark ?? []))];
  return remarks.length > REMARKS ? "" : either(remarks);
}

/** "short of 2 GPU", "nearest: ip-10-0-3-14, short of 5 GPU"; where room is not the matter, what is, and whether there is any. */
export function nearestText(group: FilterGroup): string {
  const nearest = group.nodes[0];
  if (nearest === undefined) return "";
  if (!isAboutRoom(group)) return listed([remarksOf(group), group.nearest_note].filter((one) => one !== ""));
  const missing = nearest.resources
    .filter((one) => one.short > 0)
    .sort((a, b) => b.short / b.wanted - a.short / a.wanted)
    .map((one) => `${shortText(one)} ${resourceName(one.name)}`);
  const short = t("resourceShort", { which: both(missing) });
  return group.count === 1 ? short : t("nearestNameShort", { name: nearest.name, short });
}
