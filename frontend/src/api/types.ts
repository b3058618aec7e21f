/**
 * The API's shapes as the pages use them. One name per thing, so that a page never spells a path into a schema.
 */
export type StateKey = "gated" | "active" | "backoff" | "unschedulable" | "in_flight" | "waiting" | "bound";
export const STATE_KEYS: readonly StateKey[] = ["gated", "active", "backoff", "unschedulable", "in_flight", "waiting", "bound"];

export interface Window<T> {
  count: number;
  offset: number;
  limit: number;
  results: T[];
}

export type Role = "viewer" | "operator" | "editor";

export interface Me {
  username: string;
  initials: string;
  role: Role;
  csrf_token: string;
  mode: "embedded" | "distributed";
  version: string;
}

export interface PodRef {
  namespace: string;
  name: string;
  workload: string;
  tail: string;
}

export interface Rejector {
  plugin: string;
  count: number;
  short: string;
}

export interface PermitWait {
  plugin: string;
  deadline: string;
  total_seconds: number;
  asks_person: boolean;
  note?: string;
}

export interface Gang {
  name: string;
  have: number;
  need: number;
  missing_text?: string;
}

export type Requests = Record<string, string>;

export interface Card extends PodRef {
  kind: "pod" | "group";
  key: string;
  count: number;
  uid?: string;
  priority: number;
  priority_class?: string | null;
  attempts: number;
  since: string | null;
  position?: number | null;
  until?: string | null;
  gate?: string | null;
  rejectors?: Rejector[];
  point?: string | null;
  plugin?: string | null;
  node?: string | null;
  score?: number | null;
  margin?: number | null;
  ties?: number | null;
  waiting?: PermitWait[];
  gang?: Gang | null;
  requests?: Requests;
  group_key?: string | null;
  pods?: string[];
  column?: StateKey;
}

export interface Column {
  count: number;
  cards: Card[];
  more: number;
  note?: string | null;
  next_flush_at?: string | null;
}

export type CyclePointState = "done" | "current" | "next";

export interface Cycle {
  pod: PodRef;
  attempt: number;
  points: { point: string; state: CyclePointState }[];
  note: string;
}

export type RunState = "created" | "playing" | "paused" | "waiting_for_person" | "finished" | "stopped" | "failed";
export type Speed = "one" | 10 | 100 | "max";

export interface RunClock {
  mode: "virtual" | "real";
  now: string;
  start: string;
  speed: Speed;
}

export interface Worker {
  state: "live" | "lost" | "taking_over";
  since?: string | null;
}

export type Counts = Record<StateKey, number>;

export interface Run {
  id: string;
  number: string;
  snapshot: { id: string; name: string };
  configuration: { id: string; name: string; version_id: string; version: number; builtin: boolean };
  state: RunState;
  error?: string | null;
  seed: number;
  ties: string;
  approvals: string;
  clock: RunClock;
  attempts: number;
  points: number;
  counts: Counts;
  nodes: number;
  pods: number;
  started_at: string;
  started_by: string;
  worker: Worker;
  seq: number;
  not_evaluated: string[];
  arrivals?: { left: number; total: number; next_at: string | null } | null;
  size_bytes: number;
  engine_version: string;
}

export interface Board {
  seq: number;
  run: Run;
  cycle: Cycle | null;
  columns: Record<StateKey, Column>;
}

export interface NodesTable {
  seq: number;
  count: number;
  resources: string[];
  zones: { name: string; nodes: number }[];
  names: string[];
  zone: number[];
  pool: number[];
  pools: string[];
  type: number[];
  types: string[];
  cordoned: number[];
  tainted: number[];
  allocatable: number[][];
  requested: number[][];
  reserved: number[][];
  pods: [number, number, number][];
}

export interface NodeDetail {
  name: string;
  labels: Record<string, string>;
  taints: { key: string; value?: string; effect: string }[];
  cordoned: boolean;
  zone?: string;
  type?: string;
  resources: { name: string; allocatable: string; requested: string; reserved: string; free: string }[];
  pods: Window<Card>;
  conditions?: { type: string; status: string; reason?: string }[];
}

export interface Selection {
  attempt: number;
  verdict: number[];
  reasons: { plugin: string; text: string }[];
  total: (number | null)[];
  rank: (number | null)[];
  chosen: number | null;
}

export type FeedKind =
  | "bound" | "attempt" | "waiting" | "unschedulable" | "queue" | "backoff" | "decision" | "command" | "node" | "engine";
export interface FeedPart {
  t: "pod" | "node" | "text" | "num";
  v: string;
}

export interface FeedItem {
  id: number;
  at: string;
  kind: FeedKind;
  state?: StateKey | null;
  pods: PodRef[];
  count: number;
  parts: FeedPart[];
  highlight?: boolean;
}

export interface Snapshot {
  id: string;
  name: string;
  description: string;
  source: "sample" | "import" | "trace";
  created_at: string;
  digest: string;
  counts: {
    nodes: number;
    pods: number;
    pending: number;
    gated: number;
    namespaces: number;
    arrivals: number;
    departures: number;
    kinds: Record<string, number>;
  };
  bars: { zone: string; values: number[] }[];
  size_bytes: number;
  sample_version?: string | null;
}

export interface ImportKind {
  kind: string;
  count: number;
  used: boolean;
  detail?: string;
}

export interface Import {
  id: string;
  filename: string;
  size_bytes: number;
  received_bytes: number;
  state: "reading" | "ready" | "failed";
  error?: string | null;
  seconds?: number | null;
  counts: ImportKind[];
  pods: { total: number; pending: number; gated: number };
  namespaces: { name: string; pods: number }[];
  warnings: string[];
  filtered?: { nodes: number; pods: number; pending: number; unnamed_usage_pods: number } | null;
}

export interface Configuration {
  id: string;
  name: string;
  description: string;
  builtin: boolean;
  latest: { id: string; number: number; created_at?: string; author?: string; comment?: string };
  versions_count: number;
}

export type CommandInput =
  | { type: "play"; speed?: Speed }
  | { type: "pause" }
  | { type: "step"; what: "cycle" | "point" }
  | { type: "set_speed"; speed: Speed }
  | { type: "set_seed"; seed: number }
  | { type: "stop" }
  | { type: "pod_add"; manifest: string }
  | { type: "pod_delete"; namespace: string; name: string }
  | { type: "node_add"; manifest: string }
  | { type: "node_delete" | "node_cordon" | "node_uncordon" | "node_drain"; name: string }
  | { type: "pod_activate"; namespace: string; name: string }
  | { type: "set_configuration"; version: string }
  | {
      type: "decide";
      decision: "approve" | "reject" | "override";
      pods: { namespace: string; name: string; uid?: string }[];
      plugin?: string;
      reason?: string;
    };

export interface CommandReceipt {
  id: string;
  status: "pending" | "applied" | "refused";
}

export interface JournalEntry {
  id: string;
  client_id?: string | null;
  status: "pending" | "applied" | "refused";
  text?: string | null;
  author: string;
  reason?: string | null;
  at: string;
  position?: number | null;
  command: { type: string } & Record<string, unknown>;
  result?: unknown;
}

export interface ApiErrorBody {
  code: string;
  message: string;
  path?: string;
  line?: number;
  column?: number;
}
