/** A run beside the real cluster: shapes and reads. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Window } from "./types";

type Schemas = components["schemas"];

export type RealSummary = Schemas["RealSummary"];
export type RealKind = Schemas["RealKindEnum"];
export type RealRow = Schemas["RealRow"];
export type RealCause = Schemas["RealCause"];
export type AddedEvents = Schemas["AddedEvents"];

export const realQuery = (run: string) =>
  queryOptions({
    queryKey: ["real", run],
    queryFn: ({ signal }) => request<RealSummary>(pathOf("runs", run, "real"), { signal }),
    staleTime: 0,
  });

export interface RealFilter {
  kind?: RealKind | undefined;
  q?: string | undefined;
  /** "namespace/name" */
  pod?: string | undefined;
}

export const realPodsQuery = (run: string, filter: RealFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["real", run, "pods", filter, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<RealRow>>(withQuery(pathOf("runs", run, "real", "pods"), { ...filter, offset, limit }), {
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** A plain address: the browser downloads it. */
export const realExportAddress = (run: string, as: "csv" | "json", filter: RealFilter) =>
  `/api/v1${withQuery(pathOf("runs", run, "real", "export"), { as, ...filter })}`;

/** Pods with kube-scheduler-simulator's annotations. */
export const annotationsAddress = (run: string, as: "yaml" | "json") =>
  `/api/v1${withQuery(pathOf("runs", run, "annotations"), { as })}`;
