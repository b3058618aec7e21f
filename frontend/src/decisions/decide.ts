/** The page's one approvals store, and the decisions that are sent at once. */
import { useSyncExternalStore } from "react";

import { perform } from "@/live/commands";
import type { CommandOutcome } from "@/live/messages";
import { refusal, whenReached } from "@/live/reach";
import { notify } from "@/shell/notify";

import { Approvals, type DecidedPod, type FailedApproval, type PendingApproval, podKey } from "./approvals";

export function targets(pods: readonly DecidedPod[]) {
  return pods.map(({ namespace, name, uid }) => ({ namespace, name, ...(uid === undefined ? {} : { uid }) }));
}

/** Says it when somebody or something was faster: "Already decided by mira at 10:01:19." */
export function tellLate(entry: CommandOutcome | null): void {
  for (const late of (entry?.result?.pods ?? []).filter((one) => one.decided === false)) {
    notify({ title: podKey(late), text: `${late.outcome.charAt(0).toUpperCase()}${late.outcome.slice(1)}.` });
  }
}

export const approvals = new Approvals({
  now: () => Date.now(),
  setTimer: (callback, milliseconds) => window.setTimeout(callback, milliseconds),
  clearTimer: (handle) => window.clearTimeout(handle),
  send: (approval) =>
    perform(approval.run, {
      type: "decide",
      decision: "approve",
      pods: targets(approval.pods),
      ...(approval.reason === "" ? {} : { reason: approval.reason }),
    }),
  sent: (_approval, entry) => tellLate(entry),
  refusal: () => refusal(),
  refused: (why) => notify({ kind: "error", title: why }),
  whenReached,
});

export async function reject(run: string, pods: readonly DecidedPod[], reason: string): Promise<void> {
  tellLate(await perform(run, { type: "decide", decision: "reject", pods: targets(pods), reason }));
}

/** Lets pods go although the plugin would wait on; always with a reason. */
export async function override(
  run: string,
  pods: readonly DecidedPod[],
  reason: string,
  plugin: string,
): Promise<void> {
  const entry = await perform(run, {
    type: "decide",
    decision: "override",
    pods: targets(pods),
    reason,
    plugin,
  });
  tellLate(entry);
}

export function usePendingApprovals(): readonly PendingApproval[] {
  return useSyncExternalStore(approvals.watch, approvals.getPending);
}

export function useFailedApprovals(): readonly FailedApproval[] {
  return useSyncExternalStore(approvals.watch, approvals.getFailures);
}

/** When the first of the pods is sent, if all of them are about to be approved; else null. */
export function useDue(pods: readonly { run: string; namespace: string; name: string }[]): number | null {
  return useSyncExternalStore(approvals.watch, () => {
    const dues = pods.map((pod) => approvals.due(pod.run, pod)).filter((due) => due !== null);
    return dues.length === pods.length && dues.length > 0 ? Math.min(...dues) : null;
  });
}
