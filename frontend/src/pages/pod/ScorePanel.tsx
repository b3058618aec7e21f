/** The scores of one attempt: normalised × weight per plugin, stacked per node, with the arithmetic of the chosen one beside it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { scoresQuery, type ScoreWindow } from "@/api/podQueries";
import type { Attempt, ScoreRow, Scores } from "@/api/podTypes";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";
import { count, counted } from "@/format/number";

import { looksOf, type PluginLook } from "./pluginColours";
import { ScoreBars } from "./ScoreBars";
import { Histogram } from "./Histogram";
import classes from "./ScorePanel.module.css";
import { ScoreTable } from "./ScoreTable";
import { TOP } from "./scoreWindows";
import { StepByStep } from "./StepByStep";

const route = getRouteApi("/runs/$run/pods/$namespace/$name");

export function ScorePanel({ run, attempt }: { run: string; attempt: Attempt }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const hides = search.equal === "hide";
  const asTable = search.view === "table";
  const sort = asTable ? search.sort : undefined;
  const window: ScoreWindow = { limit: TOP, ...(sort === undefined ? {} : { sort }), ...(hides ? { hide_equal: 1 as const } : {}) };
  const answer = useQuery({ ...scoresQuery(run, attempt.number, { ...window, offset: 0 }), placeholderData: keepPreviousData });
  // The arithmetic beside the bars is always complete, whatever the bars leave out.
  const whole = useQuery(scoresQuery(run, attempt.number, { offset: 0, limit: TOP }));
  const scores = answer.data;
  const subtitle = scores?.scored === true ? `normalised × weight, stacked; ${counted(scores.feasible, "feasible node")}` : "";
  return (
    <>
      <div className={classes.head}>
        <h3>Score</h3>
        <span className="muted">{subtitle}</span>
        <span className="grow" />
        {scores?.scored === true ? (
          <>
            <label className={classes.hide}>
              <input type="checkbox" checked={hides} onChange={() => void navigate({ search: (old) => ({ ...old, equal: hides ? undefined : "hide" }), replace: true })} />
              Hide what is equal for all
            </label>
            <Segmented label="Scores as" value={asTable ? "table" : "bars"}
              onChange={(view) => void navigate({ search: (old) => ({ ...old, view: view === "table" ? "table" : undefined, sort: undefined }), replace: true })}
              options={[{ value: "bars", label: "Bars" }, { value: "table", label: "Table" }]} />
          </>
        ) : null}
      </div>
      {scores === undefined || whole.data === undefined ? (answer.error ?? whole.error) === null ? <Outlines count={6} height={24} label="Reading the scores" />
        : <Failed what="The scores could not be read." error={answer.error ?? whole.error} retry={() => { void answer.refetch(); void whole.refetch(); }} />
        : !scores.scored ? <Empty>{unscored(attempt)}</Empty>
          : <Scored run={run} attempt={attempt} scores={scores} whole={whole.data} window={window} asTable={asTable} sort={sort} hides={hides} />}
    </>
  );
}

function unscored(attempt: Attempt): string {
  if (attempt.sampling.feasible === 1) return "One node was feasible, so nothing was scored.";
  return attempt.sampling.feasible === 0 ? "No node was feasible, so nothing was scored." : "No plugin of this profile scores, so every feasible node is equal.";
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
  const [selected, setSelected] = useState<ScoreRow | null>(null);
  const looks = looksOf(scores.plugins);
  const allLooks = looksOf(whole.plugins);
  const row = selected ?? whole.chosen ?? whole.rows[0] ?? null;
  // With plugins left out, a clicked row has fewer cells; its full row is read by name.
  const full = useQuery({
    ...scoresQuery(run, attempt.number, { offset: 0, limit: TOP, q: row?.node ?? "" }),
    enabled: row !== null && row.cells.length !== allLooks.length && !whole.rows.some((one) => one.node === row.node),
  });
  const shown = row === null ? null
    : row.cells.length === allLooks.length ? row
      : whole.rows.find((one) => one.node === row.node) ?? full.data?.rows.find((one) => one.node === row.node) ?? null;
  const views = { run, attempt: attempt.number, scores, looks, window, selected: row?.node ?? null, onSelect: setSelected };
  return (
    <div className={classes.columns}>
      <div className={classes.main}>
        <Legend looks={looks} hidden={hides ? allLooks.length - looks.length : 0} />
        {looks.length === 0 ? <Empty>Every plugin gave all nodes the same.</Empty>
          : asTable ? <ScoreTable {...views} sort={sort} onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }), replace: true })} /> : <ScoreBars {...views} />}
      </div>
      <aside className={classes.aside} aria-label="Step by step">
        {shown === null ? null : <StepByStep row={shown} looks={allLooks} />}
        <Tie scores={whole} />
        {whole.feasible > TOP ? <Histogram scores={whole} /> : null}
      </aside>
    </div>
  );
}

function Legend({ looks, hidden }: { looks: readonly PluginLook[]; hidden: number }) {
  return (
    <ul className={classes.legend}>
      {looks.map((look) => (
        <li key={look.name}>
          <i className={classes.key} style={{ background: `var(--pl-${look.colour})` }} data-hatched={look.hatched || undefined} />
          {look.name}<em className="num">× {count(look.weight)}</em>
        </li>
      ))}
      {hidden > 0 ? <li className="faint">{counted(hidden, "plugin is", "plugins are")} equal for all and left out</li> : null}
    </ul>
  );
}

function Tie({ scores }: { scores: Scores }) {
  const { tie } = scores;
  if (tie.count < 2) {
    return scores.runner_up === null || scores.chosen === null ? null : (
      <p className={classes.tie}><span><b>{count(scores.chosen.total - scores.runner_up.total)} ahead of {scores.runner_up.node}.</b>{scores.decided_by === null ? "" : ` ${scores.decided_by} made most of the difference.`}</span></p>
    );
  }
  const others = scores.rows.filter((row) => row.rank === 1 && !row.chosen).map((row) => row.node);
  const named = others.length <= 3 ? others.join(" or ") : `one of ${count(tie.count - 1)} others`;
  const seeded = tie.chosen_by.startsWith("seed");
  return <p className={classes.tie}><span><b>1 of {count(tie.count)} equal, chosen by {tie.chosen_by}.</b>{seeded && named !== "" ? ` With another seed ${named} may win.` : ""}</span></p>;
}
