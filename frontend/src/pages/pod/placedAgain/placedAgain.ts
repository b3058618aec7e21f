/** What an answer says about where a placed pod would go now, in words. */
import type { PlacedAgainAnswer } from "@/api/analyses";
import { listed } from "@/format/lists";

import { t } from "../texts";

export function againHeadline({ node, to, rank, tied, nodes }: PlacedAgainAnswer): string {
  if (to === "") return nodes === 0 ? t("itWouldBeHeld") : t("itWouldFindNoPlace");
  if (rank !== 1) return t("itWouldGoTo", { to });
  if (tied <= 1) return t("itWouldComeHereAgain", { node });
  return to === node
    ? t("itWouldComeHereAgainDrawn", { node, count: tied })
    : t("itWouldGoToAsGood", { to, node, count: tied });
}

export function againDetail({
  node,
  to,
  rank,
  plugin,
  reasons,
  message,
  feasible,
  nodes,
  ranked,
}: PlacedAgainAnswer): string[] {
  const lines: string[] = [];
  const own = ranked.find((row) => row.node === node);
  const best = ranked[0];
  if (rank === 0 && plugin !== "") lines.push(t("itsNodeWouldRefuseIt", { node, plugin, reasons: listed(reasons) }));
  else if (rank === 0 && nodes > 0) lines.push(t("itsNodeIsGone", { node }));
  else if (rank > 1 && own !== undefined && best !== undefined) {
    lines.push(t("itsNodeIsBehind", { node, rank, feasible, points: best.total - own.total }));
  } else if (rank === 1 && feasible === 1) lines.push(t("itIsTheOnlyFeasible", { nodes }));
  if (to === "" && message !== "") lines.push(message);
  return lines;
}
