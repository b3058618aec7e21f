/** Real clusters that are connected: how they are read, what is pending, and which runs are beside them. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Cluster, clustersQuery } from "@/api/clusters";
import { runsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Chip } from "@/components/Chip";
import { count } from "@/format/number";
import { exact } from "@/format/time";
import { State } from "@/pages/clusters/State";

import cards from "./ClusterCard.module.css";
import classes from "./HomePage.module.css";
import live from "./LiveClusters.module.css";
import { rich, t } from "./texts";

const LOOK = 5000;
const MOST_RUNS = 200;

type Does = "schedules" | "triesToSchedule" | "shadows" | "follows";

function whatItDoes(run: Run): Does {
  if (run.schedules) return run.dry_run ? "triesToSchedule" : "schedules";
  return run.shadow || run.own_world ? "shadows" : "follows";
}

export default function LiveClusters() {
  const { visits } = useMe();
  const clusters = useQuery({
    ...clustersQuery,
    enabled: !visits,
    refetchInterval: ({ state }) => (state.data?.results.some((one) => one.is_connected) === true ? LOOK : false),
  });
  const connected = (clusters.data?.results ?? []).filter((one) => one.is_connected);
  const runs = useQuery({
    ...runsQuery(0, MOST_RUNS, { beside: true }),
    enabled: connected.length > 0,
    refetchInterval: LOOK,
  });
  if (connected.length === 0) return null;
  return (
    <section aria-labelledby="live-clusters">
      <header className={classes.head}>
        <h2 id="live-clusters">{t("liveClusters")}</h2>
        <span className="muted">{t("readAsTheyAre")}</span>
        <span className="grow" />
        <Link to="/clusters" className="leads muted">
          {t("allN", { n: clusters.data?.results.length ?? 0 })}
        </Link>
      </header>
      <ul className={classes.clusters}>
        {connected.map((cluster) => (
          <Card
            key={cluster.name}
            cluster={cluster}
            runs={(runs.data?.results ?? []).filter((run) => run.follows === cluster.name)}
          />
        ))}
      </ul>
    </section>
  );
}

function Card({ cluster, runs }: { cluster: Cluster; runs: readonly Run[] }) {
  const facts = [
    [cluster.nodes, t("count.nodes", { count: cluster.nodes })],
    [cluster.pods, t("count.pods", { count: cluster.pods })],
    [cluster.pending, t("count.pending")],
  ] as const;
  return (
    <li className={cards.card} data-writes={runs.some((run) => whatItDoes(run) === "schedules")}>
      <div className={cards.head}>
        <Link to="/clusters/$cluster" params={{ cluster: cluster.name }} className="clip" title={cluster.server}>
          <b>{cluster.name}</b>
        </Link>
        <span className="grow" />
        <State cluster={cluster} />
      </div>
      {cluster.problem === "" ? null : (
        <p className="muted clip" title={cluster.problem}>
          {cluster.problem}
        </p>
      )}
      {runs.length === 0 ? (
        <p className="muted">{t("noRunBeside")}</p>
      ) : (
        <ul className={live.runs}>
          {runs.map((run) => (
            <li key={run.id} title={exact(run.started_at)}>
              <Chip kind="line">{t(`does.${whatItDoes(run)}`)}</Chip>
              <span className="clip">
                {rich("besideRun", {
                  run: (
                    <Link
                      to={whatItDoes(run) === "shadows" ? "/runs/$run/shadow" : "/runs/$run"}
                      params={{ run: run.id }}
                      className="leads"
                    >
                      {run.number}
                    </Link>
                  ),
                  configuration: run.configuration.name,
                  who: run.started_by,
                })}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div className={cards.foot}>
        {facts.map(([value, word]) => (
          <span key={word}>
            <b className="num">{count(value)}</b>
            {word}
          </span>
        ))}
      </div>
    </li>
  );
}
