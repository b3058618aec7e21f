import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { configurationsQuery, runsQuery, snapshotsQuery } from "@/api/queries";
import type { Snapshot } from "@/api/types";
import { useMe } from "@/api/useMe";
import { ButtonLink } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunsTable } from "@/components/runs/RunsTable";
import { later } from "@/parts/later";
import { useTitle } from "@/shell/useTitle";

import { ClusterCard } from "./ClusterCard";
import classes from "./HomePage.module.css";
import { ImportPanel } from "./ImportPanel";
import { t } from "./texts";

const LiveClusters = later(() => import("./LiveClusters"));
const StartRun = later(() => import("./StartRun"));
const RECENT = 5;

export function HomePage() {
  useTitle(undefined);
  const [starting, setStarting] = useState<Snapshot | null>(null);
  return (
    <Page>
      <div className={classes.grid}>
        <div>
          <Suspense>
            <LiveClusters />
          </Suspense>
          <Clusters onRun={setStarting} />
          <RecentRuns />
          <Configurations />
        </div>
        <aside>
          <ImportPanel onRun={setStarting} />
        </aside>
      </div>
      <Suspense fallback={null}>
        {starting === null ? null : <StartRun snapshot={starting} onClose={() => setStarting(null)} />}
      </Suspense>
    </Page>
  );
}

function Clusters({ onRun }: { onRun: (snapshot: Snapshot) => void }) {
  const snapshots = useQuery(snapshotsQuery());
  const newest = snapshots.data?.results.find((one) => one.source !== "sample") ?? snapshots.data?.results[0];
  return (
    <section aria-labelledby="clusters">
      <header className={classes.head}>
        <h1 id="clusters">{t("clusters")}</h1>
        <span className="muted">{t("snapshotsYouCanPlayAgain")}</span>
        <span className="grow" />
        <Link to="/clusters" className="leads muted">
          {t("liveClusters")}
        </Link>
      </header>
      {snapshots.isPending ? <Outlines count={4} height={120} label={t("readingTheClusters")} /> : null}
      {snapshots.error === null ? null : (
        <Failed what={t("couldNotListClusters")} error={snapshots.error} retry={() => void snapshots.refetch()} />
      )}
      {snapshots.data?.results.length === 0 ? (
        <Panel>
          <Empty>{t("dropAClusterHereOr")}</Empty>
        </Panel>
      ) : null}
      <ul className={classes.clusters}>
        {snapshots.data?.results.map((snapshot) => (
          <ClusterCard
            key={snapshot.id}
            snapshot={snapshot}
            now={snapshots.dataUpdatedAt}
            primary={snapshot === newest}
            onRun={() => onRun(snapshot)}
          />
        ))}
      </ul>
    </section>
  );
}

function RecentRuns() {
  const { me } = useMe();
  const runs = useQuery(runsQuery(0, RECENT));
  return (
    <section aria-labelledby="recent">
      <header className={classes.head}>
        <h2 id="recent">{t("recentRuns")}</h2>
        <span className="grow" />
        {runs.data !== undefined && runs.data.count > RECENT ? (
          <Link to="/runs" className="leads muted">
            {t("allN", { n: runs.data.count })}
          </Link>
        ) : null}
      </header>
      <Panel className={classes.runs ?? ""}>
        {runs.isPending ? <Outlines count={5} height={40} label={t("readingTheRuns")} /> : null}
        {runs.error === null ? null : (
          <Failed what={t("couldNotListRuns")} error={runs.error} retry={() => void runs.refetch()} />
        )}
        {runs.data?.results.length === 0 ? <Empty>{t("noRunYetPressRun")}</Empty> : null}
        {runs.data !== undefined && runs.data.results.length > 0 ? (
          <RunsTable runs={runs.data.results.slice(0, RECENT)} me={me?.username} now={runs.dataUpdatedAt} />
        ) : null}
      </Panel>
    </section>
  );
}

function Configurations() {
  const { edits } = useMe();
  const configurations = useQuery(configurationsQuery());
  return (
    <section aria-labelledby="configurations">
      <header className={classes.head}>
        <h2 id="configurations">{t("configurations")}</h2>
        <span className="grow" />
        {edits ? (
          <ButtonLink to="/configurations" size="sm" icon="plus">
            {t("new")}
          </ButtonLink>
        ) : null}
      </header>
      {configurations.isPending ? <Outlines count={2} height={48} label={t("readingTheConfigurations")} /> : null}
      {configurations.error === null ? null : (
        <Failed
          what={t("couldNotListConfigurations")}
          error={configurations.error}
          retry={() => void configurations.refetch()}
        />
      )}
      <ul className={classes.configurations}>
        {configurations.data?.results.map((one) => (
          <li key={one.id}>
            <Link
              to="/configurations/$configuration"
              params={{ configuration: one.id }}
              className={classes.configuration}
            >
              <span className="clip" title={one.name}>
                <b>{one.name}</b>
                <em className="clip" title={one.description}>
                  {one.builtin ? t("readOnly", { description: one.description }) : one.description}
                </em>
              </span>
              <Chip>{one.builtin ? t("builtIn") : `v${one.latest.number}`}</Chip>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
