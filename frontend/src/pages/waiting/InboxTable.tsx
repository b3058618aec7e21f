/** The rows of the inbox: gangs with their members, then single pods. Decisions are the page's. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import type { WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { Chip, GangProgress, PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { approvals } from "@/decisions/decide";
import { both, clauses, listed } from "@/format/lists";
import { requestSum } from "@/format/requestSum";
import { requestText } from "@/format/resources";
import { age, exact, seconds } from "@/format/time";

import { atZero, type Group, groupWaits, keyOf, scoreText } from "./inbox";
import classes from "./InboxTable.module.css";
import { Mark } from "./Mark";
import { t } from "./texts";
import { WaitLine } from "./WaitLine";

export interface InboxTableProps {
  groups: readonly Group[];
  gone: ReadonlySet<string>;
  marked: ReadonlySet<string>;
  cursor: string | null;
  /** Several runs are shown, so every row says which. */
  manyRuns: boolean;
  can: boolean;
  wall: number;
  nowOf: (row: WaitingRow) => number;
  onMark: (rows: readonly WaitingRow[], on: boolean) => void;
  onCursor: (key: string) => void;
  onApprove: (rows: readonly WaitingRow[]) => void;
  onOverride: (rows: readonly WaitingRow[]) => void;
  onReject: (rows: readonly WaitingRow[]) => void;
}

const FOLD_ABOVE = 3;
const FOLDED_TO = 2;

export function InboxTable(props: InboxTableProps) {
  const { groups, marked, gone } = props;
  const rows = groups.flatMap((group) => group.rows).filter((row) => !gone.has(keyOf(row)));
  const chosen = rows.filter((row) => marked.has(keyOf(row))).length;
  const gangs = groups.some((group) => group.gang !== null);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th className={classes.mark}>
            <Mark
              label={t("markAll")}
              state={chosen === 0 ? "off" : chosen === rows.length ? "on" : "some"}
              onChange={(on) => props.onMark(rows, on)}
            />
          </th>
          <th>{t("pod")}</th>
          <th>{t("nodeScoreAndMargin")}</th>
          <th>{t("holdsWhileWaiting")}</th>
          <th>{t("waitingOn")}</th>
          <th>{t("atZero")}</th>
          <th>
            <span className="srOnly">{t("decide")}</span>
          </th>
        </tr>
      </thead>
      {groups.map((group) => (
        <tbody key={group.key}>
          {group.gang === null ? (
            <>
              {gangs ? (
                <tr className={classes.section}>
                  <td />
                  <td colSpan={6}>{t("singlePods")}</td>
                </tr>
              ) : null}
              {group.rows.map((row) => (
                <PodRow key={keyOf(row)} {...props} row={row} oldest={false} />
              ))}
            </>
          ) : (
            <Gang {...props} group={group} gang={group.gang} />
          )}
        </tbody>
      ))}
    </table>
  );
}

/** "a and b are in flight". */
function missingWords({
  column,
  count,
  names,
}: NonNullable<NonNullable<WaitingRow["gang"]>["missing"]>[number]): string {
  const state = t(`column.${column}`);
  if (names.length === 0) return t("moreAreMissing", { count, state });
  return t("areMissing", { count, names: both([...names]), state });
}

function Gang(props: InboxTableProps & { group: Group; gang: NonNullable<WaitingRow["gang"]> }) {
  const { group, gang, gone, marked, can } = props;
  const [open, setOpen] = useState(false);
  const present = group.rows.filter((row) => !gone.has(keyOf(row)));
  const first = group.rows[0];
  if (first === undefined) return null;
  const folded = !open && group.rows.length > FOLD_ABOVE;
  const shown = folded ? group.rows.slice(0, FOLDED_TO) : group.rows;
  const hidden = group.rows.slice(shown.length);
  const oldest = [...group.rows].sort((a, b) => Date.parse(a.since) - Date.parse(b.since))[0];
  const chosen = present.filter((row) => marked.has(keyOf(row))).length;
  const asks = present.some((row) => row.decidable);
  const held = requestSum(present, ", ");
  const waits = groupWaits(group.rows);
  const due = dueOf(present, props.wall);
  const missing = clauses((gang.missing ?? []).map(missingWords));
  return (
    <>
      <tr className={classes.gang} data-cursor={props.cursor === group.key || undefined}>
        <td className={classes.mark}>
          <Mark
            label={t("markTheGroup", { name: gang.name })}
            state={chosen === 0 ? "off" : chosen === present.length ? "on" : "some"}
            onChange={(on) => props.onMark(present, on)}
          />
        </td>
        <td className={classes.pod}>
          <span className={classes.gangName}>
            <Icon name="gang" size={14} />
            <b>{gang.name}</b>
            <Chip>{t("podGroup")}</Chip>
          </span>
          <em>
            {props.manyRuns ? `${first.run_number} · ` : ""}
            {first.namespace} · {t("podsWait", { count: present.length })}
            {held === "" ? "" : t("heldHeld", { held })}
          </em>
        </td>
        <td colSpan={2} className={classes.progress}>
          <span className="row">
            <GangProgress have={gang.have} need={gang.need} className={classes.bar} />
            <b className="num">{t("haveOfNeed", { have: gang.have, need: gang.need })}</b>
          </span>
          {missing === "" ? null : <em>{missing}</em>}
        </td>
        <td className={classes.waits}>
          {waits.map((wait) => (
            <WaitLine key={wait.plugin} wait={wait} now={props.nowOf(first)} held={first.held} />
          ))}
          {asks ? null : (
            <em className={classes.self}>{t("goesOnByItselfAt", { need: gang.need, need2: gang.need })}</em>
          )}
        </td>
        <td className={classes.zero}>
          {present.length > 1
            ? t("allRejectedGroupIsTried", { present: present.length })
            : t("rejectedGroupIsTriedAgain")}
        </td>
        <td className={classes.actions}>
          {due !== null ? (
            <Approving due={due} wall={props.wall} />
          ) : !can || present.length === 0 ? null : (
            <>
              {asks ? (
                <Button
                  size="sm"
                  sends
                  onClick={() => props.onApprove(present)}
                  aria-label={t("approveTheGroup", { name: gang.name })}
                >
                  {t("approve")}
                </Button>
              ) : (
                <Button
                  size="sm"
                  sends
                  title={t("letTheGoWithoutThe", { present: present.length })}
                  onClick={() => props.onOverride(present)}
                  aria-label={t("overrideTheGroup", { name: gang.name })}
                >
                  {t("override")}
                </Button>
              )}
              <Button
                size="sm"
                sends
                kind="danger"
                onClick={() => props.onReject(present)}
                aria-label={t("rejectTheGroup", { name: gang.name })}
              >
                {t("reject")}
              </Button>
            </>
          )}
        </td>
      </tr>
      {shown.map((row) => (
        <PodRow key={keyOf(row)} {...props} row={row} oldest={row === oldest && group.rows.length > 1} member />
      ))}
      {folded ? (
        <tr className={classes.fold}>
          <td />
          <td colSpan={6}>
            <button type="button" className="leads" aria-expanded="false" onClick={() => setOpen(true)}>
              {t("moreOf", { hidden: hidden.length, name: gang.name })}
            </button>
            : {listed(hidden.map((row) => row.tail || row.name))}
          </td>
        </tr>
      ) : open && group.rows.length > FOLD_ABOVE ? (
        <tr className={classes.fold}>
          <td />
          <td colSpan={6}>
            <button type="button" className="leads" aria-expanded="true" onClick={() => setOpen(false)}>
              {t("showFewer")}
            </button>
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** When the first of them is sent, if all of them are about to be. */
function dueOf(rows: readonly WaitingRow[], wall: number): number | null {
  if (wall === 0 || rows.length === 0) return null;
  const dues = rows.map((row) => approvals.due(row.run, row));
  return dues.every((due) => due !== null) ? Math.min(...dues) : null;
}

function Approving({ due, wall }: { due: number; wall: number }) {
  return (
    <span className={classes.sending}>
      <Icon name="bound" size={13} />
      {t("approvingInS", { max: Math.max(0, Math.ceil((due - wall) / 1000)) })}
    </span>
  );
}

interface PodRowProps extends InboxTableProps {
  row: WaitingRow;
  oldest: boolean;
  member?: boolean;
}

function PodRow({ row, oldest, member = false, ...props }: PodRowProps) {
  const key = keyOf(row);
  const now = props.nowOf(row);
  const isGone = props.gone.has(key);
  const due = dueOf([row], props.wall);
  const on = props.marked.has(key);
  return (
    <tr
      className={member ? classes.member : undefined}
      data-row={key}
      data-marked={on || due !== null || undefined}
      data-cursor={props.cursor === key || undefined}
      data-gone={isGone || undefined}
      onClick={() => props.onCursor(key)}
    >
      <td className={classes.mark}>
        {isGone ? null : (
          <Mark
            label={t("markNamespaceName", { namespace: row.namespace, name: row.name })}
            state={on ? "on" : "off"}
            onChange={(next) => props.onMark([row], next)}
          />
        )}
      </td>
      <td className={classes.pod}>
        <Link to="/runs/$run/pods/$namespace/$name" params={{ run: row.run, namespace: row.namespace, name: row.name }}>
          <PodName pod={row} />
        </Link>
        <em>{about(row, now, member, oldest, props.manyRuns)}</em>
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
          <Approving due={due} wall={props.wall} />
        ) : isGone || !props.can ? null : (
          <>
            {row.decidable ? (
              <Button
                size="sm"
                sends
                onClick={() => props.onApprove([row])}
                aria-label={t("approveName", { name: row.name })}
              >
                {t("approve")}
              </Button>
            ) : (
              <Button
                size="sm"
                sends
                onClick={() => props.onOverride([row])}
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
              onClick={() => props.onReject([row])}
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
  return (
    <>
      {oldest ? t("longestWait") : ""}
      {waited}
      {row.waiting_on.length > 1
        ? t("ofMin", { min: seconds(Math.min(...row.waiting_on.map((wait) => wait.total_seconds))) })
        : ""}
    </>
  );
}

function waitedText(milliseconds: number): string {
  return milliseconds < 60_000 ? seconds(Math.max(0, Math.round(milliseconds / 1000))) : age(milliseconds);
}
