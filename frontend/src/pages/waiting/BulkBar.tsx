import type { WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { count } from "@/format/number";
import { requestSum } from "@/format/requestSum";

import classes from "./BulkBar.module.css";

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
    <div className={classes.bar} role="toolbar" aria-label="Marked pods">
      <b className="num">{count(rows.length)} marked</b>
      <span className={`${classes.sum} faint num`}>{requestSum(rows)}</span>
      <span className="grow" />
      <span className={classes.clear}><Button kind="ghost" size="sm" hint="Esc" onClick={onClear}>Clear</Button></span>
      <Button kind="danger" hint="r" disabled={!can} onClick={onReject}>Reject {count(rows.length)}…</Button>
      <Button kind="primary" hint="a" disabled={!can || asks === 0} onClick={onApprove}
        title={asks === rows.length ? undefined : asks === 0 ? "None of them asks a person: they go on by themselves, or by Override" : `${count(rows.length - asks)} of them wait for their group, not for a person`}>
        Approve {count(asks)}
      </Button>
    </div>
  );
}
