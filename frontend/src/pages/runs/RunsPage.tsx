import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { runsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { ButtonLink } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunsTable } from "@/components/runs/RunsTable";
import { count } from "@/format/number";
import { useTitle } from "@/shell/useTitle";

import classes from "./RunsPage.module.css";

const route = getRouteApi("/runs");
const LIMIT = 50;

/** The newest run and the one before it on the same cluster: what one most likely wants beside each other. */
function pairOf(runs: readonly Run[]): { a?: string; b?: string } {
  const [newest] = runs;
  const before = runs.find((run) => run !== newest && run.snapshot.id === newest?.snapshot.id);
  return newest === undefined || before === undefined ? {} : { a: before.id, b: newest.id };
}

export function RunsPage() {
  useTitle("Runs");
  const { offset = 0, snapshot } = route.useSearch();
  const { me } = useMe();
  const runs = useQuery(runsQuery(offset, LIMIT, snapshot));
  const total = runs.data?.count ?? 0;
  const cluster = snapshot === undefined ? undefined : runs.data?.results[0]?.snapshot.name;
  return (
    <Page>
      <header className={classes.head}>
        <h1>Runs</h1>
        {runs.data === undefined ? null : <span className="muted num">{count(total)}{cluster === undefined ? "" : ` of ${cluster}`}</span>}
        <span className="grow" />
        {total > 1 ? <ButtonLink to="/compare" search={pairOf(runs.data?.results ?? [])} size="sm">Compare</ButtonLink> : null}
        {snapshot === undefined ? null : <ButtonLink to="/runs" size="sm">All clusters</ButtonLink>}
      </header>
      <Panel aria-label="Runs">
        {runs.isPending ? <Outlines count={5} height={44} label="Reading the runs" /> : null}
        {runs.error === null ? null : <Failed what="Could not list runs." error={runs.error} retry={() => void runs.refetch()} />}
        {runs.data?.results.length === 0 ? <Empty>No run yet. Press Run on a cluster. <ButtonLink to="/" size="sm">Clusters</ButtonLink></Empty> : null}
        {runs.data !== undefined && runs.data.results.length > 0
          ? <RunsTable runs={runs.data.results} me={me?.username} now={runs.dataUpdatedAt} /> : null}
      </Panel>
      {total > LIMIT ? (
        <nav className={classes.pages} aria-label="Pages of the list">
          <ButtonLink to="/runs" search={(old) => ({ ...old, offset: Math.max(0, offset - LIMIT) })} disabled={offset === 0} size="sm" icon="chevronLeft">Newer</ButtonLink>
          <span className="faint num">{count(offset + 1)} to {count(Math.min(total, offset + LIMIT))} of {count(total)}</span>
          <ButtonLink to="/runs" search={(old) => ({ ...old, offset: offset + LIMIT })} disabled={offset + LIMIT >= total} size="sm" icon="chevronRight">Older</ButtonLink>
        </nav>
      ) : null}
    </Page>
  );
}
