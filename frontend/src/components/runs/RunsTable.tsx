/** Runs as Home and the list of runs show them. */
import { Link } from "@tanstack/react-router";

import { type Counts, type Run, type RunState, STATE_KEYS, type StateKey } from "@/api/types";
import { Icon, type IconName } from "@/components/Icon";
import { STATES } from "@/components/states";
import { count, counted } from "@/format/number";
import { day, exact } from "@/format/time";

import classes from "./RunsTable.module.css";

const STATE_LOOK: Record<RunState, { word: string; icon: IconName | null; tone: "now" | "done" | "bad" | "plain" }> = {
  created: { word: "Not started", icon: "pause", tone: "plain" },
  playing: { word: "Playing", icon: null, tone: "now" },
  paused: { word: "Paused", icon: "pause", tone: "plain" },
  waiting_for_person: { word: "Waiting for a person", icon: "waiting", tone: "plain" },
  finished: { word: "Finished", icon: "bound", tone: "done" },
  stopped: { word: "Stopped", icon: "stop", tone: "done" },
  failed: { word: "Failed", icon: "warning", tone: "bad" },
};

/** From placed to pending, as the bar is read from left to right. */
const BAR_ORDER: readonly StateKey[] = ["bound", "waiting", "in_flight", "active", "backoff", "unschedulable", "gated"];
const BAR_NAMED: readonly StateKey[] = ["bound", "unschedulable", "waiting"];

export function RunStateWord({ state }: { state: RunState }) {
  const { word, icon, tone } = STATE_LOOK[state];
  return (
    <span className={classes.state} data-tone={tone}>
      {icon === null ? <i className={classes.live} /> : <Icon name={icon} size={13} />}
      {word}
    </span>
  );
}

export function CountsBar({ counts }: { counts: Counts }) {
  const total = STATE_KEYS.reduce((sum, key) => sum + counts[key], 0);
  const present = BAR_ORDER.filter((key) => counts[key] > 0);
  const sentence = present.map((key) => `${count(counts[key])} ${STATES[key].title}`).join(", ");
  // A sliver stays visible: no segment is thinner than 1.2 % of the bar.
  return (
    <>
      <span className={classes.bar} role="img" aria-label={sentence === "" ? "No pods" : sentence}>
        {present.map((key) => (
          <i key={key} className={`st-${key}`} style={{ flex: Math.max(counts[key], total * 0.012) }} title={`${count(counts[key])} ${STATES[key].title}`} />
        ))}
      </span>
      <span className={classes.named} aria-hidden="true">
        {BAR_NAMED.filter((key) => counts[key] > 0).map((key) => (
          <span key={key} className={`st-${key}`} title={STATES[key].title}><Icon name={key} size={12} /><b className="num">{count(counts[key])}</b></span>
        ))}
      </span>
    </>
  );
}

/** What the run has come to: attempts, or why it ended early. */
function progress(run: Run): string {
  if (run.state === "failed") return run.error ?? "failed";
  const left = run.arrivals?.left ?? 0;
  return left > 0 ? `${count(left)} still to arrive` : counted(run.attempts, "attempt");
}

interface RunsTableProps {
  runs: readonly Run[];
  me: string | undefined;
  now: number;
}

export function RunsTable({ runs, me, now }: RunsTableProps) {
  return (
    <div className={classes.wrap}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Cluster</th><th scope="col">Configuration</th><th scope="col">State</th><th scope="col">Pods</th>
            <th scope="col"><span className="srOnly">Progress</span></th><th scope="col" className={classes.right}>Started</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <Link to="/runs/$run" params={{ run: run.id }} className={classes.main}><b>{run.snapshot.name}</b></Link>
                <em>{run.number}, started by {run.started_by === me ? "you" : run.started_by}</em>
              </td>
              <td>
                <Link to="/configurations/$configuration" params={{ configuration: run.configuration.id }}
                  search={run.configuration.builtin ? {} : { version: run.configuration.version }} className="leads">{run.configuration.name}</Link>{" "}
                <span className="faint">{run.configuration.builtin ? "built-in" : `v${run.configuration.version}`}</span>
              </td>
              <td className={classes.stateCell}><RunStateWord state={run.state} /></td>
              <td className={classes.podsCell}><CountsBar counts={run.counts} /></td>
              <td className={`${classes.right} ${classes.progress} num`} title={run.error ?? undefined}>{progress(run)}</td>
              <td className={`${classes.right} faint num`} title={exact(run.started_at)}>{day(run.started_at, now, true)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
