import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { useMe } from "@/api/useMe";
import { decisionsQuery } from "@/api/waitingQueries";
import type { Decision } from "@/api/waitingTypes";
import type { StateKey } from "@/api/types";
import { PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Empty, Failed } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { exact, runTime } from "@/format/time";

import classes from "./DecidedPanel.module.css";
import { t } from "./texts";

const FEW = 3;
const MANY = 200;
const LOOK: Record<Decision["decision"], { word: string; state: StateKey }> = {
  approved: {
    get word() {
      return t("approved");
    },
    state: "bound",
  },
  overridden: {
    get word() {
      return t("overridden");
    },
    state: "bound",
  },
  rejected: {
    get word() {
      return t("rejected");
    },
    state: "unschedulable",
  },
  timed_out: {
    get word() {
      return t("timedOut");
    },
    state: "backoff",
  },
  preempted: {
    get word() {
      return t("preempted");
    },
    state: "unschedulable",
  },
  evict: {
    get word() {
      return t("evictionApproved");
    },
    state: "bound",
  },
  keep: {
    get word() {
      return t("evictionRejected");
    },
    state: "unschedulable",
  },
};

interface DecidedPanelProps {
  run: string | undefined;
  all: boolean;
  onAll: (all: boolean) => void;
}

/** Who decided what, when and why. Read-only. */
export function DecidedPanel({ run, all, onAll }: DecidedPanelProps) {
  const { me } = useMe();
  const answer = useQuery(decisionsQuery(run, all ? MANY : FEW));
  const { data } = answer;
  const shown = data === undefined ? [] : data.results.slice(0, all ? MANY : FEW);
  return (
    <Panel aria-labelledby="decided">
      <PanelHeader id="decided" title={t("decided")}>
        <span className="faint clip">{t("readOnlyKeptWithThe")}</span>
        <span className="grow" />
        {data === undefined || data.count <= FEW ? null : (
          <button
            type="button"
            className={`leads muted num ${classes.all}`}
            aria-expanded={all}
            onClick={() => onAll(!all)}
          >
            {all ? t("theNewestThree") : t("nDecisions", { count: data.count })}
          </button>
        )}
      </PanelHeader>
      {data === undefined ? (
        answer.error === null ? null : (
          <Failed what={t("couldNotListDecisions")} error={answer.error} retry={() => void answer.refetch()} />
        )
      ) : data.count === 0 ? (
        <Empty>{t("nothingDecidedYet")}</Empty>
      ) : (
        <ol className={classes.list}>
          {shown.map((one) => (
            <Line key={`${one.run} ${one.number}`} one={one} mine={one.by === me?.username} />
          ))}
        </ol>
      )}
      {all && data !== undefined && data.count > shown.length ? (
        <p className={`${classes.rest} faint`}>
          {t("theNewestOfDecisions", { count: data.count, shown: shown.length })}
        </p>
      ) : null}
    </Panel>
  );
}

function Line({ one, mine }: { one: Decision; mine: boolean }) {
  const { word, state } = LOOK[one.decision];
  return (
    <li>
      <span className={`st-${state} ${classes.icon}`}>
        <Icon name={state} size={14} />
      </span>
      <span className={classes.what}>
        <b>{word}</b>
        <Link to="/runs/$run/pods/$namespace/$name" params={{ run: one.run, namespace: one.namespace, name: one.name }}>
          <PodName pod={one} />
        </Link>
        {one.node === "" ? null : (
          <>
            <span className="faint">{t("on")}</span>
            <span className="mono">{one.node}</span>
          </>
        )}
      </span>
      {one.reason === "" ? null : (
        <q className={classes.reason} title={one.reason}>
          {one.reason}
        </q>
      )}
      <span className="grow" />
      <span className="muted">{mine ? t("you") : one.by}</span>
      <time
        className="faint"
        dateTime={one.decided_at}
        title={t("runTimeDecided", { at: exact(one.at), decidedat: exact(one.decided_at) })}
      >
        {runTime(one.at, false)}
      </time>
      <span className={`${classes.outcome} faint`}>{one.outcome}</span>
    </li>
  );
}
