import type { WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { requestSum } from "@/format/requestSum";

import classes from "./BulkBar.module.css";
import { t } from "./texts";

interface BulkBarProps {
  rows: readonly WaitingRow[];
  can: boolean;
  onClear: () => void;
  onReject: () => void;
  onApprove: () => void;
}

/** What can be done with everything that is marked. */
export function BulkBar({ rows, can, onClear, onReject, onApprove }: BulkBarProps) {
  const asks = rows.filter((row) => row.decidable).length;
  return (
    <div className={classes.bar} role="toolbar" aria-label={t("markedPods")}>
      <b className="num">{t("rowsMarked", { rows: rows.length })}</b>
      <span className={`${classes.sum} faint num`}>{requestSum(rows)}</span>
      <span className="grow" />
      <span className={classes.clear}>
        <Button kind="ghost" size="sm" hint="Esc" onClick={onClear}>
          {t("clear")}
        </Button>
      </span>
      <Button kind="danger" hint="r" sends disabled={!can} onClick={onReject}>
        {t("rejectRows", { rows: rows.length })}
      </Button>
      <Button
        kind="primary"
        hint="a"
        sends
        disabled={!can || asks === 0}
        onClick={onApprove}
        title={
          asks === rows.length
            ? undefined
            : asks === 0
              ? t("noneOfThemAsksA")
              : t("ofThemWaitForTheir", { rows: rows.length - asks })
        }
      >
        {t("approveAsks", { asks })}
      </Button>
    </div>
  );
}
