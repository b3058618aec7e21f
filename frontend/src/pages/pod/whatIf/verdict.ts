/** What a ranking comes to, in words: who would have won, instead of whom, and how a tie is broken. */
import { listed, sentences } from "@/format/lists";
import { count } from "@/format/number";

import type { Matrix, Ranking, Weights } from "./ranking";
import { t } from "./texts";

export interface Verdict {
  headline: string;
  detail: string;
  /** The pod would certainly have gone elsewhere. */
  moved: boolean;
}

const NAMED = 3;

export function verdictOf(matrix: Matrix, before: Ranking, now: Ranking, weights: Weights): Verdict {
  const chosen = matrix.chosen === null ? null : (matrix.nodes[matrix.chosen] ?? null);
  const winner = now.winner === null ? null : (matrix.nodes[now.winner] ?? null);
  if (weights.size === 0) {
    return {
      headline: chosen === null ? t("asItWas") : t("asItWasWon", { node: chosen, total: now.best }),
      detail: t("moveASlider"),
      moved: false,
    };
  }
  if (now.settled === "first found" && winner !== null) {
    return {
      headline: winner === chosen ? t("stays", { node: winner }) : gone(winner, chosen),
      detail: t("nothingScores"),
      moved: winner !== chosen,
    };
  }
  const detail = sentences([tie(matrix, now), margin(matrix, now), place(matrix, before, now, chosen)]);
  if (winner === null) {
    const isTied = matrix.chosen !== null && now.tied.includes(matrix.chosen);
    return {
      headline:
        isTied || chosen === null
          ? t("open", { count: now.tied.length })
          : t("openElsewhere", { count: now.tied.length, node: chosen }),
      detail,
      moved: !isTied,
    };
  }
  return winner === chosen
    ? { headline: t("stays", { node: winner }), detail, moved: false }
    : { headline: gone(winner, chosen), detail, moved: true };
}

function gone(winner: string, chosen: string | null): string {
  return chosen === null ? t("wouldWin", { node: winner }) : t("instead", { to: winner, node: chosen });
}

/** "node-03, node-09 and 2 more are equal." and how that is settled. */
function tie(matrix: Matrix, now: Ranking): string {
  if (now.tied.length < 2) return "";
  const names = listed(now.tied.slice(0, NAMED).map((one) => matrix.nodes[one] ?? ""));
  const more = now.tied.length - NAMED;
  const equal = more > 0 ? t("equalAndMore", { names, count: more }) : t("equal", { names });
  if (now.settled === "rule") return `${equal} ${matrix.ties === "upstream" ? t("byUpstream") : t("bySmallest")}`;
  return `${equal} ${now.settled === "same draw" ? t("sameDraw", { seed: String(matrix.seed) }) : t("seedWouldDraw", { seed: String(matrix.seed) })}`;
}

function margin(matrix: Matrix, now: Ranking): string {
  if (now.margin === null) return t("allEqual");
  const next = now.order[now.tied.length];
  const node = next === undefined ? "" : (matrix.nodes[next] ?? "");
  return t("ahead", { count: now.margin, node });
}

/** Where the node that it got would stand. */
function place(matrix: Matrix, before: Ranking, now: Ranking, chosen: string | null): string {
  if (matrix.chosen === null || chosen === null || now.rank[matrix.chosen] === 1) return "";
  const behind = now.best - (now.total[matrix.chosen] ?? 0);
  return t("wouldRank", {
    node: chosen,
    rank: now.rank[matrix.chosen] ?? 0,
    was: count(before.rank[matrix.chosen] ?? 0),
    count: behind,
  });
}
