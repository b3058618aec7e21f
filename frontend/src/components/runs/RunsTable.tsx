/** Runs as Home and the list of runs show them. */
import { Link } from "@tanstack/react-router";

import { type Counts, type Run, STATE_KEYS, type StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { STATES } from "@/components/states";
import { t } from "@/components/texts";
import { clauses } from "@/format/lists";
import { count } from "@/format/number";
import { day, exact } from "@/format/time";

import classes from "./RunsTable.module.css";
import { ForkBadge } from "./ForkBadge";
import { RunStateWord } from "./RunStateWord";

/** From placed to pending, as the bar is read from left to right. */
const BAR_ORDER: readonly StateKey[] = ["bound", "waiting", "in_flight", "active", "backoff", "unschedulable", "gated"];
const BAR_NAMED: readonly StateKey[] = ["bound", "unschedulable", "waiting"];

export function CountsBar({ counts }: { counts: Counts }) {
  const total = STATE_KEYS.reduce((sum, key) => sum + counts[key], 0);
  const present = BAR_ORDER.filter((key) => counts[key] > 0);
  const sentence = clauses(present.map((key) => `${count(counts[key])} ${STATES[key].title}`));
  // A sliver stays visible: no segment is thinner than 1.2 % of the bar.
  return (
    <>
      <span className={classes.bar} role="img" aria-label={sentence === "" ? t("noPods") : sentence}>
        {present.map((key) => (
          <i
            key={key}
            className={`st-${key}`}
            style={{ flex: Math.max(counts[key], total * 0.012) }}
            title={`${count(counts[key])} ${STATES[key].title}`}
          />
        ))}
      </span>
      <span className={classes.named} aria-hidden="true">
        {BAR_NAMED.filter((key) => counts[key] > 0).map((key) => (
          <span key={key} className={`st-${key}`} title={STATES[key].title}>
            <Icon name={key} size={12} />
            <b className="num">{count(counts[key])}</b>
          </span>
        ))}
      </span>
    </>
  );
}

/** What the run has come to: attempts, or why it ended early. */
function progress(run: Run): string {
  if (run.state === "parked") return run.error ?? t("parked");
  const left = run.arrivals?.left ?? 0;
  return left > 0 ? t("stillToArrive", { left }) : t("nAttempts", { count: run.attempts });
}

interface RunsTableProps {
  runs: readonly Run[];
  me: string | undefined;
  now: number;
  /** Where several can be chosen. */
  choice?: RunChoice | undefined;
}

export interface RunChoice {
  chosen: ReadonlySet<string>;
  onChoose: (runs: readonly string[], chosen: boolean) => void;
}

export function RunsTable({ runs, me, now, choice }: RunsTableProps) {
  const chosenHere = runs.filter((run) => choice?.chosen.has(run.id) ?? false).length;
  return (
    <div className={classes.wrap}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">
              {choice === undefined ? null : (
                <input
                  type="checkbox"
                  className={classes.choose}
                  aria-label={t("chooseAllRunsShown")}
                  checked={chosenHere === runs.length}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = chosenHere > 0 && chosenHere < runs.length;
                  }}
                  onChange={(event) =>
                    choice.onChoose(
                      runs.map((run) => run.id),
                      event.currentTarget.checked,
                    )
                  }
                />
              )}
              {t("cluster")}
            </th>
            <th scope="col">{t("configuration")}</th>
            <th scope="col">{t("state")}</th>
            <th scope="col">{t("pods")}</th>
            <th scope="col">
              <span className="srOnly">{t("progress")}</span>
            </th>
            <th scope="col" className={classes.right}>
              {t("started")}
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td className={choice === undefined ? undefined : classes.choosable}>
                {choice === undefined ? null : (
                  <label className={classes.box}>
                    <input
                      type="checkbox"
                      className={classes.choose}
                      aria-label={t("chooseRun", { run: run.number })}
                      checked={choice.chosen.has(run.id)}
                      onChange={(event) => choice.onChoose([run.id], event.currentTarget.checked)}
                    />
                  </label>
                )}
                <Link to="/runs/$run" params={{ run: run.id }} className={classes.main} title={run.snapshot.name}>
                  <b>{run.snapshot.name}</b>
                </Link>
                <em>
                  {run.parent === null ? null : <ForkBadge run={run} className={classes.fork} />}
                  {run.started_by === me
                    ? t("startedByYou", { number: run.number })
                    : t("startedBy", { number: run.number, who: run.started_by })}
                </em>
              </td>
              <td>
                <Link
                  to="/configurations/$configuration"
                  params={{ configuration: run.configuration.id }}
                  search={run.configuration.builtin ? {} : { version: run.configuration.version }}
                  className={`leads ${classes.configuration}`}
                  title={run.configuration.name}
                >
                  {run.configuration.name}
                </Link>{" "}
                <span className="faint">
                  {run.configuration.builtin ? t("builtIn") : `v${run.configuration.version}`}
                </span>
              </td>
              <td className={classes.stateCell}>
                <RunStateWord state={run.state} />
              </td>
              <td className={classes.podsCell}>
                <CountsBar counts={run.counts} />
              </td>
              <td className={`${classes.right} ${classes.progress} num`} title={run.error ?? undefined}>
                {progress(run)}
              </td>
              <td className={`${classes.right} faint num`} title={exact(run.started_at)}>
                {day(run.started_at, now, true)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
