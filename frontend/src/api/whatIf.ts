/** What if: the score matrix of an attempt, the pods that other weights would move, the exact run. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Window } from "./types";

type Schemas = components["schemas"];

export type ScoreMatrix = Schemas["ScoreMatrix"];
export type MovedPod = Schemas["MovedPod"];
export type ExactAnswer = Schemas["ExactRun"];
export type ExactAsk = Schemas["ExactAskRequest"];

const KEPT = 600_000;

/** Never changes once the attempt is stored. */
export const matrixQuery = (run: string, attempt: number) =>
  queryOptions({
    queryKey: ["run", run, "attempt", attempt, "score-matrix"],
    queryFn: ({ signal }) => request<ScoreMatrix>(pathOf("runs", run, "attempts", attempt, "score-matrix"), { signal }),
    staleTime: KEPT,
  });

export const movedQuery = (run: string, analysis: string, kind: "elsewhere" | "open", offset: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "analysis", analysis, "moved", kind, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<MovedPod>>(
        withQuery(pathOf("runs", run, "analyses", analysis, "moved"), { kind, offset, limit }),
        { signal },
      ),
    staleTime: KEPT,
    placeholderData: keepPreviousData,
  });

export const runExactly = (run: string, body: ExactAsk) =>
  request<ExactAnswer>(pathOf("runs", run, "exact"), { method: "POST", body });
