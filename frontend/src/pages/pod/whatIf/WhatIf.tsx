/** "Try weights": sliders that rank the stored attempt again while they are moved, and what that means for the whole run. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";

import { matrixQuery } from "@/api/whatIf";
import { Failed, Outlines } from "@/components/Outcome";

import { looksOf } from "../score/pluginColours";
import { FilterSwitches } from "./FilterSwitches";
import { OverTheRun } from "./OverTheRun";
import { RankedBars } from "./RankedBars";
import { isEqualForAll, type Matrix, matrixOf, readWeights, rerank, type Weights, writeWeights } from "./ranking";
import { t } from "./texts";
import { verdictOf } from "./verdict";
import { WeightSliders } from "./WeightSliders";
import classes from "./WhatIf.module.css";

const route = getRouteApi("/runs/$run/pods/$namespace/$name");
/** A slider that is being pulled does not fill the address bar. */
const SETTLE = 250;

export default function WhatIf({ run, attempt }: { run: string; attempt: number }) {
  const answer = useQuery(matrixQuery(run, attempt));
  const matrix = useMemo(() => (answer.data === undefined ? null : matrixOf(answer.data)), [answer.data]);
  if (matrix === null) {
    return answer.error === null ? (
      <Outlines count={6} height={24} label={t("reading")} />
    ) : (
      <Failed what={t("couldNotBeRead")} error={answer.error} retry={() => void answer.refetch()} />
    );
  }
  return <Trying run={run} matrix={matrix} />;
}

function Trying({ run, matrix }: { run: string; matrix: Matrix }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [weights, setWeights] = useState<Weights>(() => readWeights(search.weights, matrix.plugins));
  const filtersOff = useMemo(
    () => (search.off ?? "").split(",").filter((name) => matrix.filters.includes(name)),
    [search.off, matrix.filters],
  );
  const written = writeWeights(weights);
  const settled = useMemo(() => readWeights(search.weights, matrix.plugins), [search.weights, matrix.plugins]);
  useEffect(() => {
    if (written === search.weights) return undefined;
    const timer = window.setTimeout(
      () =>
        void navigate({
          search: (old) => ({ ...old, weights: written, exact: undefined }),
          replace: true,
          resetScroll: false,
        }),
      SETTLE,
    );
    return () => window.clearTimeout(timer);
  }, [written, search.weights, navigate]);
  const before = useMemo(() => rerank(matrix, new Map()), [matrix]);
  const now = useMemo(() => rerank(matrix, weights), [matrix, weights]);
  const looks = useMemo(
    () =>
      looksOf(matrix.plugins.map((one) => ({ name: one.name, weight: one.weight, equal_for_all: isEqualForAll(one) }))),
    [matrix],
  );
  const verdict = verdictOf(matrix, before, now, weights);
  const reset = () => {
    setWeights(new Map());
    void navigate({
      search: (old) => ({ ...old, weights: undefined, off: undefined, exact: undefined }),
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <div className={classes.columns}>
      <div className={classes.main}>
        <div className={classes.verdict} role="status" data-moved={verdict.moved || undefined}>
          <b>{verdict.headline}</b>
          {verdict.detail === "" ? null : <p>{verdict.detail}</p>}
        </div>
        <RankedBars matrix={matrix} before={before} now={now} looks={looks} weights={weights} />
      </div>
      <aside className={classes.aside} aria-label={t("weights")}>
        <WeightSliders
          matrix={matrix}
          looks={looks}
          weights={weights}
          onChange={setWeights}
          onReset={weights.size + filtersOff.length > 0 ? reset : null}
        />
        <FilterSwitches
          filters={matrix.filters}
          off={filtersOff}
          onChange={(names) =>
            void navigate({
              search: (old) => ({ ...old, off: names.length === 0 ? undefined : names.join(","), exact: undefined }),
              replace: true,
              resetScroll: false,
            })
          }
        />
        <OverTheRun
          key={`${search.weights ?? ""} ${filtersOff.join()}`}
          run={run}
          profile={matrix.profile}
          weights={settled}
          filtersOff={filtersOff}
          exact={search.exact}
          onExact={(id) =>
            void navigate({ search: (old) => ({ ...old, exact: id }), replace: true, resetScroll: false })
          }
        />
      </aside>
    </div>
  );
}
