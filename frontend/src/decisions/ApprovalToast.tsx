import { Button, IconButton } from "@/components/Button";
import { CountdownRing } from "@/components/CountdownRing";
import { Icon } from "@/components/Icon";
import { useTick } from "@/components/useTick";
import { listed, series } from "@/format/lists";
import { useKeys } from "@/keys/useKeys";

import { CANCEL_WINDOW, type PendingApproval, realClusters } from "./approvals";
import classes from "./ApprovalToast.module.css";
import { approvals, useFailedApprovals, usePendingApprovals } from "./decide";
import { t } from "./texts";

const NAMED = 6;

function names(approval: PendingApproval): string {
  const byWorkload = new Map<string, string[]>();
  for (const pod of approval.pods.slice(0, NAMED)) {
    byWorkload.set(pod.workload, [...(byWorkload.get(pod.workload) ?? []), pod.tail]);
  }
  const text = series(
    [...byWorkload].map(([workload, tails]) => `${workload} ${listed(tails.filter(Boolean))}`.trim()),
  );
  const more = approval.pods.length - NAMED;
  return more > 0 ? t("andMore", { text, more }) : text;
}

/** "Approving 3 pods in 3 s", with the ring and Cancel, until it is sent. */
export function ApprovalToast() {
  const pending = usePendingApprovals();
  const now = useTick(pending.length > 0);
  useKeys(
    pending.length === 0
      ? []
      : [{ keys: "z", label: t("cancelThePendingApproval"), group: t("decide"), run: () => approvals.cancel() }],
  );
  const failed = useFailedApprovals();
  return (
    <div className={classes.stack}>
      {failed.map((one) => (
        <div key={one.id} className={classes.toast} role="alert">
          <Icon name="warning" size={18} className={classes.warning} />
          <div>
            <b>{one.pods.length === 1 ? t("approveFailedOne") : t("approveFailed", { count: one.pods.length })}</b>
            <p>{one.message}</p>
          </div>
          <Button size="sm" sends onClick={() => approvals.retry(one.id)}>
            {t("tryAgain")}
          </Button>
          <IconButton icon="close" label={t("close")} iconSize={14} onClick={() => approvals.dismiss(one.id)} />
        </div>
      ))}
      <div role="status" className={classes.pending}>
        {pending.map((approval) => {
          const left = Math.max(0, approval.sendAt - now);
          const whole = Math.ceil(left / 1000);
          return (
            <div key={approval.id} className={classes.toast}>
              <CountdownRing share={left / CANCEL_WINDOW} size={30} stroke={3} label={String(whole)} />
              <div>
                <b>
                  {t("approving", { count: approval.pods.length })}
                  {approval.held === true ? null : <span aria-hidden="true"> {t("inS", { whole })}</span>}
                </b>
                <p>
                  {approval.held === true
                    ? t("heldUntilTheServer", { names: names(approval) })
                    : realClusters(approval.pods).length > 0
                      ? t("bindsForReal", {
                          names: names(approval),
                          contexts: listed(realClusters(approval.pods)),
                        })
                      : t("bindingCantBeUndone", { names: names(approval) })}
                </p>
              </div>
              <Button size="sm" hint="z" onClick={() => approvals.cancel(approval.id)}>
                {t("cancel")}
              </Button>
            </div>
          );
        })}
      </div>
    </div>
  );
}
