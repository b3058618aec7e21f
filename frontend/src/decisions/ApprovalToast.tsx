import { Button, IconButton } from "@/components/Button";
import { CountdownRing } from "@/components/CountdownRing";
import { Icon } from "@/components/Icon";
import { useTick } from "@/components/useTick";
import { useKeys } from "@/keys/useKeys";

import { CANCEL_WINDOW, type PendingApproval } from "./approvals";
import classes from "./ApprovalToast.module.css";
import { approvals, useFailedApprovals, usePendingApprovals } from "./decide";

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
  const failed = useFailedApprovals();
  return (
    <div className={classes.stack}>
      {failed.map((one) => (
        <div key={one.id} className={classes.toast} role="alert">
          <Icon name="warning" size={18} className={classes.warning} />
          <div>
            <b>Approve failed, {one.pods.length === 1 ? "the pod still waits" : `${one.pods.length} pods still wait`}.</b>
            <p>{one.message}</p>
          </div>
          <Button size="sm" onClick={() => approvals.retry(one.id)}>Try again</Button>
          <IconButton icon="close" label="Close" iconSize={14} onClick={() => approvals.dismiss(one.id)} />
        </div>
      ))}
      <div role="status" className={classes.pending}>
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
    </div>
  );
}
