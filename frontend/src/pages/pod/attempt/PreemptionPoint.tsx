/** PostFilter explained: the candidates with their victims, why each lost, and why the other nodes were none. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { fetchPreemption } from "@/api/podQueries";
import type { NoCandidates, Preemption, PreemptionCandidate } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { PodName, Priority } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { count } from "@/format/number";

import { rich, t } from "../texts";
import classes from "./PreemptionPoint.module.css";

const WINDOW = 50;
/** Its victims stand in the order of their nodes. */
const ACROSS = "CrossNodePreemption";
const PLAIN: Record<NoCandidates["kind"], string> = {
  get not_helpful() {
    return t("filterRefusedTheseForGood");
  },
  get no_victims() {
    return t("noPodOfLowerPriority");
  },
  get no_set() {
    return t("allSetsWereTried");
  },
  get refused() {
    return t("evenWithEveryPodOf");
  },
  get not_tried() {
    return t("minCandidateNodesPercentageAndMinCandidateNodesAbsoluteSayHow");
  },
  get gave_up() {
    return t("notAllSetsWereTried");
  },
};

export function PreemptionPoint({ run, attempt }: { run: string; attempt: number }) {
  const answer = useInfiniteQuery({
    queryKey: ["run", run, "attempt", attempt, "preemption"],
    initialPageParam: 0,
    staleTime: 600_000,
    queryFn: ({ pageParam, signal }) => fetchPreemption(run, attempt, pageParam, WINDOW, signal),
    getNextPageParam: (last) =>
      last.offset + last.candidates.length < last.count ? last.offset + last.candidates.length : undefined,
  });
  const first = answer.data?.pages[0];
  if (first === undefined) {
    return answer.error === null ? (
      <Outlines count={4} height={28} label={t("readingThePreemption")} />
    ) : (
      <Failed what={t("whatPreemptionFoundCouldNot")} error={answer.error} retry={() => void answer.refetch()} />
    );
  }
  if (first.plugin === "" && first.groups.length === 0)
    return (
      <p className={classes.headline}>
        <b>{first.headline}</b>
      </p>
    );
  const candidates = answer.data?.pages.flatMap((page) => page.candidates) ?? [];
  return (
    <>
      <p className={classes.headline}>
        <b>{first.headline}</b>
      </p>
      {candidates.length === 0 ? null : <Candidates run={run} answer={first} candidates={candidates} />}
      {answer.hasNextPage ? (
        <p className={classes.more}>
          <Button size="sm" disabled={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            {t("moreCandidates", { count: first.count - candidates.length })}
          </Button>
        </p>
      ) : null}
      {first.spared_count === 0 ? null : <SparedPods run={run} answer={first} />}
      {first.groups.map((group) => (
        <Others key={`${group.kind} ${group.reason}`} run={run} group={group} />
      ))}
    </>
  );
}

function Candidates({
  run,
  answer,
  candidates,
}: {
  run: string;
  answer: Preemption;
  candidates: readonly PreemptionCandidate[];
}) {
  return (
    <ScrollRegion className={classes.scroll} label={t("candidatesOfPreemption", { count: answer.count })}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>{t("candidate")}</th>
            <th>{answer.plugin === ACROSS ? t("mustLeaveTogether") : t("mustLeaveMostImportantFirst")}</th>
            <th className={classes.number}>{t("budgetsViolated")}</th>
            <th>{t("lostBy")}</th>
          </tr>
        </thead>
        <tbody>
          {candidates.map((one) => (
            <tr key={one.node} data-chosen={one.chosen || undefined}>
              <td className={classes.node}>
                <Link className="mono leads" to="/runs/$run" params={{ run }} search={{ node: one.node }}>
                  {one.node}
                </Link>
                {one.chosen ? (
                  <span className={classes.chosen}>
                    <Icon name="bound" size={12} />
                    {t("chosen")}
                  </span>
                ) : null}
              </td>
              <td>
                <ol className={classes.victims}>
                  {one.victims.map((victim) => (
                    <li key={`${victim.namespace}/${victim.name}`}>
                      <Link
                        className="leads"
                        to="/runs/$run/pods/$namespace/$name"
                        params={{ run, namespace: victim.namespace, name: victim.name }}
                      >
                        <PodName pod={victim} />
                      </Link>
                      {victim.priority === null ? null : (
                        <Priority value={victim.priority} className={classes.priority} />
                      )}
                      {victim.node === "" ? null : (
                        <span className="faint">
                          {" "}
                          {rich("onNode", {
                            node: (
                              <Link
                                className="mono leads"
                                to="/runs/$run"
                                params={{ run }}
                                search={{ node: victim.node }}
                              >
                                {victim.node}
                              </Link>
                            ),
                          })}
                        </span>
                      )}
                    </li>
                  ))}
                </ol>
              </td>
              <td className={classes.number} data-unit={t("budgetsViolated")}>
                {count(one.pdb_violations)}
              </td>
              <td className="muted">
                {one.chosen ? (
                  ""
                ) : one.lost_by === "" ? (
                  one.equal ? (
                    t("nothingItWasEqual")
                  ) : (
                    ""
                  )
                ) : (
                  <>
                    <span className={classes.by}>{one.lost_by}</span>
                    <span className="faint">{one.lost_text}</span>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** Whom PreemptionToleration left alone, though their priority is lower. */
function SparedPods({ run, answer }: { run: string; answer: Preemption }) {
  const more = answer.spared_count - answer.spared.length;
  return (
    <section className={classes.others} aria-label={t("sparedPods", { count: answer.spared_count })}>
      <h4>{t("sparedPods", { count: answer.spared_count })}</h4>
      <ul className={classes.spared}>
        {answer.spared.map((one) => (
          <li key={`${one.namespace}/${one.name}`}>
            <Link
              className="leads"
              to="/runs/$run/pods/$namespace/$name"
              params={{ run, namespace: one.namespace, name: one.name }}
            >
              <PodName pod={one} />
            </Link>
            {one.priority === null ? null : <Priority value={one.priority} className={classes.priority} />}
            <span className="faint mono"> {one.node}</span>
            <span className={`${classes.why} muted`}>{one.text}</span>
          </li>
        ))}
        {more > 0 ? <li className="faint">{t("andMore2", { more })}</li> : null}
      </ul>
    </section>
  );
}

function Others({ run, group }: { run: string; group: NoCandidates }) {
  const more = group.count - group.nodes.length;
  return (
    <section className={classes.others} aria-label={t("nNodesReason", { count: group.count, reason: group.reason })}>
      <h4>
        <b className="num">{count(group.count)}</b> {group.reason}
      </h4>
      <p className="muted">{PLAIN[group.kind]}</p>
      <ul>
        {group.nodes.map((node) => (
          <li key={node}>
            <Link className="mono leads" to="/runs/$run" params={{ run }} search={{ node }}>
              {node}
            </Link>
          </li>
        ))}
        {more > 0 ? <li className="faint">{t("andMore2", { more })}</li> : null}
      </ul>
    </section>
  );
}
