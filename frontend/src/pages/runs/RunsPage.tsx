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
import { t } from "./texts";

const route = getRouteApi("/runs");
const LIMIT = 50;

/** The newest run and the one before it on the same cluster: what one most likely wants beside each other. */
function pairOf(runs: readonly Run[]): { a?: string; b?: string } {
  const [newest] = runs;
  const before = runs.find((run) => run !== newest && run.snapshot.id === newest?.snapshot.id);
  return newest === undefined || before === undefined ? {} : { a: before.id, b: newest.id };
}

export function RunsPage() {
  useTitle(t("runs"));
  const { offset = 0, snapshot } = route.useSearch();
  const { me } = useMe();
  const runs = useQuery(runsQuery(offset, LIMIT, snapshot));
  const total = runs.data?.count ?? 0;
  const cluster = snapshot === undefined ? undefined : runs.data?.results[0]?.snapshot.name;
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("runs")}</h1>
        {runs.data === undefined ? null : <span className="muted num">{count(total)}{cluster === undefined ? "" : t("ofCluster", { cluster })}</span>}
        <span className="grow" />
        {total > 1 ? <ButtonLink to="/compare" search={pairOf(runs.data?.results ?? [])} size="sm">{t("compare")}</ButtonLink> : null}
        {snapshot === undefined ? null : <ButtonLink to="/runs" size="sm">{t("allClusters")}</ButtonLink>}
      </header>
      <Panel aria-label={t("runs")}>
        {runs.isPending ? <Outlines count={5} height={44} label={t("readingTheRuns")} /> : null}
        {runs.error === null ? null : <Failed what={t("couldNotListRuns")} error={runs.error} retry={() => void runs.refetch()} />}
        {runs.data?.results.length === 0 ? <Empty>{t("noRunYetPressRun")} <ButtonLink to="/" size="sm">{t("clusters")}</ButtonLink></Empty> : null}
        {runs.data !== undefined && runs.data.results.length > 0
          ? <RunsTable runs={runs.data.results} me={me?.username} now={runs.dataUpdatedAt} /> : null}
      </Panel>
      {total > LIMIT ? (
        <nav className={classes.pages} aria-label={t("pagesOfTheList")}>
          <ButtonLink to="/runs" search={(old) => ({ ...old, offset: Math.max(0, offset - LIMIT) })} disabled={offset === 0} size="sm" icon="chevronLeft">{t("newer")}</ButtonLink>
          <span className="faint num">{t("toOf", { offset: offset + 1, min: Math.min(total, offset + LIMIT), total })}</span>
          <ButtonLink to="/runs" search={(old) => ({ ...old, offset: offset + LIMIT })} disabled={offset + LIMIT >= total} size="sm" icon="chevronRight">{t("older")}</ButtonLink>
        </nav>
      ) : null}
    </Page>
  );
}
