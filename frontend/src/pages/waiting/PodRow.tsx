/** A pod in the inbox. */
import { Link } from "@tanstack/react-router";

import type { WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { useDue } from "@/decisions/decide";
import { requestText } from "@/format/resources";
import { age, exact, seconds } from "@/format/time";
import { LiveChip } from "@/scheduling/LiveChip";

import { Approving } from "./Approving";
import { atZero, keyOf, scoreText } from "./inbox";
import type { InboxStore, InboxView } from "./inboxStore";
import classes from "./InboxTable.module.css";
import { Mark } from "./Mark";
import { rich, t } from "./texts";
import { WaitLine } from "./WaitLine";

export interface InboxTableProps {
  store: InboxStore;
  view: InboxView;
  /** Several runs are shown, so every row says which. */
  manyRuns: boolean;
  mayDecide: boolean;
  /** What time it is in the row's run. */
  nowOf: (row: WaitingRow) => number;
}

interface PodRowProps extends InboxTableProps {
  row: WaitingRow;
  oldest: boolean;
  member?: boolean;
}

export function PodRow({ row, oldest, member = false, ...table }: PodRowProps) {
  const { store, view, manyRuns, mayDecide, nowOf } = table;
  const key = keyOf(row);
  const now = nowOf(row);
  const isGone = view.gone.has(key);
  const due = useDue([row]);
  const on = view.marks.has(key);
  return (
    <tr
      className={member ? classes.member : undefined}
      data-row={key}
      data-marked={on || due !== null || undefined}
      data-cursor={view.cursor === key || undefined}
      data-gone={isGone || undefined}
      onClick={() => store.pointAt(key)}
    >
      <td className={classes.mark}>
        {isGone ? null : (
          <Mark
            label={t("markNamespaceName", { namespace: row.namespace, name: row.name })}
            state={on ? "on" : "off"}
            onChange={(next) => store.mark([row], next)}
          />
        )}
      </td>
      <td className={classes.pod}>
        <Link to="/runs/$run/pods/$namespace/$name" params={{ run: row.run, namespace: row.namespace, name: row.name }}>
          <PodName pod={row} />
        </Link>{" "}
        {member ? null : <LiveChip context={row.binds_in} dryRun={row.dry_run} />}
        <em>{about(row, now, member, oldest, manyRuns)}</em>
        {row.asked_again === null ? null : (
          <em className={classes.again}>{t("askedAgain", { askedagain: row.asked_again })}</em>
        )}
      </td>
      <td className={classes.node}>
        <Link
          className="mono"
          to="/runs/$run"
          params={{ run: row.run }}
          search={{ pod: `${row.namespace}/${row.name}` }}
          title={t("selectedOnTheRunsPage", { node: row.node })}
        >
          {row.node}
        </Link>
        <em className="num">{scoreText(row)}</em>
      </td>
      <td className={`${classes.holds} num`}>{requestText(row.requests)}</td>
      <td className={classes.waits}>
        {isGone ? (
          <span className="faint">{t("noLongerWaiting")}</span>
        ) : (
          row.waiting_on.map((wait) => <WaitLine key={wait.plugin} wait={wait} now={now} held={row.held} />)
        )}
      </td>
      <td className={classes.zero}>{isGone ? "" : atZero(row)}</td>
      <td className={classes.actions}>
        {due !== null ? (
          <Approving due={due} />
        ) : isGone || !mayDecide ? null : (
          <>
            {row.decidable ? (
              <Button
                size="sm"
                sends
                onClick={() => store.approve([row])}
                aria-label={t("approveName", { name: row.name })}
              >
                {t("approve")}
              </Button>
            ) : (
              <Button
                size="sm"
                sends
                onClick={() => store.ask("override", [row])}
                aria-label={t("overrideName", { name: row.name })}
                title={t("letItGoAlthoughThe")}
              >
                {t("override")}
              </Button>
            )}
            <Button
              size="sm"
              sends
              kind="danger"
              onClick={() => store.ask("reject", [row])}
              aria-label={t("rejectName", { name: row.name })}
            >
              {t("reject")}
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

function about(row: WaitingRow, now: number, member: boolean, oldest: boolean, manyRuns: boolean) {
  const waited = (
    <time dateTime={row.since} title={t("sinceSince", { since: exact(row.since) })}>
      {waitedText(now - Date.parse(row.since))}
    </time>
  );
  if (!member)
    return (
      <>
        {[
          manyRuns ? row.run_number : "",
          row.fork_of === null ? "" : t("forkOf", { run: row.fork_of }),
          row.namespace,
          row.why,
        ]
          .filter(Boolean)
          .join(" · ")}
        {row.why === "" ? <> · {waited}</> : null}
      </>
    );
  if (row.waiting_on.length <= 1) return oldest ? rich("waitedLongest", { waited }) : waited;
  const limit = seconds(Math.min(...row.waiting_on.map((wait) => wait.total_seconds)));
  return oldest ? rich("waitedLongestOf", { waited, limit }) : rich("waitedOf", { waited, limit });
}

function waitedText(milliseconds: number): string {
  return milliseconds < 60_000 ? seconds(Math.max(0, Math.round(milliseconds / 1000))) : age(milliseconds);
}
