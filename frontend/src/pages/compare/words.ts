/** The comparison in words: the first sentence, why a pod went elsewhere, and differences of numbers. */
import type { Cause, Comparison, DifferenceKind, PodDifference } from "@/api/compareQueries";
import { count, counted } from "@/format/number";
import { seconds } from "@/format/time";

export interface Names {
  a: string;
  b: string;
}

export const KIND_WORDS: Record<DifferenceKind, (names: Names) => string> = {
  elsewhere: () => "On another node",
  only_a: ({ a }) => `Placed by ${a} only`,
  only_b: ({ b }) => `Placed by ${b} only`,
  neither: () => "Placed by neither",
  missing_a: ({ a }) => `Not in ${a}`,
  missing_b: ({ b }) => `Not in ${b}`,
  same: () => "Same in both",
};

/** "5 pods are on another node; r-0002 placed 1 more than r-0001." */
export function headline({ counts, a, b }: Comparison): string {
  const differ = counts.elsewhere + counts.only_a + counts.only_b + counts.missing_a + counts.missing_b;
  if (differ === 0) return counts.neither === 0 ? "Every pod went to the same node." : `Every pod that was placed went to the same node; ${counted(counts.neither, "pod")} fitted in neither.`;
  const more = b.placed - a.placed;
  const [winner, by] = more > 0 ? [b.run.number, more] : [a.run.number, -more];
  const parts = [`${counted(counts.elsewhere, "pod is", "pods are")} on another node`];
  parts.push(by === 0 ? "both placed the same number" : `${winner} placed ${count(by)} more`);
  return `${parts.join("; ")}.`;
}

/** Why one pod is where it is, from the first cause; the others follow it. */
export function causeWords(cause: Cause, row: PodDifference, names: Names): string {
  const here = cause.side === "b" ? names.b : names.a;
  const wanted = (cause.side === "b" ? row.a?.node : row.b?.node) ?? "the other node";
  const reasons = cause.reasons.length === 0 ? "" : ` (${cause.reasons.join("; ")})`;
  switch (cause.why) {
    case "score": return `${cause.plugin} made the difference.`;
    case "tie": return "The same points in both: an equal was chosen.";
    case "filter": return `${cause.plugin === "" ? "A plugin" : cause.plugin} refused ${wanted} in ${here}${reasons}.`;
    case "not_checked": return `${here} did not look at ${wanted}: enough nodes had been found, or another one was nominated.`;
    case "absent": return `${here} had no node ${wanted} then.`;
    case "later": return `${here} could have had it on ${wanted}, but ${cause.plugin === "" ? "a later step" : cause.plugin} failed${reasons}.`;
    case "not_tried": return row.kind === "elsewhere" ? `In ${here} it was on its node from the start.` : `${here} has not tried it.`;
    case "not_stored": return `What ${here} decided about it is no longer stored.`;
  }
}

/** "+3", "−2", "0" */
export function signed(value: number, digits = 0): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
}

/** 0.8751 → "87.5 %" */
export function shareText(share: number | null): string {
  return share === null ? "none" : `${(share * 100).toFixed(1)} %`;
}

export function waitText(value: number | null): string {
  return value === null ? "none" : seconds(value);
}
