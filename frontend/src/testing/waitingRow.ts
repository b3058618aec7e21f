/** A pod that waits for a person, at ten o'clock of its run; `left` are the seconds until it is rejected. */
import type { WaitingRow } from "@/api/waitingTypes";

const NOW = Date.UTC(2026, 0, 1, 10);

export const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

export function waitingRow(name: string, left: number, more: Partial<WaitingRow> = {}): WaitingRow {
  return {
    run: "r1",
    run_number: "r-0001",
    fork_of: null,
    run_name: "shop",
    namespace: "ml",
    name,
    workload: name,
    tail: "",
    uid: name,
    node: "n1",
    score: 10,
    margin: 2,
    ties: 1,
    requests: {},
    why: "",
    since: at(-5),
    waiting_on: [{ plugin: "ManualApproval", deadline: at(left), total_seconds: 600, asks_person: true }],
    at_zero: "Rejected, back to Unschedulable",
    gang: null,
    asked_again: null,
    decidable: true,
    held: false,
    run_state: "playing",
    binds_in: "",
    dry_run: false,
    now: at(0),
    ...more,
  };
}
