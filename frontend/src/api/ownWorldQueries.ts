/** A shadow on its own: our world beside the real cluster. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { ShadowPods } from "./shadowQueries";
import type { Window } from "./types";

type Schemas = components["schemas"];

export type OwnWorld = Schemas["OwnWorld"];
export type OwnWorldPod = Schemas["OwnWorldPod"];
export type OwnWorldKind = Schemas["OwnWorldPodKindEnum"];
export const OWN_WORLD_DIFFERENT = [
  "elsewhere",
  "pending_here",
  "pending_there",
  "evicted_here",
  "evicted_there",
] as const satisfies readonly OwnWorldKind[];
export const OWN_WORLD_KINDS = [
  ...OWN_WORLD_DIFFERENT,
  "neither",
  "gated",
  "same",
] as const satisfies readonly OwnWorldKind[];

export interface OwnWorldFilter extends ShadowPods {
  kind?: OwnWorldKind | undefined;
  q?: string | undefined;
}

/** Both worlds change all the time: while the run plays they are laid beside each other again and again. */
const AGAIN = 4000;

export const ownWorldQuery = (run: string, pods: ShadowPods, plays: boolean) =>
  queryOptions({
    queryKey: ["own-world", run, pods],
    queryFn: ({ signal }) =>
      request<OwnWorld>(withQuery(pathOf("runs", run, "shadow", "world"), { ...pods }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: plays ? AGAIN : false,
  });

/** Later pages stay as they are read: their rows would move. */
export const ownWorldPodsQuery = (run: string, filter: OwnWorldFilter, offset: number, limit: number, plays: boolean) =>
  queryOptions({
    queryKey: ["own-world", run, "pods", filter, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<OwnWorldPod>>(
        withQuery(pathOf("runs", run, "shadow", "world", "pods"), { ...filter, offset, limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: plays && offset === 0 ? AGAIN : false,
  });

/** A plain address: the browser downloads it. */
export const ownWorldExportAddress = (run: string, as: "csv" | "json", filter: OwnWorldFilter) =>
  `/api/v1${withQuery(pathOf("runs", run, "shadow", "world", "export"), { as, ...filter })}`;
