/** Every read of the API as TanStack Query options, so that a key is spelled once. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, setCsrfToken, withQuery } from "./client";
import type {
  Board,
  Card,
  Configuration,
  FeedItem,
  ForkInput,
  Import,
  JournalEntry,
  Me,
  NodeDetail,
  NodesTable,
  PodDetail,
  Run,
  RunsDeleted,
  RunState,
  Selection,
  Snapshot,
  Step,
  Timeline,
  Window,
} from "./types";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }) => {
    const me = await request<Me>("/me/", { signal });
    setCsrfToken(me.csrf_token);
    return me;
  },
  staleTime: 300_000,
});

export const waitingCountQuery = queryOptions({
  queryKey: ["waiting", "count"],
  queryFn: ({ signal }) => request<{ count: number; person: number; evictions: number }>("/waiting/count/", { signal }),
  staleTime: 60_000,
});

export const snapshotsQuery = (limit = 50) =>
  queryOptions({
    queryKey: ["snapshots", { limit }],
    queryFn: ({ signal }) => request<Window<Snapshot>>(withQuery("/snapshots/", { limit }), { signal }),
  });

export const configurationsQuery = (limit = 100) =>
  queryOptions({
    queryKey: ["configurations", { limit }],
    queryFn: ({ signal }) => request<Window<Configuration>>(withQuery("/configurations/", { limit }), { signal }),
  });

/** What the list of runs is narrowed by; ids of a cluster and of a configuration. */
export interface RunFilter {
  q?: string | undefined;
  snapshot?: string | undefined;
  configuration?: string | undefined;
  state?: RunState | undefined;
  fork?: boolean | undefined;
  /** Only those that are beside a real cluster now. */
  beside?: boolean | undefined;
}

export const runsQuery = (offset = 0, limit = 50, filter: RunFilter = {}) =>
  queryOptions({
    queryKey: ["runs", { offset, limit, ...filter }],
    queryFn: ({ signal }) => request<Window<Run>>(withQuery("/runs/", { offset, limit, ...filter }), { signal }),
    placeholderData: keepPreviousData,
  });

export const deleteRuns = (runs: readonly string[]) =>
  request<RunsDeleted>("/runs/delete/", { method: "POST", body: { runs } });

export const runQuery = (run: string) =>
  queryOptions({ queryKey: ["run", run], queryFn: ({ signal }) => request<Run>(pathOf("runs", run), { signal }) });

/** How far a run goes and what happened where. `run`: without a position. */
export const timelineQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "timeline"],
    queryFn: ({ signal }) => request<Timeline>(pathOf("runs", run, "timeline"), { signal }),
  });

/** When the run was at a step, and the counts there; what is noted of a step does not change. */
export const stepQuery = (run: string, position: number) =>
  queryOptions({
    queryKey: ["run", run, "timeline", position],
    queryFn: ({ signal }) => request<Step>(pathOf("runs", run, "timeline", position), { signal }),
    staleTime: Infinity,
    retry: false,
  });

/** The last step before a moment of the run's clock; the error says why there is none. */
export const stepAtQuery = (run: string, at: string) =>
  queryOptions({
    queryKey: ["run", run, "timeline", "at", at],
    queryFn: ({ signal }) => request<Timeline>(withQuery(pathOf("runs", run, "timeline"), { at }), { signal }),
    retry: false,
  });

/** A new run that begins where `run` was, with the changes made first. */
export const forkRun = (run: string, body: ForkInput) =>
  request<Run>(pathOf("runs", run, "forks"), { method: "POST", body });

export const fetchBoard = (run: string, signal?: AbortSignal) =>
  request<Board>(pathOf("runs", run, "board"), signal ? { signal } : {});

export const fetchNodes = (run: string, offset = 0, limit = 5000, signal?: AbortSignal) =>
  request<NodesTable>(withQuery(pathOf("runs", run, "nodes"), { offset, limit }), signal ? { signal } : {});

export interface PodFilter {
  column?: string | undefined;
  group?: string | undefined;
  q?: string | undefined;
  namespace?: string | undefined;
  node?: string | undefined;
  sort?: string | undefined;
}

export const fetchRunPods = (run: string, filter: PodFilter, offset: number, limit: number, signal: AbortSignal) =>
  request<Window<Card>>(withQuery(pathOf("runs", run, "pods"), { ...filter, offset, limit }), { signal });

export const runPodsQuery = (run: string, filter: PodFilter, offset = 0, limit = 100) =>
  queryOptions({
    queryKey: ["run", run, "pods", filter, offset, limit],
    queryFn: ({ signal }) => fetchRunPods(run, filter, offset, limit, signal),
    placeholderData: keepPreviousData,
  });

export const nodeQuery = (run: string, node: string) =>
  queryOptions({
    queryKey: ["run", run, "node", node],
    queryFn: ({ signal }) => request<NodeDetail>(pathOf("runs", run, "nodes", node), { signal }),
  });

export const selectionQuery = (run: string, namespace: string, name: string) =>
  queryOptions({
    queryKey: ["run", run, "selection", namespace, name],
    queryFn: ({ signal }) =>
      request<Selection>(withQuery(pathOf("runs", run, "selection"), { namespace, name }), { signal }),
  });

export interface FeedFilter {
  pod?: string | undefined;
  node?: string | undefined;
}

export const fetchFeed = (run: string, filter: FeedFilter = {}, before?: number, signal?: AbortSignal) =>
  request<FeedItem[]>(
    withQuery(pathOf("runs", run, "feed"), { ...filter, before, limit: 50 }),
    signal ? { signal } : {},
  );

export const fetchJournalEntry = (run: string, id: string) => request<JournalEntry>(pathOf("runs", run, "journal", id));

export const importQuery = (id: string, filter: { exclude_namespaces?: string; label_selector?: string }) =>
  queryOptions({
    queryKey: ["import", id, filter],
    queryFn: ({ signal }) => request<Import>(withQuery(pathOf("imports", id), filter), { signal }),
    placeholderData: keepPreviousData,
  });

/** What the inspector shows of a pod; the pod page asks for more of the same address. */
export const podSummaryQuery = (run: string, namespace: string, name: string) =>
  queryOptions({
    queryKey: ["run", run, "pod", namespace, name],
    queryFn: ({ signal }) => request<PodDetail>(pathOf("runs", run, "pods", namespace, name), { signal }),
  });
