/** Words for two attempts laid beside each other. */
import type { AttemptDifference, AttemptRow, NodeVerdict } from "@/api/podTypes";
import { count, counted } from "@/format/number";

export function verdictText(verdict: NodeVerdict): string {
  if (verdict.kind !== "rejected") return verdict.kind;
  return [verdict.plugin, verdict.reasons.join(", ")].filter((part) => part !== "").join(": ");
}

function outcome(row: AttemptRow): string {
  if (row.node === null) return row.result === "error" ? "ended in an error" : "found no node";
  return row.result === "waiting" ? `waits on ${row.node}` : row.result === "bound" ? `went to ${row.node}` : `chose ${row.node} and was not bound`;
}

/** "Attempt 1 found no node, attempt 2 went to b: 2 nodes changed their verdict, 1 more fits." */
export function differenceAnswer(difference: AttemptDifference): string {
  const { before, after, nodes_changed: changed } = difference;
  const [fitted = 0, fits = 0] = difference.feasible;
  const ends = `Attempt ${count(before.attempt)} ${outcome(before)}, attempt ${count(after.attempt)} ${outcome(after)}`;
  if (changed === 0) {
    const points = difference.count;
    return points === 0 ? `${ends}; every node got the same verdict${difference.scored_in_both ? " and the same points" : ""}.`
      : `${ends}; no node changed its verdict, ${counted(points, "node")} got other points.`;
  }
  const gained = fits - fitted;
  const more = gained === 0 ? `${count(fits)} fit, as before` : gained > 0 ? `${count(gained)} more ${gained === 1 ? "fits" : "fit"}` : `${count(-gained)} fewer ${gained === -1 ? "fits" : "fit"}`;
  return `${ends}: ${counted(changed, "node")} changed ${changed === 1 ? "its" : "their"} verdict, ${more}.`;
}
