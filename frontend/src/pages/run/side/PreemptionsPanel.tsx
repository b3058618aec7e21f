/** Who preempted whom over the run, newest first; takes the place of the activity. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { preemptionsQuery } from "@/api/podQueries";
import type { PreemptionRow } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { PodName, Priority } from "@/components/Chip";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { exact, runTime } from "@/format/time";

import { rich, t } from "../texts";
import classes from "./PreemptionsPanel.module.css";

const FIRST = 50;
const MOST = 200;

export function PreemptionsPanel({ run, turn, onBack }: { run: string; turn: number; onBack: () => void }) {
  const [limit, setLimit] = useState(FIRST);
  const rows = useQuery(preemptionsQuery(run, turn, limit));
  const total = rows.data?.count ?? 0;
  const shown = rows.data?.results ?? [];
  return (
    <section className={classes.panel} aria-label={t("preemptions")}>
      <div className={classes.header}>
        <PanelHeader title={t("preemptions")}>
          <span className="faint num">{rows.data === undefined ? "" : t("nVictims", { count: total })}</span>
          <span className="grow" />
          <Button size="sm" kind="ghost" onClick={onBack}>
            {t("activity")}
          </Button>
        </PanelHeader>
      </div>
      {rows.data === undefined ? (
        rows.error === null ? (
          <Outlines count={4} height={34} label={t("readingThePreemptions")} />
        ) : (
          <Failed
            what={t("thePreemptionsCouldNotBe")}
            error={rows.error}
            retryLabel={t("readAgain")}
            retry={() => void rows.refetch()}
          />
        )
      ) : null}
      {rows.data !== undefined && total === 0 ? <Empty>{t("nobodyWasPreemptedAPod")}</Empty> : null}
      <ScrollRegion as="ol" className={classes.list} label={t("victimsNewestFirst")}>
        {shown.map((row) => (
          <Row key={`${row.number} ${row.victim.namespace}/${row.victim.name}`} run={run} row={row} />
        ))}
        {shown.length < total ? (
          <li className={classes.older}>
            {limit < MOST ? (
              <Button size="sm" kind="ghost" onClick={() => setLimit(MOST)}>
                {t("older")}
              </Button>
            ) : (
              <span className="faint">{t("theNewestOf", { MOST, total })}</span>
            )}
          </li>
        ) : null}
      </ScrollRegion>
    </section>
  );
}

function Row({ run, row }: { run: string; row: PreemptionRow }) {
  return (
    <li className={classes.row}>
      <time dateTime={row.at} title={exact(row.at)}>
        {runTime(row.at)}
      </time>
      <p>
        <Link
          className="leads"
          to="/runs/$run/pods/$namespace/$name"
          params={{ run, namespace: row.pod.namespace, name: row.pod.name }}
          search={{ attempt: row.attempt, point: "PostFilter" }}
        >
          <PodName pod={row.pod} />
        </Link>
        {row.pod.priority === null ? null : <Priority value={row.pod.priority} className={classes.priority} />}{" "}
        {rich("preemptedOn", {
          victim: (
            <>
              <Link
                className="leads"
                to="/runs/$run/pods/$namespace/$name"
                params={{ run, namespace: row.victim.namespace, name: row.victim.name }}
              >
                <PodName pod={row.victim} />
              </Link>
              {row.victim.priority === null ? null : (
                <Priority value={row.victim.priority} className={classes.priority} />
              )}
            </>
          ),
          node: (
            <Link className="mono" to="/runs/$run" params={{ run }} search={{ node: row.node }}>
              {row.node}
            </Link>
          ),
        })}
      </p>
    </li>
  );
}
