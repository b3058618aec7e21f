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

/** Cycles come as the cluster goes on: how often is looked. */
const LOOK = 2000;

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

export const shadowQuery = (run: string, pods: ShadowPods, goesOn: boolean) =>
  queryOptions({
    queryKey: ["shadow", run, pods],
    queryFn: ({ signal }) => request<ShadowSummary>(withQuery(pathOf("runs", run, "shadow"), { ...pods }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: goesOn ? LOOK : false,
  });

export const shadowDecisionsQuery = (
  run: string,
  filter: ShadowFilter,
  offset: number,
  limit: number,
  goesOn: boolean,
) =>
  queryOptions({
    queryKey: ["shadow", run, "decisions", filter, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<ShadowDecision>>(
        withQuery(pathOf("runs", run, "shadow", "decisions"), { ...filter, offset, limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: goesOn && offset === 0 ? LOOK : false,
  });

export const setShadowAlert = (run: string, below: number | null) =>
  request<ShadowSummary>(pathOf("runs", run, "shadow"), { method: "PUT", body: { alert_below: below } });

/** A plain address: the browser downloads it. */
export const shadowExportAddress = (run: string, as: "csv" | "json", filter: ShadowFilter) =>
  `/api/v1${withQuery(pathOf("runs", run, "shadow", "export"), { as, ...filter })}`;
