import { Button } from "@/components/Button";
import { CountdownRing } from "@/components/CountdownRing";
import { useTick } from "@/components/useTick";
import { useKeys } from "@/keys/useKeys";

import { CANCEL_WINDOW, type PendingApproval } from "./approvals";
import classes from "./ApprovalToast.module.css";
import { approvals, usePendingApprovals } from "./decide";

const NAMED = 6;

function names(approval: PendingApproval): string {
  const byWorkload = new Map<string, string[]>();
  for (const pod of approval.pods.slice(0, NAMED)) {
    byWorkload.set(pod.workload, [...(byWorkload.get(pod.workload) ?? []), pod.tail]);
  }
  const text = [...byWorkload].map(([workload, tails]) => `${workload} ${tails.filter(Boolean).join(", ")}`.trim()).join("; ");
  const more = approval.pods.length - NAMED;
  return more > 0 ? `${text} and ${more} more` : text;
}

/** "Approving 3 pods in 3 s", with the ring and Cancel, until it is sent. */
export function ApprovalToast() {
  const pending = usePendingApprovals();
  const now = useTick(pending.length > 0);
  useKeys(pending.length === 0 ? [] : [
    { keys: "z", label: "Cancel the pending approval", group: "Decide", run: () => approvals.cancel() },
  ]);
  return (
    <div className={classes.stack} role="status">
      {pending.map((approval) => {
        const left = Math.max(0, approval.sendAt - now);
        const whole = Math.ceil(left / 1000);
        const what = approval.pods.length === 1 ? "1 pod" : `${approval.pods.length} pods`;
        return (
          <div key={approval.id} className={classes.toast}>
            <CountdownRing share={left / CANCEL_WINDOW} size={30} stroke={3} label={String(whole)} />
            <div>
              <b>Approving {what}<span aria-hidden="true"> in {whole} s</span></b>
              <p>{names(approval)}. Binding can’t be undone.</p>
            </div>
            <Button size="sm" hint="z" onClick={() => approvals.cancel(approval.id)}>Cancel</Button>
          </div>
        );
      })}
    </div>
  );
}
