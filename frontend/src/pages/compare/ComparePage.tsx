/** Two runs side by side: what each came to, how full nodes are, what still fits, and the pods that went another way. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { comparisonQuery } from "@/api/compareQueries";
import { runQuery, runsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { useTitle } from "@/shell/useTitle";

import classes from "./Compare.module.css";
import { Differences } from "./Differences";
import { Fullness } from "./Fullness";
import { CameTo, StillFits, Zones } from "./Tables";
import { t } from "./texts";
import { headline, type Names } from "./words";

const route = getRouteApi("/compare");
const OFFERED = 200;

export function ComparePage() {
  const { a, b, view } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery(runsQuery(0, OFFERED));
  const comparison = useQuery({ ...comparisonQuery(a ?? "", b ?? ""), enabled: a !== undefined && b !== undefined });
  const seen = comparison.data;
  const names: Names = { a: seen?.a.run.number ?? "A", b: seen?.b.run.number ?? "B" };
  useTitle(seen === undefined ? t("compare") : t("aAndB", { a: names.a, b: names.b }));
  const choose = (side: "a" | "b", run: string) => void navigate({ search: (old) => ({ ...old, [side]: run === "" ? undefined : run, offset: undefined }), replace: true });
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("compare")}</h1>
        <div className={classes.sides}>
          <Side side="a" value={a} runs={runs.data?.results ?? []} onChange={(run) => choose("a", run)} />
          <Button size="sm" kind="ghost" disabled={a === undefined && b === undefined} onClick={() => void navigate({ search: (old) => ({ ...old, a: b, b: a, kind: undefined, offset: undefined }), replace: true })}>{t("swap")}</Button>
          <Side side="b" value={b} runs={runs.data?.results ?? []} onChange={(run) => choose("b", run)} />
        </div>
      </header>
      {runs.error === null ? null : <Panel><Failed what={t("couldNotListRuns")} error={runs.error} retry={() => void runs.refetch()} /></Panel>}
      {a === undefined || b === undefined ? <Panel><Empty>{t("chooseTwoRunsBestOf")}</Empty></Panel>
        : seen === undefined ? (
          <Panel>
            {comparison.error === null ? <Outlines count={8} height={28} label={t("comparingTheRuns")} />
              : <Failed what={t("theRunsCouldNotBe")} error={comparison.error} retry={() => void comparison.refetch()} />}
          </Panel>
        ) : (
          <>
            <Panel className={classes.answer ?? ""} aria-label={t("theDifference")}>
              <h2>{headline(seen)}</h2>
              <p className="muted">
                <b>A</b> <RunWords run={seen.a.run} /> · <b>B</b> <RunWords run={seen.b.run} />
              </p>
              {seen.same_cluster ? null : <p className={classes.warn}>{t("twoDifferentClustersPodsAre")}</p>}
              {seen.a.settled && seen.b.settled ? null : (
                <p className="muted">{t("mayStillChange", { map: seen.a.settled ? names.b : seen.b.settled ? names.a : t("runAndRun", { a: names.a, b: names.b }) })}{" "}
                  <Button size="sm" kind="ghost" onClick={() => void comparison.refetch()}>{t("readAgain")}</Button></p>
              )}
            </Panel>
            <div className={classes.columns}>
              <div className={classes.stack}><CameTo comparison={seen} names={names} /><Zones comparison={seen} names={names} /></div>
              <div className={classes.stack}>
                <Fullness comparison={seen} names={names} asTable={view === "table"} onView={(table) => void navigate({ search: (old) => ({ ...old, view: table ? "table" : undefined }), replace: true })} />
                <StillFits comparison={seen} names={names} />
              </div>
            </div>
            <Differences key={`${a} ${b}`} a={a} b={b} comparison={seen} names={names} />
          </>
        )}
    </Page>
  );
}

function RunWords({ run }: { run: Run }) {
  const { configuration } = run;
  return (
    <><Link to="/runs/$run" params={{ run: run.id }} className="leads">{run.number}</Link>{t("withSeed", { name: run.snapshot.name, name2: configuration.name, which: configuration.builtin ? "" : ` v${configuration.version}`, seed: run.seed })}</>
  );
}

interface SideProps {
  side: "a" | "b";
  value: string | undefined;
  runs: readonly Run[];
  onChange: (run: string) => void;
}

/** One of the newest runs; an older one that the address names stands in the list, too. */
function Side({ side, value, runs, onChange }: SideProps) {
  const listed = value === undefined || runs.some((run) => run.id === value);
  const older = useQuery({ ...runQuery(value ?? ""), enabled: !listed && runs.length > 0 });
  const offered = older.data === undefined || listed ? runs : [older.data, ...runs];
  return (
    <label className={classes.side}>
      <b aria-hidden="true">{side.toUpperCase()}</b><span className="srOnly">{t("runToUpperCase", { toUpperCase: side.toUpperCase() })}</span>
      <select value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t("aRun")}</option>
        {value !== undefined && !offered.some((run) => run.id === value) ? <option value={value}>{t("theRunOfThisAddress")}</option> : null}
        {offered.map((run) => <option key={run.id} value={run.id}>{run.number} · {run.snapshot.name} · {run.configuration.name}{run.configuration.builtin ? "" : ` v${run.configuration.version}`}</option>)}
      </select>
    </label>
  );
}
