/** What a remedy does and costs, in words. */
import type { HelpAnswer, Remedy } from "@/api/analyses";
import { counted } from "@/format/number";

export function remedyDetail(remedy: Remedy): string {
  const goes = remedy.kind === "node" ? "It goes to the new node." : `It goes to ${remedy.node}.`;
  if (remedy.cost !== "") return `${goes} ${remedy.cost}`;
  return remedy.left_pending > 0
    ? `${goes} Afterwards ${counted(remedy.left_pending, "other pod")} ${remedy.left_pending === 1 ? "finds" : "find"} no place.`
    : `${goes} Nobody loses a place.`;
}

/** For an answer without remedies. */
export function noRemedy(answer: HelpAnswer): string {
  return answer.fits_on !== ""
    ? `Nothing has to change: it fits on ${answer.fits_on} as it is, when its turn comes and nobody else takes the room first.`
    : "Nothing known here helps: no single change of the pod, of the nodes or of the pods beside it that was tried finds it a node.";
}
