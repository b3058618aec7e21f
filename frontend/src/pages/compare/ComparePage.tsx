/** Two runs side by side: what each came to, how full nodes are, what still fits, and the pods that went another way. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { ApiError } from "@/api/client";
import { comparisonQuery } from "@/api/compareQueries";
import { runQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { ForkBadge } from "@/components/runs/ForkBadge";
import { later } from "@/parts/later";
import { useTitle } from "@/shell/useTitle";

import classes from "./Compare.module.css";
import { Configurations } from "./Configurations";
import { Differences } from "./Differences";
import { Fullness } from "./Fullness";
import { CameTo, StillFits, Zones } from "./Tables";
import { t } from "./texts";
import { configurationName, headline, type Names, namesOf } from "./words";

const RunPicker = later(() => import("./RunPicker"));
const route = getRouteApi("/compare");
type Side = "a" | "b";

export function ComparePage() {
  const { a, b, view } = route.useSearch();
  const navigate = route.useNavigate();
  const { visits } = useMe();
  const [picking, setPicking] = useState<Side | null>(null);
  const chosen = {
    a: useQuery({ ...runQuery(a ?? ""), enabled: a !== undefined }),
    b: useQuery({ ...runQuery(b ?? ""), enabled: b !== undefined }),
  };
  const comparison = useQuery({ ...comparisonQuery(a ?? "", b ?? ""), enabled: a !== undefined && b !== undefined });
  const seen = comparison.data;
  const missing = (["a", "b"] as const).filter((which) => isMissing(chosen[which].error));
  const names: Names = seen === undefined ? { a: "A", b: "B" } : namesOf(seen);
  useTitle(seen === undefined ? t("compare") : t("aAndB", { a: names.a, b: names.b }));
  const choose = (side: Side, run: Run) => {
    setPicking(null);
    void navigate({ search: (old) => ({ ...old, [side]: run.id, kind: undefined, offset: undefined }) });
  };
  const side = (which: Side, value: string | undefined) => (
    <SideButton
      side={which}
      value={value}
      missing={missing.includes(which)}
      run={value === undefined ? undefined : chosen[which].data}
      onPick={visits ? undefined : () => setPicking(which)}
    />
  );
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("compare")}</h1>
        <div className={classes.sides}>
          {side("a", a)}
          <Button
            size="sm"
            kind="ghost"
            disabled={a === undefined && b === undefined}
            onClick={() =>
              void navigate({
                search: (old) => ({ ...old, a: b, b: a, kind: undefined, offset: undefined }),
                replace: true,
              })
            }
          >
            {t("swap")}
          </Button>
          {side("b", b)}
        </div>
      </header>
      {a === undefined || b === undefined ? (
        <Panel>
          <Empty>{t("chooseTwoRunsBestOf")}</Empty>
        </Panel>
      ) : seen === undefined ? (
        <Panel>
          {missing.length > 0 ? (
            <Empty
              action={
                visits ? null : (
                  <>
                    {missing.map((which) => (
                      <Button key={which} size="sm" onClick={() => setPicking(which)}>
                        {t("chooseAnotherFor", { side: which.toUpperCase() })}
                      </Button>
                    ))}
                  </>
                )
              }
            >
              {missing.length === 2
                ? t("neitherRunExists")
                : t("thatRunDoesNotExist", { side: missing[0]?.toUpperCase() ?? "" })}
            </Empty>
          ) : comparison.error === null ? (
            <Outlines count={8} height={28} label={t("comparingTheRuns")} />
          ) : (
            <Failed what={t("theRunsCouldNotBe")} error={comparison.error} retry={() => void comparison.refetch()} />
          )}
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
              <p className="muted">
                {seen.a.settled || seen.b.settled
                  ? t("runMayStillChange", { run: seen.a.settled ? names.b : names.a })
                  : t("runsMayStillChange", { a: names.a, b: names.b })}{" "}
                <Button size="sm" kind="ghost" onClick={() => void comparison.refetch()}>
                  {t("readAgain")}
                </Button>
              </p>
            )}
          </Panel>
          <div className={classes.columns}>
            <div className={classes.stack}>
              <CameTo comparison={seen} names={names} />
              {visits ? null : <Configurations comparison={seen} />}
              <Zones comparison={seen} names={names} />
            </div>
            <div className={classes.stack}>
              <Fullness
                comparison={seen}
                names={names}
                asTable={view === "table"}
                onView={(table) =>
                  void navigate({ search: (old) => ({ ...old, view: table ? "table" : undefined }), replace: true })
                }
              />
              <StillFits comparison={seen} names={names} />
            </div>
          </div>
          <Differences key={`${a} ${b}`} a={a} b={b} comparison={seen} names={names} />
        </>
      )}
      <Suspense fallback={null}>
        {picking === null ? null : (
          <RunPicker
            side={picking}
            chosen={picking === "a" ? a : b}
            cluster={chosen[picking === "a" ? "b" : "a"].data?.snapshot.id}
            onChoose={(run) => choose(picking, run)}
            onClose={() => setPicking(null)}
          />
        )}
      </Suspense>
    </Page>
  );
}

function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

function RunWords({ run }: { run: Run }) {
  return (
    <>
      <Link to="/runs/$run" params={{ run: run.id }} className="leads">
        {run.number}
      </Link>
      {t("clusterWithSeed", { cluster: run.snapshot.name, configuration: configurationName(run), seed: run.seed })}
      {run.parent === null ? null : (
        <>
          {" "}
          <ForkBadge run={run} />
        </>
      )}
    </>
  );
}

interface SideButtonProps {
  side: Side;
  value: string | undefined;
  /** The address names a run that there is not, or no longer. */
  missing: boolean;
  /** Undefined until it is read, or when there is none. */
  run: Run | undefined;
  /** Undefined for visitors, who see the runs of their links only. */
  onPick: (() => void) | undefined;
}

/** Which run this side shows; pressed, another one is chosen. */
function SideButton({ side, value, missing, run, onPick }: SideButtonProps) {
  const words =
    run === undefined
      ? value === undefined
        ? t("chooseARun")
        : missing
          ? t("noSuchRun")
          : t("theRunOfThisAddress")
      : t("configurationOfRun", { configuration: configurationName(run), run: run.number, cluster: run.snapshot.name });
  return (
    <button type="button" className={classes.side} disabled={onPick === undefined} onClick={onPick} title={words}>
      <b aria-hidden="true">{side.toUpperCase()}</b>
      <span className="srOnly">{t("runOfSide", { side: side.toUpperCase() })}</span>
      <span className="clip">{words}</span>
      <Icon name="chevronDown" size={12} />
    </button>
  );
}
