/** A run that is paused between two cycles, and the board's view of it. */
import type { Run } from "@/api/types";
import type { RunView } from "@/live/runStore";

export const aRun = (more: Partial<Run> = {}): Run =>
  ({
    id: "r",
    number: "r-0007",
    moment: null,
    configuration: { id: "c", version_id: "v1", name: "shop" },
    state: "paused",
    error: null,
    parked: null,
    seed: 7,
    ties: "first",
    clock: { mode: "virtual", now: "2026-01-01T10:00:00Z", start: "2026-01-01T10:00:00Z", speed: 10 },
    attempts: 20,
    position: 40,
    points: 3,
    follows: "",
    parent: null,
    breakpoints: [],
    hit: null,
    counts: { gated: 0, active: 0, backoff: 0, unschedulable: 0, in_flight: 0, waiting: 0, bound: 0 },
    unwritten: 0,
    worker: { state: "here", since: null },
    size_bytes: 4_096,
    starred: null,
    breakdowns_gone: null,
    thinned: null,
    engine_version: "v1.36",
    ...more,
  }) as unknown as Run;

export const viewOf = (run: Run, more: Partial<RunView> = {}): RunView => ({
  status: "ready",
  error: null,
  seq: 1,
  run,
  cycle: null,
  columns: null,
  rate: null,
  receivedAt: 0,
  ...more,
});
