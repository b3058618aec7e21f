/** The rows of the inbox: gangs with their members, then single pods. */
import { GangRows } from "./GangRows";
import { keyOf } from "./inbox";
import classes from "./InboxTable.module.css";
import { Mark } from "./Mark";
import { type InboxTableProps, PodRow } from "./PodRow";
import { t } from "./texts";

export function InboxTable(props: InboxTableProps) {
  const { store, view } = props;
  const { groups, present, marked } = view;
  const gangs = groups.some((group) => group.gang !== null);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th className={classes.mark}>
            <Mark
              label={t("markAll")}
              state={marked.length === 0 ? "off" : marked.length === present.length ? "on" : "some"}
              onChange={(on) => store.mark(present, on)}
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
            <GangRows {...props} group={group} gang={group.gang} />
          )}
        </tbody>
      ))}
    </table>
  );
}
