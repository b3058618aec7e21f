/** Reads of the pod page. What an attempt said never changes once it is stored, so it is kept; only the pod itself is read again. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type {
  Attempt,
  AttemptDifference,
  AttemptExtenders,
  AttemptLog,
  AttemptRow,
  FilterAnswer,
  ObjectYaml,
  Preemption,
  PreemptionRow,
  RunObjects,
  RunQuotas,
  RunTiming,
  Scores,
} from "./podTypes";
import type { Window } from "./types";

const FOREVER = 600_000;

export const attemptQuery = (run: string, number: number, unfinished: boolean) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number],
    queryFn: ({ signal }) => request<Attempt>(pathOf("runs", run, "attempts", number), { signal }),
    // What comes after the scheduling cycle (Permit's end, binding) is added when it comes.
    staleTime: unfinished ? 0 : FOREVER,
  });

/** What extenders were sent and replied; of an attempt that is not finished, the binding's calls are to come. */
export const attemptExtendersQuery = (run: string, number: number, unfinished: boolean) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number, "extenders"],
    queryFn: ({ signal }) =>
      request<AttemptExtenders>(pathOf("runs", run, "attempts", number, "extenders"), { signal }),
    staleTime: unfinished ? 0 : FOREVER,
  });

/** As kube-scheduler prints it at `-v=level`. */
export const attemptLogQuery = (run: string, number: number, level: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "attempt", number, "log", level, limit],
    queryFn: ({ signal }) =>
      request<AttemptLog>(withQuery(pathOf("runs", run, "attempts", number, "log"), { v: level, limit }), { signal }),
    placeholderData: keepPreviousData,
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

/** What changed from one attempt to another. */
export const differenceQuery = (run: string, before: number, after: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "attempt", before, "difference", after, limit],
    queryFn: ({ signal }) =>
      request<AttemptDifference>(withQuery(pathOf("runs", run, "attempts", before, "difference", after), { limit }), {
        signal,
      }),
    staleTime: FOREVER,
    placeholderData: keepPreviousData,
  });

export interface AttemptFilter {
  q?: string | undefined;
  result?: string | undefined;
  node?: string | undefined;
}

export const fetchAttempts = (run: string, filter: AttemptFilter, offset: number, limit: number, signal: AbortSignal) =>
  request<Window<AttemptRow>>(withQuery(pathOf("runs", run, "attempts"), { ...filter, offset, limit }), { signal });

/** Where the time of the run's cycles went. */
export const runTimingQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "timing"],
    queryFn: ({ signal }) => request<RunTiming>(pathOf("runs", run, "timing"), { signal }),
    staleTime: 5_000,
  });

export const fetchPreemption = (run: string, number: number, offset: number, limit: number, signal: AbortSignal) =>
  request<Preemption>(withQuery(pathOf("runs", run, "attempts", number, "preemption"), { offset, limit }), { signal });

/** Who preempted whom, newest first. `turn` changes when there may be more. */
export const preemptionsQuery = (run: string, turn: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "preemptions", turn, limit],
    queryFn: ({ signal }) =>
      request<Window<PreemptionRow>>(withQuery(pathOf("runs", run, "preemptions"), { limit }), { signal }),
    placeholderData: keepPreviousData,
  });

export const fetchObjects = (
  run: string,
  filter: { kind?: string | undefined; q?: string | undefined },
  offset: number,
  limit: number,
  signal: AbortSignal,
) => request<RunObjects>(withQuery(pathOf("runs", run, "objects"), { ...filter, offset, limit }), { signal });

/** What is used of ElasticQuotas. */
export const quotasQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "objects", "quotas"],
    queryFn: ({ signal }) => request<RunQuotas>(pathOf("runs", run, "objects", "quotas"), { signal }),
  });

export interface ObjectRef {
  kind: string;
  namespace: string;
  name: string;
}

const yamlPath = (run: string, { kind, namespace, name }: ObjectRef): string =>
  kind === "Pod"
    ? pathOf("runs", run, "pods", namespace, name, "yaml")
    : withQuery(pathOf("runs", run, "objects", "yaml"), { kind, namespace, name });

const ONLY_TEXT = { editable: false, rests_on_it: "", version: "", costs: [], dependencies: [] };

export const yamlQuery = (run: string, object: ObjectRef) =>
  queryOptions({
    queryKey: ["run", run, "yaml", object],
    queryFn: async ({ signal }): Promise<ObjectYaml> => ({
      ...ONLY_TEXT,
      ...(await request<{ yaml: string } & Partial<ObjectYaml>>(yamlPath(run, object), { signal })),
    }),
    staleTime: 0,
  });
