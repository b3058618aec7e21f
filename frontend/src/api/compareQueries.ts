/** Two runs side by side: shapes and reads. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Window } from "./types";

type Schemas = components["schemas"];

export type Comparison = Schemas["RunComparison"];
/** What a cluster came to: of a run, or of a real one. */
export type ComparedFigures = Schemas["ComparedFigures"];
export type ComparedResource = Schemas["ComparedResource"];
/** Two clusters beside each other. */
export interface Sides {
  a: ComparedFigures;
  b: ComparedFigures;
}
export type DifferenceKind = Schemas["DifferenceKindEnum"];
export type PodDifference = Schemas["PodDifference"];
export type Cause = Schemas["Cause"];
export type Swing = Schemas["Swing"];

export const comparisonQuery = (a: string, b: string) =>
  queryOptions({
    queryKey: ["comparison", a, b],
    queryFn: ({ signal }) => request<Comparison>(pathOf("runs", a, "comparison", b), { signal }),
    staleTime: 0,
  });

/** What B's configuration changes against A's. */
export const comparedConfigurationsQuery = (a: string, b: string) =>
  queryOptions({
    queryKey: ["comparison", a, b, "configurations"],
    queryFn: ({ signal }) =>
      request<Schemas["Comparison"]>(pathOf("runs", a, "comparison", b, "configurations"), { signal }),
  });

export interface DifferenceFilter {
  kind?: DifferenceKind | undefined;
  q?: string | undefined;
}

export const differencesQuery = (a: string, b: string, filter: DifferenceFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["comparison", a, b, "pods", filter, offset, limit],
    queryFn: ({ signal }) =>
      request<Window<PodDifference>>(
        withQuery(pathOf("runs", a, "comparison", b, "pods"), { ...filter, offset, limit }),
        { signal },
      ),
    placeholderData: keepPreviousData,
  });

/** A plain address: the browser downloads it. */
export const exportAddress = (a: string, b: string, as: "csv" | "json", filter: DifferenceFilter) =>
  `/api/v1${withQuery(pathOf("runs", a, "comparison", b, "export"), { as, ...filter })}`;
