/** A run that schedules a real cluster: how it stands, and what it wrote there. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Run, Window } from "./types";

type Schemas = components["schemas"];

export type Scheduled = Schemas["Scheduled"];
export type ClusterWrite = Schemas["ClusterWrite"];
export type WritePurpose = ClusterWrite["purpose"];
export const WRITE_OUTCOMES = ["written", "refused", "on_their_way"] as const;
export type WriteOutcome = (typeof WRITE_OUTCOMES)[number];

const ASK_AGAIN = 2000;

export const scheduledQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "schedule"],
    queryFn: ({ signal }) => request<Scheduled>(pathOf("runs", run, "schedule"), { signal }),
    staleTime: 0,
    refetchInterval: ASK_AGAIN,
  });

/** Whether a run is a scheduler of a real cluster, which it is for good: read once, and not with every message of the run. */
export const schedulesQuery = (run: string) =>
  queryOptions({
    queryKey: ["schedules", run],
    queryFn: async ({ signal }) => (await request<Run>(pathOf("runs", run), { signal })).schedules,
    staleTime: Infinity,
    retry: false,
  });

export interface WriteFilter {
  /** Events are many and change nothing of a pod. */
  events?: boolean | undefined;
  outcome?: WriteOutcome | undefined;
  q?: string | undefined;
}

/** Newest first; only the first page is read again by itself, rows of later ones would move while they are read. */
export const writesQuery = (run: string, { events, ...filter }: WriteFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "schedule", "writes", { events, ...filter }, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<ClusterWrite>>(
        withQuery(pathOf("runs", run, "schedule", "writes"), {
          purpose: events === true ? "all" : undefined,
          ...filter,
          offset,
          limit,
        }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: offset === 0 ? ASK_AGAIN : false,
  });

export interface ForRealWish {
  /** The cluster's name, as a person typed it. */
  typed: string;
}

/** A dry run's terms for real; as `scheduleCluster`. The dry run stops when there is a run. */
export const scheduleForReal = (dryRun: string, wish: ForRealWish, reading?: string) =>
  request<Schemas["FollowAnswer"]>(pathOf("runs", dryRun, "schedule", "real"), {
    method: "POST",
    body: { ...(reading === undefined ? {} : { import_id: reading }), ...wish },
  });
