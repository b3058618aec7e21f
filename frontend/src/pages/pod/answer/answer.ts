/**
 * Why a node won, in one sentence, worked out from the scores that the page reads anyway. Why a pod is pending is the
 * server's to say (schedweb/runs/pending/answers.py).
 */
import type { Sampling, Scores } from "@/api/podTypes";
import { both, sentences } from "@/format/lists";

import { t } from "../texts";

export interface Answer {
  headline: string;
  detail: string;
}

const NAMED = 3;

/** "node-00 won with 700 points, equal with node-03 and node-09." */
export function wonAnswer(node: string, scores: Scores, sampling: Sampling): Answer | null {
  if (!scores.scored || scores.best === null || scores.chosen === null) return null;
  const others = scores.rows.filter((row) => row.rank === 1 && row.node !== node).map((row) => row.node);
  const equal = scores.tie.count - 1;
  const named = both([...others.slice(0, NAMED), ...(equal > NAMED ? [t("more", { more: equal - NAMED })] : [])]);
  const total = scores.chosen.total;
  const headline =
    equal > 0 && named !== "" ? t("wonEqual", { count: total, node, named }) : t("won", { count: total, node });
  return { headline, detail: sentences([tieSentence(scores), marginSentence(scores), seenSentence(sampling)]) };
}

function tieSentence(scores: Scores): string {
  if (scores.tie.count < 2) return "";
  const by = scores.tie.chosen_by;
  return t("chose1Of", { toUpperCase: by.charAt(0).toUpperCase(), slice: by.slice(1), n: scores.tie.count });
}

function marginSentence(scores: Scores): string {
  const { runner_up: second, chosen } = scores;
  if (second === null || chosen === null) return "";
  const margin = chosen.total - second.total;
  return t(scores.tie.count > 1 ? "theyBeat" : "itBeats", {
    count: margin,
    node: second.node,
    from: fromWhat(scores, margin),
  });
}

/** ", all from NodeResourcesFit" when one plugin alone made the difference, else which one gave most. */
function fromWhat(scores: Scores, margin: number): string {
  const { runner_up: second, chosen, decided_by: plugin } = scores;
  if (plugin === null || second === null || chosen === null) return "";
  const row = scores.rows.find((one) => one.node === second.node);
  const cell = scores.plugins.findIndex((one) => one.name === plugin);
  const gained =
    row === undefined || cell < 0 ? null : (chosen.cells[cell]?.points ?? 0) - (row.cells[cell]?.points ?? 0);
  return gained === margin ? t("allFrom", { plugin }) : t("mostOfItFrom", { plugin });
}

function seenSentence({ feasible, checked, of }: Sampling): string {
  const unseen = of - checked;
  if (unseen <= 0) return t(feasible === 1 ? "feasibleOne" : "feasibleAndScored", { count: of, feasible });
  return t(feasible === 1 ? "feasibleOneSomeUnseen" : "feasibleAndScoredSomeUnseen", { count: of, feasible, unseen });
}
