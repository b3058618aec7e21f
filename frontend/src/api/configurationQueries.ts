/** Reads and writes of configurations. Keys start with "configurations", so one invalidation covers a save. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type {
  CheckRequest,
  CheckResult,
  Comparison,
  Conversion,
  ConfigurationChange,
  ConfigurationSummary,
  PluginDescription,
  Preset,
  TextFormat,
  Version,
  VersionDetail,
} from "./configurationTypes";
import type { Window } from "./types";

export const VERSIONS_SHOWN = 4;

export const configurationListQuery = (limit = 100) =>
  queryOptions({
    queryKey: ["configurations", "list", limit],
    queryFn: ({ signal }) =>
      request<Window<ConfigurationSummary>>(withQuery("/configurations/", { limit }), { signal }),
  });

export const configurationQuery = (id: string) =>
  queryOptions({
    queryKey: ["configurations", id],
    queryFn: ({ signal }) => request<ConfigurationSummary>(pathOf("configurations", id), { signal }),
  });

export const versionsQuery = (id: string, limit = VERSIONS_SHOWN) =>
  queryOptions({
    queryKey: ["configurations", id, "versions", limit],
    queryFn: ({ signal }) =>
      request<Window<Version>>(withQuery(pathOf("configurations", id, "versions"), { limit }), { signal }),
    placeholderData: keepPreviousData,
  });

/** A version never changes, so it is read once. */
export const versionQuery = (id: string, number: number) =>
  queryOptions({
    queryKey: ["configurations", id, "version", number],
    queryFn: ({ signal }) => request<VersionDetail>(pathOf("configurations", id, "versions", number), { signal }),
    staleTime: Infinity,
  });

export const versionDiffQuery = (id: string, number: number) =>
  queryOptions({
    queryKey: ["configurations", id, "diff", number],
    queryFn: ({ signal }) => request<Comparison>(pathOf("configurations", id, "versions", number, "diff"), { signal }),
    staleTime: Infinity,
  });

export const pluginsQuery = queryOptions({
  queryKey: ["plugins"],
  queryFn: ({ signal }) => request<PluginDescription[]>("/plugins/", { signal }),
  staleTime: Infinity,
});

export const presetsQuery = queryOptions({
  queryKey: ["presets"],
  queryFn: ({ signal }) => request<Preset[]>("/presets/", { signal }),
  staleTime: Infinity,
});

export const checkText = (body: CheckRequest, signal?: AbortSignal): Promise<CheckResult> =>
  request<CheckResult>("/configurations/check/", { method: "POST", body, ...(signal ? { signal } : {}) });

/** What an older file, or a command line, is in v1. */
export const convertQuery = (text: string, flags: string) =>
  queryOptions({
    queryKey: ["conversion", text, flags],
    queryFn: ({ signal }) =>
      request<Conversion>("/configurations/convert/", { method: "POST", body: { text, flags }, signal }),
    staleTime: Infinity,
    retry: false,
  });

/** Whether a text can be converted; of an imported file, which has no draft yet. */
export const olderQuery = (text: string) =>
  queryOptions({
    queryKey: ["conversion", "asked", text],
    queryFn: async ({ signal }) => (await checkText({ text }, signal)).older,
    staleTime: Infinity,
  });

export const saveVersion = (
  id: string,
  body: { text: string; base_version: number; comment: string },
): Promise<VersionDetail> => request<VersionDetail>(pathOf("configurations", id, "versions"), { method: "POST", body });

export interface NewConfiguration {
  name: string;
  text?: string;
  preset?: string;
  description?: string;
  comment?: string;
}

export const createConfiguration = (body: NewConfiguration): Promise<ConfigurationSummary> =>
  request<ConfigurationSummary>("/configurations/", { method: "POST", body });

export const deleteConfiguration = (id: string): Promise<undefined> =>
  request<undefined>(pathOf("configurations", id), { method: "DELETE" });

export const changeConfiguration = (id: string, body: ConfigurationChange): Promise<ConfigurationSummary> =>
  request<ConfigurationSummary>(pathOf("configurations", id), { method: "PATCH", body });

/** The address of the real file, for a download. */
export const exportAddress = (id: string, number: number, format: TextFormat): string =>
  `/api/v1${withQuery(pathOf("configurations", id, "versions", number, "export"), { format })}`;
