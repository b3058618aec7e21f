/** The clusters that this server can be connected to, with the state of those that are. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Cluster, clustersQuery, connectCluster } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Breadcrumbs } from "@/components/Breadcrumbs";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { count } from "@/format/number";
import { useTitle } from "@/shell/useTitle";

import classes from "./Clusters.module.css";
import { State } from "./State";
import { rich, t } from "./texts";

export function ClustersPage() {
  useTitle(t("title"));
  const clusters = useQuery(clustersQuery);
  return (
    <Page>
      <Breadcrumbs>
        <Link to="/">{t("home")}</Link>
        <span>{t("title")}</span>
      </Breadcrumbs>
      <header className={classes.head}>
        <h1>{t("title")}</h1>
        <p className="muted">{t("readAsTheyAre")}</p>
      </header>
      <Panel aria-labelledby="contexts">
        <PanelHeader title={t("contexts")} id="contexts" />
        <p className={classes.note}>{t("neverUploaded")}</p>
        {clusters.isPending ? <Outlines count={3} height={52} label={t("reading")} /> : null}
        {clusters.data !== undefined || clusters.error === null ? null : (
          <Failed what={t("notListed")} error={clusters.error} retry={() => void clusters.refetch()} />
        )}
        {clusters.data === undefined || clusters.data.problem === "" ? null : (
          <Empty small>{clusters.data.problem}</Empty>
        )}
        <ul className={classes.list}>
          {clusters.data?.results.map((cluster) => (
            <Row key={cluster.name} cluster={cluster} />
          ))}
        </ul>
      </Panel>
    </Page>
  );
}

function Row({ cluster }: { cluster: Cluster }) {
  const { edits } = useMe();
  const queries = useQueryClient();
  const connect = useMutation({
    mutationFn: () => connectCluster(cluster.name),
    onSuccess: () => queries.invalidateQueries({ queryKey: clustersQuery.queryKey }),
  });
  const figures = { nodes: <b>{count(cluster.nodes)}</b>, pods: <b>{count(cluster.pods)}</b> };
  return (
    <li>
      <div>
        <Link to="/clusters/$cluster" params={{ cluster: cluster.name }}>
          <b>{cluster.name}</b>
        </Link>{" "}
        <State cluster={cluster} />
        <p className="muted">
          {cluster.server} {cluster.version}
        </p>
        {cluster.problem === "" ? null : <p className={classes.problem}>{cluster.problem}</p>}
        {connect.error === null ? null : <Failed what={t("notConnected")} error={connect.error} small />}
      </div>
      {cluster.is_connected ? (
        <span className={classes.figures}>
          {rich("figures", { ...figures, pending: <b>{count(cluster.pending)}</b> })}
        </span>
      ) : edits ? (
        <Button
          size="sm"
          sends
          disabled={connect.isPending}
          aria-label={t("connectNamed", { name: cluster.name })}
          onClick={() => connect.mutate()}
        >
          {t("connect")}
        </Button>
      ) : null}
    </li>
  );
}
