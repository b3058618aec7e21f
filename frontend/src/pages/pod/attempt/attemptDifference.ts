/** Words for two attempts laid beside each other. */
import type { AttemptDifference, AttemptRow, NodeVerdict } from "@/api/podTypes";
import { listed } from "@/format/lists";

import { t } from "../texts";

export function verdictText(verdict: NodeVerdict): string {
  if (verdict.kind !== "rejected") return verdict.kind;
  return [verdict.plugin, listed(verdict.reasons)].filter((part) => part !== "").join(": ");
}

function outcome(row: AttemptRow): string {
  if (row.node === null) return row.result === "error" ? t("endedInAnError") : t("foundNoNode");
  return row.result === "waiting"
    ? t("waitsOn", { node: row.node })
    : row.result === "bound"
      ? t("wentTo", { node: row.node })
      : t("choseAndWasNotBound", { node: row.node });
}

/** "Attempt 1 found no node, attempt 2 went to b: 2 nodes changed their verdict, 1 more fits." */
export function differenceAnswer(difference: AttemptDifference): string {
  const { before, after, nodes_changed: changed } = difference;
  const [fitted = 0, fits = 0] = difference.feasible;
  const ends = t("attemptAttempt", {
    attempt: before.attempt,
    outcome: outcome(before),
    attempt2: after.attempt,
    outcome2: outcome(after),
  });
  if (changed === 0) {
    const points = difference.count;
    return points === 0
      ? t(difference.scored_in_both ? "sameVerdictsAndPoints" : "sameVerdicts", { ends })
      : t("noNodeChangedItsVerdict", { count: points, ends });
  }
  const gained = fits - fitted;
  const more =
    gained === 0
      ? t("fitAsBefore", { fits })
      : gained > 0
        ? t("moreFit", { count: gained })
        : t("fewerFit", { count: -gained });
  return t("verdictsChanged", { count: changed, ends, more });
}
