/** Real clusters: shapes, reads and writes. */
import { queryOptions } from "@tanstack/react-query";

import { pathOf, request } from "./client";
import type { components } from "./schema";
import type { Import } from "./types";

type Schemas = components["schemas"];

export type Cluster = Schemas["Cluster"];
export type ClusterDetails = Schemas["ClusterDetails"];
export type ClusterKind = Schemas["ClusterKind"];
export type ClusterMode = Schemas["ClusterMode"];
export type Followed = Schemas["Followed"];
export type ClusterRule = Schemas["ClusterRule"];

const ASK_AGAIN = 1000;

export const clustersQuery = queryOptions({
  queryKey: ["clusters"],
  queryFn: ({ signal }) => request<Schemas["Clusters"]>("/clusters/", { signal }),
  staleTime: 0,
  refetchInterval: 2 * ASK_AGAIN,
});

export const clusterQuery = (name: string) =>
  queryOptions({
    queryKey: ["clusters", name],
    queryFn: ({ signal }) => request<ClusterDetails>(pathOf("clusters", name), { signal }),
    staleTime: 0,
    refetchInterval: ASK_AGAIN,
  });

export const connectCluster = (name: string) =>
  request<ClusterDetails>(pathOf("clusters", name, "connect"), { method: "POST" });

export const disconnectCluster = (name: string) => request(pathOf("clusters", name, "disconnect"), { method: "POST" });

export const askCluster = (name: string) => request(pathOf("clusters", name, "ask"), { method: "POST" });

export const snapshotCluster = (name: string) =>
  request<Import>(pathOf("clusters", name, "snapshot"), { method: "POST" });

export type ShadowWay = Schemas["WayEnum"];

export interface FollowWish {
  /** A version; without one kube-scheduler's own configuration. */
  configuration?: string;
  /** The configuration decides beside the cluster's scheduler. */
  shadow?: ShadowWay;
  /** How much is kept of the run. */
  megabytes?: number;
  /** After which it is stopped by itself. */
  minutes?: number;
}

/** First of all the cluster is read: `reading` says how far, and is asked about again until there is a run. */
export const followCluster = (name: string, wish: FollowWish, reading?: string) =>
  request<Schemas["FollowAnswer"]>(pathOf("clusters", name, "follow"), {
    method: "POST",
    body: {
      ...(reading === undefined ? {} : { import_id: reading }),
      ...(wish.configuration === undefined ? {} : { configuration_version: wish.configuration }),
      ...(wish.shadow === undefined ? {} : { shadow: true, way: wish.shadow }),
      ...(wish.megabytes === undefined ? {} : { megabytes: wish.megabytes }),
      ...(wish.minutes === undefined ? {} : { minutes: wish.minutes }),
    },
  });

export interface ScheduleWish {
  /** The cluster's name, as a person typed it. */
  typed: string;
  configuration_version: string;
  scheduler_names: string[];
  /** Empty: all of them. */
  namespaces: string[];
  /** 0: as many as there are. */
  bindings_per_minute: number;
  node_selector: Record<string, string>;
  dry_run: boolean;
  /** How much is kept of the run. */
  megabytes: number;
}

/** As `followCluster`; what the run decides is written to the cluster. */
export const scheduleCluster = (name: string, wish: ScheduleWish, reading?: string) =>
  request<Schemas["FollowAnswer"]>(pathOf("clusters", name, "schedule"), {
    method: "POST",
    body: { ...(reading === undefined ? {} : { import_id: reading }), ...wish },
  });

/** Of a run that follows a cluster: how that is read. */
export const followedQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "follow"],
    queryFn: ({ signal }) => request<Followed>(pathOf("runs", run, "follow"), { signal }),
    staleTime: 0,
    refetchInterval: 2 * ASK_AGAIN,
  });

/** How much is kept of such a run, from now on. */
export const keepAtMost = (run: string, megabytes: number) =>
  request<Followed>(pathOf("runs", run, "follow"), { method: "PUT", body: { megabytes } });

/** When such a run is stopped by itself; null: when somebody stops it. */
export const endAt = (run: string, until: string | null) =>
  request<Followed>(pathOf("runs", run, "follow"), { method: "PUT", body: { until } });
