/** Proposed evictions: who would lose what for whom. Nothing is deleted before a person says so. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { evictionsQuery } from "@/api/waitingQueries";
import type { Eviction, EvictionVictim } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { Pill, PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { count } from "@/format/number";
import { requestText } from "@/format/resources";
import { age, exact } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { later } from "@/parts/later";
import { LiveChip } from "@/scheduling/LiveChip";

import classes from "./Evictions.module.css";
import type { EvictionRequest } from "./EvictionDrawer";
import { rich, t } from "./texts";

const EvictionDrawer = later(() => import("./EvictionDrawer"));

interface EvictionsProps {
  run: string | undefined;
  mayDecide: boolean;
}

export function Evictions({ run, mayDecide }: EvictionsProps) {
  const answer = useQuery(evictionsQuery(run));
  const [asking, setAsking] = useState<EvictionRequest | null>(null);
  const proposals = answer.data?.results ?? [];
  const ask = (decision: EvictionRequest["decision"]) => {
    // The one that has the focus, else the first.
    const at = document.activeElement?.closest("[data-eviction]")?.getAttribute("data-eviction");
    const eviction = proposals.find((one) => keyOf(one) === at) ?? proposals[0];
    if (eviction !== undefined) setAsking({ decision, eviction });
  };
  useKeys(
    mayDecide && proposals.length > 0
      ? [
          { keys: "e", label: t("evictWithAReason"), group: t("decide"), run: () => ask("approve") },
          { keys: "Alt+e", label: t("keepWithAReason"), group: t("decide"), run: () => ask("reject") },
        ]
      : [],
  );
  if (answer.data === undefined && answer.error !== null)
    return (
      <Panel aria-label={t("proposedEvictions")}>
        <Failed what={t("couldNotListEvictions")} error={answer.error} retry={() => void answer.refetch()} />
      </Panel>
    );
  return (
    <>
      {proposals.length === 0 ? null : (
        <Panel aria-labelledby="evictions">
          <PanelHeader id="evictions" title={t("proposedEvictions")}>
            <Pill>{count(answer.data?.count ?? 0)}</Pill>
            <span className="faint clip">{t("nothingHasBeenDeleted")}</span>
          </PanelHeader>
          <ul className={classes.list}>
            {proposals.map((eviction) => (
              <Proposal
                key={keyOf(eviction)}
                eviction={eviction}
                mayDecide={mayDecide}
                onDecide={(decision) => setAsking({ decision, eviction })}
              />
            ))}
          </ul>
        </Panel>
      )}
      <Suspense fallback={null}>
        {asking === null ? null : <EvictionDrawer request={asking} onClose={() => setAsking(null)} />}
      </Suspense>
    </>
  );
}

function keyOf({ run, number }: Eviction): string {
  return `${run} ${number}`;
}

interface ProposalProps {
  eviction: Eviction;
  mayDecide: boolean;
  onDecide: (decision: EvictionRequest["decision"]) => void;
}

function Proposal({ eviction, mayDecide, onDecide }: ProposalProps) {
  const { run, namespace, name, victims, node } = eviction;
  const n = victims.length;
  const title = t("evictOnFor", { count: n, node, name });
  return (
    <li className={classes.proposal} data-eviction={keyOf(eviction)} aria-label={title}>
      <div className={classes.head}>
        <Icon name="trash" size={16} />
        <div>
          <h3>
            {rich("evictOnForPod", {
              count: n,
              node: (
                <Link to="/runs/$run" params={{ run }} search={{ pod: `${namespace}/${name}` }} className="mono">
                  {node}
                </Link>
              ),
              pod: (
                <Link to="/runs/$run/pods/$namespace/$name" params={{ run, namespace, name }}>
                  <PodName pod={eviction} />
                </Link>
              ),
            })}{" "}
            <LiveChip context={eviction.follows ?? ""} dryRun={eviction.dry_run} evicts />
          </h3>
          <p className="faint">{about(eviction)}</p>
          {eviction.message === "" ? null : <p className={classes.message}>{eviction.message}</p>}
        </div>
      </div>
      <div className={classes.scroll}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t("whoGoes")}</th>
              <th scope="col">{t("priority")}</th>
              <th scope="col">{t("givesBack")}</th>
              <th scope="col">{t("runsSince")}</th>
              <th scope="col">{t("disruptionBudget")}</th>
              <th scope="col">{t("grace")}</th>
            </tr>
          </thead>
          <tbody>
            {victims.map((victim) => (
              <Victim key={victim.uid} run={run} victim={victim} now={eviction.now} />
            ))}
          </tbody>
        </table>
      </div>
      <div className={classes.foot}>
        <span className="faint">
          {eviction.violations === 0 ? t("noBudgetViolated") : t("budgetsViolated", { count: eviction.violations })}
        </span>
        <span className="grow" />
        {mayDecide ? (
          <>
            <Button size="sm" sends onClick={() => onDecide("reject")} aria-label={t("keepForName", { name })}>
              {t("keepThem", { count: n })}
            </Button>
            <Button
              size="sm"
              sends
              kind="danger"
              hint="e"
              onClick={() => onDecide("approve")}
              aria-label={t("evictForName", { name })}
            >
              {t("evictThem", { count: n })}
            </Button>
          </>
        ) : null}
      </div>
    </li>
  );
}

function about(eviction: Eviction): string {
  return [
    eviction.run_number,
    eviction.fork_of === null ? "" : t("forkOf", { run: eviction.fork_of }),
    eviction.namespace,
    t("priorityOf", { priority: count(eviction.priority) }),
    requestText(eviction.requests),
    t("asksOfProfile", { plugin: eviction.asked_by, profile: eviction.profile }),
  ]
    .filter(Boolean)
    .join(" · ");
}

function Victim({ run, victim, now }: { run: string; victim: EvictionVictim; now: string }) {
  const { namespace, name, since } = victim;
  return (
    <tr>
      <td>
        <Link to="/runs/$run/pods/$namespace/$name" params={{ run, namespace, name }}>
          <PodName pod={victim} />
        </Link>
        <em>{[namespace, victim.kind].filter(Boolean).join(" · ")}</em>
      </td>
      <td className="num">{count(victim.priority)}</td>
      <td className="num">{requestText(victim.requests)}</td>
      <td>
        {since === null ? null : (
          <time dateTime={since} title={exact(since)}>
            {age(Math.max(0, Date.parse(now) - Date.parse(since)))}
          </time>
        )}
      </td>
      <td>
        {victim.budgets.length === 0 ? (
          <span className="faint">{t("noBudget")}</span>
        ) : (
          victim.budgets.map((budget) => (
            <span key={budget.name} className={classes.budget}>
              <span className="mono">{budget.name}</span>
              {budget.is_violated ? (
                <b className={classes.violated}>
                  <Icon name="warning" size={12} />
                  {t("violatedAllows", { allowed: budget.allowed })}
                </b>
              ) : (
                <em>{t("allows", { allowed: budget.allowed })}</em>
              )}
            </span>
          ))
        )}
      </td>
      <td className="num">{victim.grace_seconds === null ? "" : t("graceSeconds", { n: victim.grace_seconds })}</td>
    </tr>
  );
}
