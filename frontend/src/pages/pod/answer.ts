/**
 * Why a node won, in one sentence, worked out from the scores that the page reads anyway. Why a pod is pending is the
 * server's to say (schedweb/runs/selectors/answers.py).
 */
import type { Sampling, Scores } from "@/api/podTypes";
import { count, counted } from "@/format/number";

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
