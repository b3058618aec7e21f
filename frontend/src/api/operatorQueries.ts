/** What operators of kube-scheduler read, of a run: its Events, and where its metrics are. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type RunEvent = Schemas["Event"];
export type EventWindow = Schemas["EventWindow"];

export interface EventFilter {
  q?: string | undefined;
  reason?: string | undefined;
}

/** `position`: they are read again when the run has moved on. */
export const eventsQuery = (run: string, position: number, filter: EventFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["run", run, "events", position, filter, offset, limit],
    queryFn: ({ signal }) =>
      request<EventWindow>(withQuery(pathOf("runs", run, "events"), { ...filter, offset, limit }), { signal }),
    placeholderData: keepPreviousData,
  });

/** Plain addresses: the browser opens or downloads them. */
export const eventFileAddress = (run: string, as: "table" | "json") =>
  `/api/v1${withQuery(pathOf("runs", run, "events", "file"), { as })}`;
export const metricsAddress = (run: string) => `/api/v1${pathOf("runs", run, "metrics")}`;
export const resourceMetricsAddress = (run: string) => `/api/v1${pathOf("runs", run, "metrics", "resources")}`;
