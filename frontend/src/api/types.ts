/**
 * The API's shapes under the names the pages use: aliases of the generated schema, so a page never spells a path into it.
 * Serializers that only ever answer mark every field as optional; `Required` says that the answers are complete.
 */
import type { components } from "./schema";

type Schemas = components["schemas"];

/** The queues; a pod that has ended, or is gone, is in none. */
export type StateKey = Exclude<Schemas["QueueEnum"], "completed" | "deleted">;
export const STATE_KEYS: readonly StateKey[] = [
  "gated",
  "active",
  "backoff",
  "unschedulable",
  "in_flight",
  "waiting",
  "bound",
];

export interface Window<T> {
  count: number;
  offset: number;
  limit: number;
  results: T[];
}

export type Role = Schemas["RoleEnum"];
export type Me = Schemas["Me"];
export type ApiErrorBody = Schemas["ErrorBody"];

export type PodRef = Schemas["PodRef"];
export type Rejector = Schemas["Rejector"];
export type PermitWait = Schemas["PermitWait"];
export type Gang = Schemas["Gang"];
export type Card = Schemas["Card"];
export type Column = Schemas["Column"];
export type Cycle = Schemas["Cycle"];
export type CyclePointState = Schemas["CyclePointStateEnum"];
export type Board = Schemas["Board"];
export type Run = Schemas["Run"];
export type RunState = Schemas["RunStateEnum"];
export const RUN_STATES: readonly RunState[] = [
  "created",
  "playing",
  "paused",
  "waiting_for_person",
  "finished",
  "stopped",
  "parked",
];
export type RunsDeleted = Schemas["RunsDeleted"];
export type RunClock = Schemas["Clock"];
export type Speed = RunClock["speed"];
export type Worker = Schemas["Worker"];
export type Counts = Schemas["QueueCounts"];
export type NodesTable = Schemas["NodesTable"];
export type NodeDetail = Schemas["NodeDetail"];
export type NodeLoad = Schemas["NodeLoad"];
export type Selection = Schemas["Selection"];
export type FeedItem = Schemas["FeedItem"];
export type FeedPart = Schemas["FeedPart"];
export type PodDetail = Schemas["PodDetail"];

export type Snapshot = Required<Schemas["Snapshot"]>;
export type SnapshotCounts = Schemas["Counts"];
export type Import = Required<Schemas["Import"]>;

export type Timeline = Schemas["Timeline"];
export type Mark = Schemas["Mark"];
export type Step = Schemas["Step"];
export type ForkInput = Partial<Schemas["ForkRequest"]>;

export type CommandInput = Omit<Schemas["CommandRequestRequest"], "client_id">;
export type CommandType = CommandInput["type"];
export type CommandReceipt = Schemas["CommandReceipt"];
export type JournalEntry = Schemas["JournalEntry"];

export interface Configuration {
  id: string;
  name: string;
  description: string;
  builtin: boolean;
  slug?: string;
  latest: { id: string; number: number };
  versions_count: number;
}
