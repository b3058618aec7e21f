/** Reads of the pod page. What an attempt said never changes once it is stored, so it is kept; only the pod itself is read again. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { Attempt, FilterAnswer, Scores } from "./podTypes";

const FOREVER = 600_000;

export const attemptQuery = (run: string, number: number, unfinished: boolean) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number],
    queryFn: ({ signal }) => request<Attempt>(pathOf("runs", run, "attempts", number), { signal }),
    // What comes after the scheduling cycle (Permit's end, binding) is added when it comes.
    staleTime: unfinished ? 0 : FOREVER,
  });

export interface FilterWindow {
  group?: number | undefined;
  table?: 1 | undefined;
  q?: string | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
}

export const filterQuery = (run: string, number: number, window: FilterWindow = {}) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number, "filter", window],
    queryFn: ({ signal }) =>
      request<FilterAnswer>(withQuery(pathOf("runs", run, "attempts", number, "filter"), { ...window }), { signal }),
    staleTime: FOREVER,
    placeholderData: keepPreviousData,
  });

export interface ScoreWindow {
  offset?: number | undefined;
  limit?: number | undefined;
  sort?: string | undefined;
  q?: string | undefined;
  hide_equal?: 1 | undefined;
}

export const scoresQuery = (run: string, number: number, window: ScoreWindow = {}) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number, "scores", window],
    queryFn: ({ signal }) =>
      request<Scores>(withQuery(pathOf("runs", run, "attempts", number, "scores"), { ...window }), { signal }),
    staleTime: FOREVER,
  });

export const podYamlQuery = (run: string, namespace: string, name: string) =>
  queryOptions({
    queryKey: ["run", run, "pod", namespace, name, "yaml"],
    queryFn: ({ signal }) => request<{ yaml: string }>(pathOf("runs", run, "pods", namespace, name, "yaml"), { signal }),
    staleTime: 0,
  });
