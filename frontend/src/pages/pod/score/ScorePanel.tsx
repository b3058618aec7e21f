/** The scores of one attempt: normalised × weight per plugin, stacked per node, with the arithmetic of the chosen one beside it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { memo, Suspense, useId } from "react";

import { scoresQuery, type ScoreWindow } from "@/api/podQueries";
import type { Attempt, ScoreRow, Scores } from "@/api/podTypes";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";
import { either } from "@/format/lists";
import { count } from "@/format/number";
import { later } from "@/parts/later";

import { t } from "../texts";
import { Sampled } from "../whatIf/Sampled";
import { TryWeights } from "../whatIf/TryWeights";
import { Histogram } from "./Histogram";
import { looksOf, type PluginLook } from "./pluginColours";
import { ScoreBars } from "./ScoreBars";
import classes from "./ScorePanel.module.css";
import { ScoreTable } from "./ScoreTable";
import { TOP } from "./scoreWindows";
import { SideBySide } from "./SideBySide";
import { StepByStep } from "./StepByStep";

const WhatIf = later(() => import("../whatIf/WhatIf"));

const route = getRouteApi("/runs/$run/pods/$namespace/$name");

export const ScorePanel = memo(function ScorePanel({ run, attempt }: { run: string; attempt: Attempt }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const hides = search.equal === "hide";
  const asTable = search.view === "table";
  const { visits } = useMe();
  // Weights are tried on the whole matrix of an attempt, which a share link does not open.
  const trying = search.trying === true && !visits;
  const sort = asTable ? search.sort : undefined;
  const window: ScoreWindow = {
    limit: TOP,
    ...(sort === undefined ? {} : { sort }),
    ...(hides ? { hide_equal: 1 as const } : {}),
  };
  const answer = useQuery({
    ...scoresQuery(run, attempt.number, { ...window, offset: 0 }),
    placeholderData: keepPreviousData,
  });
  // The arithmetic beside the bars is always complete, whatever the bars leave out.
  const whole = useQuery(scoresQuery(run, attempt.number, { offset: 0, limit: TOP }));
  const scores = answer.data;
  const subtitle = scores?.scored === true ? t("normalisedWeightStackedFeasibleNodes", { count: scores.feasible }) : "";
  return (
    <>
      <div className={classes.head}>
        <h3>{t("score")}</h3>
        <span className="muted">{subtitle}</span>
        <span className="grow" />
        {scores?.scored === true && !visits ? (
          <TryWeights
            trying={trying}
            onToggle={() =>
              void navigate({ search: (old) => ({ ...old, trying: trying ? undefined : true }), replace: true })
            }
          />
        ) : null}
        {scores?.scored === true && !trying ? (
          <>
            <label className={classes.hide}>
              <input
                type="checkbox"
                checked={hides}
                onChange={() =>
                  void navigate({ search: (old) => ({ ...old, equal: hides ? undefined : "hide" }), replace: true })
                }
              />
              {t("hideWhatIsEqualFor")}
            </label>
            <Segmented
              label={t("scoresAs")}
              value={asTable ? "table" : "bars"}
              onChange={(view) =>
                void navigate({
                  search: (old) => ({ ...old, view: view === "table" ? "table" : undefined, sort: undefined }),
                  replace: true,
                })
              }
              options={[
                { value: "bars", label: t("viewBars") },
                { value: "table", label: t("viewTable") },
              ]}
            />
          </>
        ) : null}
      </div>
      <Sampled
        run={run}
        attempt={attempt}
        asked={search.full === true}
        onAsk={() => void navigate({ search: (old) => ({ ...old, full: true }), replace: true })}
      />
      {scores === undefined || whole.data === undefined ? (
        (answer.error ?? whole.error) === null ? (
          <Outlines count={6} height={24} label={t("readingTheScores")} />
        ) : (
          <Failed
            what={t("theScoresCouldNotBe")}
            error={answer.error ?? whole.error}
            retry={() => {
              void answer.refetch();
              void whole.refetch();
            }}
          />
        )
      ) : !scores.scored ? (
        <Empty>{unscored(attempt)}</Empty>
      ) : trying ? (
        <Suspense fallback={<Outlines count={6} height={24} label={t("readingTheScores")} />}>
          <WhatIf run={run} attempt={attempt.number} />
        </Suspense>
      ) : (
        <Scored
          run={run}
          attempt={attempt}
          scores={scores}
          whole={whole.data}
          window={window}
          asTable={asTable}
          sort={sort}
          hides={hides}
        />
      )}
    </>
  );
});

function unscored(attempt: Attempt): string {
  if (attempt.sampling.feasible === 1) return t("oneNodeWasFeasibleSo");
  return attempt.sampling.feasible === 0 ? t("noNodeWasFeasibleSo") : t("noPluginOfThisProfile");
}

interface ScoredProps {
  run: string;
  attempt: Attempt;
  scores: Scores;
  whole: Scores;
  window: ScoreWindow;
  asTable: boolean;
  sort: string | undefined;
  hides: boolean;
}

function Scored({ run, attempt, scores, whole, window, asTable, sort, hides }: ScoredProps) {
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const looks = looksOf(scores.plugins);
  const allLooks = looksOf(whole.plugins);
  const name = search.node ?? whole.chosen?.node ?? whole.rows[0]?.node;
  const one = useScoreRow(run, attempt.number, whole, name);
  const other = useScoreRow(run, attempt.number, whole, search.beside);
  const select = (row: ScoreRow) =>
    void navigate({ search: (old) => ({ ...old, node: row.chosen ? undefined : row.node }), replace: true });
  const views = { run, attempt: attempt.number, scores, looks, window, selected: name ?? null, onSelect: select };
  return (
    <div className={classes.columns}>
      <div className={classes.main}>
        <Legend looks={looks} hidden={hides ? allLooks.length - looks.length : 0} />
        {looks.length === 0 ? (
          <Empty>{t("everyPluginGaveAllNodes")}</Empty>
        ) : asTable ? (
          <ScoreTable
            {...views}
            sort={sort}
            onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }), replace: true })}
          />
        ) : (
          <ScoreBars {...views} />
        )}
      </div>
      <aside className={classes.aside} aria-label={t("viewStepByStep")}>
        {one.row === null ? (
          <Unknown name={name} state={one} />
        ) : other.row !== null && other.row.node !== one.row.node ? (
          <SideBySide one={one.row} other={other.row} looks={allLooks} />
        ) : (
          <StepByStep row={one.row} looks={allLooks} />
        )}
        {search.beside === undefined ? null : <Unknown name={search.beside} state={other} />}
        <Beside
          key={search.beside}
          whole={whole}
          name={name}
          beside={search.beside}
          onChoose={(beside) => void navigate({ search: (old) => ({ ...old, beside }), replace: true })}
        />
        <Tie scores={whole} />
        {whole.feasible > TOP ? <Histogram scores={whole} /> : null}
      </aside>
    </div>
  );
}

interface FoundRow {
  row: ScoreRow | null;
  reading: boolean;
  error: Error | null;
}

/** The complete row of a node: among the best that are here already, else asked for by name. */
function useScoreRow(run: string, attempt: number, whole: Scores, name: string | undefined): FoundRow {
  const known =
    [...whole.rows, ...(whole.chosen === null ? [] : [whole.chosen])].find((row) => row.node === name) ?? null;
  const asked = useQuery({
    ...scoresQuery(run, attempt, { offset: 0, limit: TOP, q: name ?? "" }),
    enabled: name !== undefined && known === null,
  });
  return {
    row: known ?? asked.data?.rows.find((row) => row.node === name) ?? null,
    reading: asked.isLoading,
    error: asked.error,
  };
}

function Unknown({ name, state }: { name: string | undefined; state: FoundRow }) {
  if (name === undefined || state.row !== null) return null;
  if (state.reading)
    return (
      <p className="faint" role="status">
        {t("readingName", { name })}
      </p>
    );
  return (
    <p className={classes.tie} role="status">
      {state.error === null
        ? t("noFeasibleNodeOfThis", { name })
        : t("couldNotBeRead", { name, message: state.error.message })}
    </p>
  );
}

interface BesideProps {
  whole: Scores;
  /** The node that is shown. */
  name: string | undefined;
  beside: string | undefined;
  onChoose: (node: string | undefined) => void;
}

/** Any node of the attempt; the best are offered, others by their name. */
function Beside({ whole, name, beside, onChoose }: BesideProps) {
  const list = useId();
  const next = whole.rows.find((row) => row.node !== name)?.node;
  return (
    <form
      className={classes.beside}
      onSubmit={(event) => {
        event.preventDefault();
        const value = new FormData(event.currentTarget).get("beside");
        const text = typeof value === "string" ? value.trim() : "";
        onChoose(text === "" ? undefined : text);
      }}
    >
      <label htmlFor={`${list}-field`}>{t("beside")}</label>
      <input
        id={`${list}-field`}
        name="beside"
        list={list}
        defaultValue={beside ?? ""}
        placeholder={next === undefined ? t("aNode") : t("aNodeAs", { next })}
        autoComplete="off"
        className="mono"
        onChange={(event) => {
          const { value } = event.currentTarget;
          // A name chosen from the list is complete; one that is being typed waits for Enter.
          if (
            whole.rows.some((row) => row.node === value) &&
            !(event.nativeEvent instanceof InputEvent && event.nativeEvent.inputType.startsWith("insertText"))
          )
            onChoose(value);
        }}
      />
      <datalist id={list}>
        {whole.rows
          .filter((row) => row.node !== name)
          .map((row) => (
            <option key={row.node} value={row.node} />
          ))}
      </datalist>
      <Button size="sm" type="submit">
        {t("compare")}
      </Button>
      {beside === undefined ? null : (
        <Button size="sm" kind="ghost" onClick={() => onChoose(undefined)}>
          {t("alone")}
        </Button>
      )}
    </form>
  );
}

function Legend({ looks, hidden }: { looks: readonly PluginLook[]; hidden: number }) {
  return (
    <ul className={classes.legend}>
      {looks.map((look) => (
        <li key={look.name}>
          <i
            className={classes.key}
            style={{ background: `var(--pl-${look.colour})` }}
            data-hatched={look.hatched || undefined}
          />
          {look.name}
          <em className="num">× {count(look.weight)}</em>
        </li>
      ))}
      {hidden > 0 ? <li className="faint">{t("pluginsAreEqualForAll", { count: hidden })}</li> : null}
    </ul>
  );
}

function Tie({ scores }: { scores: Scores }) {
  const { tie } = scores;
  if (tie.count < 2) {
    return scores.runner_up === null || scores.chosen === null ? null : (
      <p className={classes.tie}>
        <span>
          <b>{t("aheadOf", { margin: scores.chosen.total - scores.runner_up.total, node: scores.runner_up.node })}</b>
          {scores.decided_by === null ? "" : ` ${t("madeMost", { plugin: scores.decided_by })}`}
        </span>
      </p>
    );
  }
  const others = scores.rows.filter((row) => row.rank === 1 && !row.chosen).map((row) => row.node);
  const named = others.length <= 3 ? either(others) : t("oneOfOthers", { n: tie.count - 1 });
  return (
    <p className={classes.tie}>
      <span>
        <b>{t("oneOfEqual", { ties: tie.count, by: tie.chosen_by })}</b>
        {tie.seeded && named !== "" ? ` ${t("withAnotherSeed", { named })}` : ""}
      </span>
    </p>
  );
}
