/** A gang in the inbox: a line for the whole, and its members, folded when they are many. */
import { useState } from "react";

import type { WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { Chip, GangProgress } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { useDue } from "@/decisions/decide";
import { both, clauses, listed } from "@/format/lists";
import { requestSum } from "@/format/requestSum";
import { LiveChip } from "@/scheduling/LiveChip";

import { Approving } from "./Approving";
import { type Group, groupWaits, keyOf } from "./inbox";
import classes from "./InboxTable.module.css";
import { Mark } from "./Mark";
import { type InboxTableProps, PodRow } from "./PodRow";
import { t } from "./texts";
import { WaitLine } from "./WaitLine";

const FOLD_ABOVE = 3;
const FOLDED_TO = 2;

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

interface GangRowsProps extends InboxTableProps {
  group: Group;
  gang: NonNullable<WaitingRow["gang"]>;
}

export function GangRows({ group, gang, ...table }: GangRowsProps) {
  const { store, view, manyRuns, mayDecide, nowOf } = table;
  const [open, setOpen] = useState(false);
  const present = group.rows.filter((row) => !view.gone.has(keyOf(row)));
  const due = useDue(present);
  const first = group.rows[0];
  if (first === undefined) return null;
  const folded = !open && group.rows.length > FOLD_ABOVE;
  const shown = folded ? group.rows.slice(0, FOLDED_TO) : group.rows;
  const hidden = group.rows.slice(shown.length);
  const oldest = [...group.rows].sort((a, b) => Date.parse(a.since) - Date.parse(b.since))[0];
  const chosen = present.filter((row) => view.marks.has(keyOf(row))).length;
  const asks = present.some((row) => row.decidable);
  const held = requestSum(present, ", ");
  const waits = groupWaits(group.rows);
  const missing = clauses((gang.missing ?? []).map(missingWords));
  return (
    <>
      <tr className={classes.gang} data-cursor={view.cursor === group.key || undefined}>
        <td className={classes.mark}>
          <Mark
            label={t("markTheGroup", { name: gang.name })}
            state={chosen === 0 ? "off" : chosen === present.length ? "on" : "some"}
            onChange={(on) => store.mark(present, on)}
          />
        </td>
        <td className={classes.pod}>
          <span className={classes.gangName}>
            <Icon name="gang" size={14} />
            <b>{gang.name}</b>
            <Chip>{t("podGroup")}</Chip>
            <LiveChip context={first.binds_in} dryRun={first.dry_run} />
          </span>
          <em>
            {manyRuns ? `${first.run_number} · ` : ""}
            {first.namespace} ·{" "}
            {held === ""
              ? t("podsWait", { count: present.length })
              : t("podsWaitAndHold", { count: present.length, held })}
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
            <WaitLine key={wait.plugin} wait={wait} now={nowOf(first)} held={first.held} />
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
            <Approving due={due} />
          ) : !mayDecide || present.length === 0 ? null : (
            <>
              {asks ? (
                <Button
                  size="sm"
                  sends
                  onClick={() => store.approve(present)}
                  aria-label={t("approveTheGroup", { name: gang.name })}
                >
                  {t("approve")}
                </Button>
              ) : (
                <Button
                  size="sm"
                  sends
                  title={t("letTheGoWithoutThe", { present: present.length })}
                  onClick={() => store.ask("override", present)}
                  aria-label={t("overrideTheGroup", { name: gang.name })}
                >
                  {t("override")}
                </Button>
              )}
              <Button
                size="sm"
                sends
                kind="danger"
                onClick={() => store.ask("reject", present)}
                aria-label={t("rejectTheGroup", { name: gang.name })}
              >
                {t("reject")}
              </Button>
            </>
          )}
        </td>
      </tr>
      {shown.map((row) => (
        <PodRow key={keyOf(row)} {...table} row={row} oldest={row === oldest && group.rows.length > 1} member />
      ))}
      {folded ? (
        <tr className={classes.fold}>
          <td />
          <td colSpan={6}>
            <button type="button" className="leads" aria-expanded="false" onClick={() => setOpen(true)}>
              {t("moreOfGang", { hidden: hidden.length, name: gang.name })}
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
