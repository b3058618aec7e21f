/** What each queue is called, in Kubernetes' words, with a plain sentence for hover and the words for an empty column. */
import type { Card, StateKey } from "@/api/types";

interface StateWords {
  title: string;
  plain: string;
  empty: string;
}

export const STATES: Record<StateKey, StateWords> = {
  gated: {
    title: "Gated",
    plain: "spec.schedulingGates keeps these pods out of the queue until every gate is removed.",
    empty: "No pod is held by a gate.",
  },
  active: { title: "Active", plain: "activeQ: pods that are tried next, in QueueSort order.", empty: "Nothing to do." },
  backoff: { title: "Backoff", plain: "backoffQ: pods that wait a little before the next try.", empty: "Nobody waits for a retry." },
  unschedulable: {
    title: "Unschedulable",
    plain: "Pods that no node takes, until an event may have changed a plugin's mind.",
    empty: "Every pod tried so far fits.",
  },
  in_flight: { title: "In flight", plain: "Pods in a scheduling or binding cycle right now.", empty: "Paused between two cycles." },
  waiting: {
    title: "Waiting on Permit",
    plain: "Pods with a chosen node that a Permit plugin holds, each with its time limit.",
    empty: "Nobody waits on Permit.",
  },
  bound: { title: "Bound", plain: "Pods placed on a node, newest first.", empty: "Nothing placed yet, press Play." },
};

/** The queue a pod is in, or null when it is gone from the run. */
export function queueOf(card: Pick<Card, "column">): StateKey | null {
  return card.column === undefined || card.column === "deleted" ? null : card.column;
}
