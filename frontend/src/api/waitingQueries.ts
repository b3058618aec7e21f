/** Reads of the inbox. `["waiting", …]` is refreshed by the socket's `waiting.count`. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { request, withQuery } from "./client";
import type { Window } from "./types";
import type { Decision, Eviction, WaitingKind, WaitingWindow } from "./waitingTypes";

export interface WaitingFilter {
  run?: string | undefined;
  q?: string | undefined;
  kind?: WaitingKind | undefined;
}

export const WAITING_LIMIT = 200;

export const waitingQuery = (filter: WaitingFilter, windows = 1) =>
  queryOptions({
    queryKey: ["waiting", "list", filter, windows],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        Array.from({ length: windows }, (_, index) =>
          request<WaitingWindow>(
            withQuery("/waiting/", { ...filter, offset: index * WAITING_LIMIT, limit: WAITING_LIMIT }),
            { signal },
          ),
        ),
      );
      const first = pages[0];
      if (first === undefined) throw new Error("no window was asked for");
      return { ...first, rows: pages.flatMap((page) => page.rows) };
    },
    placeholderData: keepPreviousData,
    // Virtual clocks move without telling the inbox; the socket tells of pods that come and go.
    refetchInterval: (query) =>
      query.state.data?.rows.some((row) => row.run_state === "playing") === true ? 2_000 : 15_000,
  });

export const decisionsQuery = (run: string | undefined, limit: number) =>
  queryOptions({
    queryKey: ["waiting", "decisions", run, limit],
    queryFn: ({ signal }) => request<Window<Decision>>(withQuery("/decisions/", { run, limit }), { signal }),
    placeholderData: keepPreviousData,
  });

export const evictionsQuery = (run: string | undefined) =>
  queryOptions({
    queryKey: ["waiting", "evictions", run],
    queryFn: ({ signal }) =>
      request<Window<Eviction>>(withQuery("/evictions/", { run, limit: WAITING_LIMIT }), { signal }),
    placeholderData: keepPreviousData,
  });
