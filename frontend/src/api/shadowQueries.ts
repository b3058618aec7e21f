/** The shadow of a followed run: shapes, reads, and below how much agreement it is said. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Window } from "./types";

type Schemas = components["schemas"];

export type ShadowSummary = Schemas["ShadowSummary"];
export type ShadowBucket = Schemas["ShadowBucket"];
export type ShadowDecision = Schemas["ShadowDecision"];
export const SHADOW_KINDS = ["other_node", "stays_pending", "preempts", "left_pending", "not_judged"] as const;
export type ShadowKind = (typeof SHADOW_KINDS)[number];

export interface ShadowPods {
  namespace?: string | undefined;
  profile?: string | undefined;
  workload?: string | undefined;
}

export interface ShadowFilter extends ShadowPods {
  kind?: ShadowKind | undefined;
  plugin?: string | undefined;
  q?: string | undefined;
}

/** Read again when the socket says `shadow.judged`. */
export const shadowQuery = (run: string, pods: ShadowPods) =>
  queryOptions({
    queryKey: ["shadow", run, pods],
    queryFn: ({ signal }) => request<ShadowSummary>(withQuery(pathOf("runs", run, "shadow"), { ...pods }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const shadowDecisionsQuery = (run: string, filter: ShadowFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["shadow", run, "decisions", filter, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<ShadowDecision>>(
        withQuery(pathOf("runs", run, "shadow", "decisions"), { ...filter, offset, limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** What extenders were sent for a decision, which is made once. */
export const shadowExtendersQuery = (run: string, number: number) =>
  queryOptions({
    queryKey: ["shadowExtenders", run, number],
    queryFn: ({ signal }) =>
      request<Schemas["AttemptExtenders"]>(pathOf("runs", run, "shadow", "decisions", number, "extenders"), { signal }),
    staleTime: Infinity,
  });

/** What more decisions change: all but later pages of the list, whose rows would move while they are read. */
export const ofShadow = (run: string) => ({
  queryKey: ["shadow", run],
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[2] !== "decisions" || queryKey[4] === 0,
});

export const setShadowAlert = (run: string, below: number | null) =>
  request<ShadowSummary>(pathOf("runs", run, "shadow"), { method: "PUT", body: { alert_below: below } });

/** A plain address: the browser downloads it. */
export const shadowExportAddress = (run: string, as: "csv" | "json", filter: ShadowFilter) =>
  `/api/v1${withQuery(pathOf("runs", run, "shadow", "export"), { as, ...filter })}`;
