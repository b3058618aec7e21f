/** One real cluster: what is read of it, how far, what the credentials may do, and snapshots of it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";

import {
  type ClusterDetails,
  clusterQuery,
  clustersQuery,
  connectCluster,
  disconnectCluster,
  snapshotCluster,
} from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Breadcrumbs } from "@/components/Breadcrumbs";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { exact } from "@/format/time";
import { useTitle } from "@/shell/useTitle";

import classes from "./Clusters.module.css";
import { FollowButton } from "./FollowButton";
import { Kinds } from "./Kinds";
import { Rights } from "./Rights";
import { Schedule } from "./Schedule";
import { Shadow } from "./Shadow";
import { State } from "./State";
import { t } from "./texts";

const route = getRouteApi("/clusters/$cluster");

export function ClusterPage() {
  const { cluster: name } = route.useParams();
  useTitle(name);
  const cluster = useQuery(clusterQuery(name));
  return (
    <Page>
      <Breadcrumbs>
        <Link to="/">{t("home")}</Link>
        <Link to="/clusters">{t("title")}</Link>
        <span>{name}</span>
      </Breadcrumbs>
      {cluster.data === undefined ? (
        cluster.error === null ? (
          <Outlines count={4} height={60} label={t("reading")} />
        ) : (
          <Failed what={t("notRead")} error={cluster.error} retry={() => void cluster.refetch()} />
        )
      ) : (
        <Details cluster={cluster.data} now={cluster.dataUpdatedAt} />
      )}
    </Page>
  );
}

function Details({ cluster, now }: { cluster: ClusterDetails; now: number }) {
  return (
    <>
      <Head cluster={cluster} />
      {cluster.problem === "" ? null : (
        <p className={classes.fault} role="alert">
          {cluster.problem}
          {cluster.again_at === null ? null : ` ${t("triedAgain", { at: exact(cluster.again_at) })}`}
        </p>
      )}
      {cluster.is_insecure ? <p className={classes.fault}>{t("insecure")}</p> : null}
      {cluster.is_connected ? (
        <div className={classes.columns}>
          <div className={classes.column}>
            <Kinds cluster={cluster} now={now} />
            <Shadow cluster={cluster} />
            <Schedule cluster={cluster} />
            <Snapshots cluster={cluster} />
          </div>
          <Rights cluster={cluster} />
        </div>
      ) : (
        <Snapshots cluster={cluster} />
      )}
    </>
  );
}

function Head({ cluster }: { cluster: ClusterDetails }) {
  const { edits } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const again = () => queries.invalidateQueries({ queryKey: clustersQuery.queryKey });
  const toggle = useMutation({
    mutationFn: async () => {
      await (cluster.is_connected ? disconnectCluster(cluster.name) : connectCluster(cluster.name));
    },
    onSuccess: again,
  });
  const snapshot = useMutation({
    mutationFn: () => snapshotCluster(cluster.name),
    onSuccess: (started) => navigate({ to: "/", search: { import: started.id } }),
  });
  return (
    <header className={classes.head}>
      <div className={classes.title}>
        <h1>{cluster.name}</h1>
        <State cluster={cluster} />
        <span className="muted">
          {cluster.server} {cluster.version}
        </span>
        <span className="grow" />
        {cluster.is_connected ? <FollowButton cluster={cluster} /> : null}
        {edits ? (
          <>
            <Button
              kind="primary"
              sends
              disabled={snapshot.isPending || !cluster.is_offered}
              title={t("whatASnapshotIs")}
              onClick={() => snapshot.mutate()}
            >
              {t("takeASnapshot")}
            </Button>
            <Button sends disabled={toggle.isPending} onClick={() => toggle.mutate()}>
              {cluster.is_connected ? t("disconnect") : t("connect")}
            </Button>
          </>
        ) : null}
      </div>
      {toggle.error === null ? null : <Failed what={t("notConnected")} error={toggle.error} small />}
      {snapshot.error === null ? null : <Failed what={t("noSnapshot")} error={snapshot.error} small />}
    </header>
  );
}

function Snapshots({ cluster }: { cluster: ClusterDetails }) {
  return (
    <Panel aria-labelledby="snapshots">
      <PanelHeader title={t("snapshots")} id="snapshots" />
      {cluster.snapshots.length === 0 ? <Empty small>{t("noSnapshotYet")}</Empty> : null}
      <ul className={classes.list}>
        {cluster.snapshots.map((one) => (
          <li key={one.id}>
            <div>
              <b>{one.name}</b>
              <p className="muted">{t("nodesAndPods", { nodes: one.counts.nodes, pods: one.counts.pods })}</p>
            </div>
            <span className="faint">{exact(one.created_at)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
