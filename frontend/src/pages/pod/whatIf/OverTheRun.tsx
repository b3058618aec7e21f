/** What other weights mean for the whole run: an estimate from what is stored, and the exact answer from a run of its own. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { CancelQuestion } from "@/analyses/CancelQuestion";
import { useAnalysis } from "@/analyses/useAnalysis";
import { comparisonQuery } from "@/api/compareQueries";
import { runQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { movedQuery, runExactly } from "@/api/whatIf";
import { Button, ButtonLink } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Failed } from "@/components/Outcome";
import { sentences } from "@/format/lists";
import { count } from "@/format/number";

import type { Weights } from "./ranking";
import { rich, t } from "./texts";
import classes from "./WhatIf.module.css";

interface OverTheRunProps {
  run: string;
  profile: string;
  weights: Weights;
  filtersOff: readonly string[];
  /** The exact run that was asked for. */
  exact: string | undefined;
  onExact: (run: string) => void;
}

const SETTLED: ReadonlySet<Run["state"]> = new Set(["finished", "stopped", "parked"]);
const LOOK = 1_500;

export function OverTheRun(props: OverTheRunProps) {
  const { run, weights, filtersOff } = props;
  const known = useQuery(runQuery(run));
  const [base = run] = run.split("@");
  if (known.data === undefined || weights.size + filtersOff.length === 0)
    return <p className={classes.hint}>{t("overTheRunHint")}</p>;
  return (
    <>
      <h4 className={classes.heading}>{t("overTheRun")}</h4>
      {filtersOff.length > 0 ? (
        <p className={classes.hint}>{t("noEstimate")}</p>
      ) : (
        <Estimated {...props} base={base} position={known.data.position} />
      )}
      <Exact {...props} base={base} known={known.data} />
    </>
  );
}

function Estimated({ base, profile, weights, position }: OverTheRunProps & { base: string; position: number }) {
  // A run that plays on is asked about where it was when it was asked.
  const [asked, setAsked] = useState<number | null>(null);
  const [kind, setKind] = useState<"elsewhere" | "open">("elsewhere");
  const answer = useAnalysis(
    base,
    asked === null
      ? null
      : { name: "other_weights", arguments: { profile, weights: Object.fromEntries(weights) }, position: asked },
  );
  const { result, id } = answer;
  if (asked === null)
    return (
      <Button size="sm" onClick={() => setAsked(position)}>
        {t("estimate")}
      </Button>
    );
  if (answer.progress === "failed")
    return <Failed small what={t("noAnswer")} error={answer.error} retry={answer.again} />;
  if (result === null || id === null) {
    return (
      <div className={classes.hint} role="status">
        {t("estimating")}{" "}
        {id === null ? null : <CancelQuestion run={base} id={id} onCancelled={() => setAsked(null)} />}
      </div>
    );
  }
  const shown = kind === "open" && result.open > 0 ? "open" : result.elsewhere > 0 ? "elsewhere" : "open";
  return (
    <div className={classes.answer} role="status">
      <p>
        <b className={classes.badge}>{t("estimateBadge")}</b>{" "}
        {t("estimateAnswer", { count: result.elsewhere, of: result.attempts })}
      </p>
      <p className={classes.hint}>
        {sentences([
          result.open > 0 ? t("estimateOpen", { count: result.open }) : "",
          result.unscored > 0 ? t("unscored", { count: result.unscored }) : "",
          t("asItStood"),
        ])}
      </p>
      {result.elsewhere > 0 && result.open > 0 ? (
        <p>
          <Button
            size="sm"
            kind={shown === "elsewhere" ? "default" : "ghost"}
            aria-pressed={shown === "elsewhere"}
            onClick={() => setKind("elsewhere")}
          >
            {t("elsewhere", { count: result.elsewhere })}
          </Button>{" "}
          <Button
            size="sm"
            kind={shown === "open" ? "default" : "ghost"}
            aria-pressed={shown === "open"}
            onClick={() => setKind("open")}
          >
            {t("openRows", { count: result.open })}
          </Button>
        </p>
      ) : null}
      {result.elsewhere + result.open > 0 ? <Moved key={shown} base={base} analysis={id} kind={shown} /> : null}
    </div>
  );
}

const ROWS = 10;

function Moved({ base, analysis, kind }: { base: string; analysis: string; kind: "elsewhere" | "open" }) {
  const [offset, setOffset] = useState(0);
  const rows = useQuery(movedQuery(base, analysis, kind, offset, ROWS));
  if (rows.data === undefined)
    return rows.error === null ? null : (
      <Failed small what={t("noAnswer")} error={rows.error} retry={() => void rows.refetch()} />
    );
  const { count: all, results } = rows.data;
  return (
    <>
      <table className={classes.moved}>
        <thead>
          <tr>
            <th>{t("pod")}</th>
            <th>{t("fromTo")}</th>
          </tr>
        </thead>
        <tbody>
          {results.map((row) => (
            <tr key={row.number}>
              <td>
                <Link
                  className="leads"
                  to="/runs/$run/pods/$namespace/$name"
                  params={{ run: base, namespace: row.pod.namespace, name: row.pod.name }}
                  search={{ point: "Score" }}
                >
                  <PodName pod={row.pod} />
                </Link>
              </td>
              <td className="mono">
                {row.node} → {row.to ?? <span className="faint">{t("oneOf", { count: row.tied })}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {all > ROWS ? (
        <p className={classes.pages}>
          <Button size="sm" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - ROWS))}>
            {t("previous")}
          </Button>
          <span className="num">{t("window", { first: offset + 1, last: Math.min(all, offset + ROWS), all })}</span>
          <Button size="sm" disabled={offset + ROWS >= all} onClick={() => setOffset(offset + ROWS)}>
            {t("next")}
          </Button>
        </p>
      ) : null}
    </>
  );
}

function Exact({
  base,
  known,
  profile,
  weights,
  filtersOff,
  exact,
  onExact,
}: OverTheRunProps & { base: string; known: Run }) {
  const { operates } = useMe();
  const start = useMutation({
    mutationFn: () => runExactly(base, { profile, weights: Object.fromEntries(weights), filters_off: [...filtersOff] }),
    onSuccess: (made) => onExact(made.run.id),
  });
  const notRepeated = start.data?.not_repeated ?? 0;
  return (
    <div className={classes.answer}>
      {exact === undefined ? (
        <>
          <Button
            size="sm"
            icon="play"
            sends
            disabled={!operates || start.isPending}
            title={operates ? t("exactTitle") : t("yourRole")}
            onClick={() => start.mutate()}
          >
            {t("runExactly")}
          </Button>
          <p className={classes.hint}>{t("exactHint", { run: known.number.split("@")[0] ?? known.number })}</p>
        </>
      ) : (
        <ExactState base={base} exact={exact} known={known} />
      )}
      {start.error === null ? null : <Failed small what={t("notStarted")} error={start.error} />}
      {notRepeated === 0 ? null : (
        <p className={classes.hint}>{t("notRepeated", { count: notRepeated, run: known.number })}</p>
      )}
    </div>
  );
}

function ExactState({ base, exact, known }: { base: string; exact: string; known: Run }) {
  const run = useQuery({
    ...runQuery(exact),
    refetchInterval: (query) => (query.state.data !== undefined && SETTLED.has(query.state.data.state) ? false : LOOK),
  });
  const finished = run.data?.state === "finished";
  const compared = useQuery({ ...comparisonQuery(base, exact), enabled: finished });
  if (run.data === undefined)
    return run.error === null ? (
      <p role="status">{t("starting")}</p>
    ) : (
      <Failed small what={t("noExactRun")} error={run.error} retry={() => void run.refetch()} />
    );
  const link = (
    <Link className="leads" to="/runs/$run" params={{ run: exact }}>
      {run.data.number}
    </Link>
  );
  if (!finished) {
    return (
      <p role="status">
        {run.data.state === "parked"
          ? rich("exactParked", { run: link, error: run.data.error ?? "" })
          : run.data.state === "waiting_for_person"
            ? rich("exactWaits", { run: link })
            : run.data.state === "paused" || run.data.state === "stopped"
              ? rich("exactRests", { run: link })
              : rich("exactPlays", { run: link, attempts: run.data.attempts })}
      </p>
    );
  }
  const counts = compared.data?.counts;
  return (
    <div role="status">
      <p>
        <b className={classes.badge} data-exact="true">
          {t("exactBadge")}
        </b>{" "}
        {counts === undefined
          ? t("comparing")
          : t("exactAnswer", { count: counts.elsewhere, only: count(counts.only_a + counts.only_b) })}
      </p>
      {compared.error === null ? null : <Failed small what={t("noAnswer")} error={compared.error} />}
      {SETTLED.has(known.state) ? null : <p className={classes.hint}>{t("stillPlays", { run: known.number })}</p>}
      <p>
        <ButtonLink size="sm" to="/compare" search={{ a: base, b: exact }}>
          {t("compare", { a: known.number.split("@")[0] ?? "", b: run.data.number })}
        </ButtonLink>
      </p>
    </div>
  );
}
