/**
 * Every message of the WebSocket, both ways; the server's twin is schedweb/runs/wire/messages.py. `parseServerMessage` is the
 * only way in: what it does not know is dropped, so a newer server cannot break an older page.
 */
import type { Column, Counts, Cycle, FeedItem, Run, RunClock, RunState, StateKey, Worker } from "@/api/types";
import type { Language } from "@/languages/language";

export interface Subscribe {
  type: "subscribe";
  run: string;
  language: Language;
}
export interface Unsubscribe {
  type: "unsubscribe";
  run: string;
}
export interface Ping {
  type: "ping";
  id: number;
}
export type ClientMessage = Subscribe | Unsubscribe | Ping;

export interface Hello {
  type: "hello";
  version: string;
  protocol?: number;
}
export interface Subscribed {
  type: "subscribed";
  run: string;
  seq: number;
}
/** The engine's row number; requested and reserved per resource; pods bound, waiting, in flight. */
export type NodeChange = [row: number, requested: number[], reserved: number[], pods: number[]];
export interface RunDelta {
  type: "run.delta";
  run: string;
  seq: number;
  previous: number;
  at: string;
  state: RunState;
  clock: RunClock;
  counts: Counts;
  attempts: number;
  points: number;
  position: number;
  worker: Worker;
  cycle: Cycle | null;
  columns: Partial<Record<StateKey, Column>>;
  nodes: NodeChange[];
  arrivals: Run["arrivals"];
  unwritten?: number;
  topology?: boolean;
  feed: FeedItem[];
  rate?: number | null;
  breakpoints?: Run["breakpoints"];
  hit?: Run["hit"];
  error?: string | null;
}
export interface RunResync {
  type: "run.resync";
  run: string;
}
export interface WaitingCount {
  type: "waiting.count";
  count: number;
  person: number;
}
export interface RunsChanged {
  type: "runs.changed";
  run: string;
  change?: "created" | "changed" | "deleted";
}
/** A question about the run (POST …/analyses/) got on; the answer itself is fetched. */
export interface AnalysisChanged {
  type: "analysis.changed";
  run: string;
  id: string;
  name: string;
  status: string;
}
export interface Pong {
  type: "pong";
  id: number;
}
export interface ServerError {
  type: "error";
  code: string;
  message: string;
}
export type ServerMessage =
  Hello | Subscribed | RunDelta | RunResync | WaitingCount | RunsChanged | AnalysisChanged | Pong | ServerError;

const KNOWN: ReadonlySet<string> = new Set<ServerMessage["type"]>([
  "hello",
  "subscribed",
  "run.delta",
  "run.resync",
  "waiting.count",
  "runs.changed",
  "analysis.changed",
  "pong",
  "error",
]);

export function parseServerMessage(text: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const type = (value as { type?: unknown }).type;
  return typeof type === "string" && KNOWN.has(type) ? (value as ServerMessage) : null;
}
