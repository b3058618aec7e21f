/** What was deleted, and what is kept: shapes, reads and writes. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";
import type { Run, Window } from "./types";

type Schemas = components["schemas"];

export type Deleted = Schemas["Deleted"];
export type DeletedKind = Deleted["kind"];
export type Storage = Schemas["Storage"];
export type StoredKind = Schemas["StoredKind"];
export type StoredRun = Schemas["StoredRun"];
export type SeveralDone = Schemas["SeveralDone"];

/** One thing that is deleted or brought back. */
export interface Named {
  kind: DeletedKind;
  id: string;
}

export const deletedQuery = (offset = 0, limit = 50) =>
  queryOptions({
    queryKey: ["deleted", { offset, limit }],
    queryFn: ({ signal }) => request<Window<Deleted>>(withQuery("/deleted/", { offset, limit }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const restoreDeleted = (items: readonly Named[]) =>
  request<SeveralDone>("/deleted/restore/", { method: "POST", body: { items } });

export const removeDeleted = (items: readonly Named[]) =>
  request<SeveralDone>("/deleted/remove/", { method: "POST", body: { items } });

export const storageQuery = queryOptions({
  queryKey: ["storage"],
  queryFn: ({ signal }) => request<Storage>("/storage/", { signal }),
  staleTime: 0,
});

export const storedRunsQuery = (search: { person?: string | undefined; offset: number; limit: number }) =>
  queryOptions({
    queryKey: ["storage", "runs", search],
    queryFn: ({ signal }) => request<Window<StoredRun>>(withQuery("/storage/runs/", { ...search }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** A run with a star is kept whatever its age. */
export const starRun = (run: string) => request<Run>(pathOf("runs", run, "star"), { method: "POST" });

export const unstarRun = (run: string) => request<null>(pathOf("runs", run, "star"), { method: "DELETE" });

/** Seconds are enough to be told before a command is refused, and to see that it has passed. */
const TROUBLE_EVERY = 10_000;
const TROUBLE_AGAIN = 3_000;

export const storageTroubleQuery = queryOptions({
  queryKey: ["storage-trouble"],
  queryFn: ({ signal }) => request<Schemas["StorageTrouble"]>("/storage/trouble/", { signal }),
  staleTime: 0,
  retry: false,
  refetchInterval: ({ state }) => ((state.data?.trouble ?? null) === null ? TROUBLE_EVERY : TROUBLE_AGAIN),
});
