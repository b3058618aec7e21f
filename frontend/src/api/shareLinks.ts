/** Share links of a run: shapes, reads and writes. */
import { queryOptions } from "@tanstack/react-query";

import { pathOf, request } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type ShareLink = Schemas["ShareLink"];
export type ShareLinkCreated = Schemas["ShareLinkCreated"];

export const shareLinksQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "share-links"],
    queryFn: ({ signal }) => request<ShareLink[]>(pathOf("runs", run, "share-links"), { signal }),
    staleTime: 0,
  });

export const createShareLink = (run: string, name: string, expiresAt: string | null) =>
  request<ShareLinkCreated>(pathOf("runs", run, "share-links"), {
    method: "POST",
    body: { name, expires_at: expiresAt },
  });

export const revokeShareLink = (run: string, link: string) =>
  request(pathOf("runs", run, "share-links", link), { method: "DELETE" });
