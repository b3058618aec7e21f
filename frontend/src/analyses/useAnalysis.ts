/** One question about a moment, from asking to the answer. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import {
  analysisQuery,
  type Answered,
  askQuery,
  isOpen,
  type Question,
  type QuestionName,
  type Questions,
} from "@/api/analyses";

import { t } from "./texts";

export type Progress = "none" | "asking" | "pending" | "running" | "done" | "failed";

export interface AnalysisView<N extends QuestionName> {
  progress: Progress;
  run: string;
  /** Of the analysis, once it was asked. */
  id: string | null;
  result: Questions[N]["result"] | null;
  /** The position that the answer is about. */
  position: number | null;
  error: { message: string } | null;
  again: () => void;
}

/** `question` null asks nothing yet. */
export function useAnalysis<N extends QuestionName>(run: string, question: Question<N> | null): AnalysisView<N> {
  const [turn, setTurn] = useState(0);
  const nothing = {
    name: "what_would_help",
    arguments: { namespace: "", name: "" },
    position: 0,
  } as unknown as Question<N>;
  const asked = useQuery({ ...askQuery(run, question ?? nothing, turn), enabled: question !== null });
  const id = asked.data?.id ?? "";
  const followed = useQuery({ ...analysisQuery<N>(run, id), enabled: id !== "" && isOpen(asked.data) });
  const known = followed.data ?? asked.data;
  return { ...viewOf(question !== null, known, asked.error ?? followed.error), run, again: () => setTurn(turn + 1) };
}

export function viewOf<N extends QuestionName>(
  asking: boolean,
  known: Answered<N> | undefined,
  error: { message: string } | null,
): Omit<AnalysisView<N>, "run" | "again"> {
  const nothing = { id: known?.id ?? null, result: null, position: known?.position ?? null, error: null };
  if (!asking) return { ...nothing, progress: "none" };
  if (known === undefined)
    return error === null ? { ...nothing, progress: "asking" } : { ...nothing, progress: "failed", error };
  if (known.status === "done" && known.result !== null) return { ...nothing, progress: "done", result: known.result };
  if (isOpen(known)) return { ...nothing, progress: known.status === "running" ? "running" : "pending" };
  const message = known.status === "cancelled" ? t("itWasCancelled") : (known.error ?? t("thereIsNoAnswer"));
  return { ...nothing, progress: "failed", error: { message } };
}
