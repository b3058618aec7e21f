/** A run beside the real cluster: how the pods that both schedulers decided about ended there and here, and why it differs. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { runQuery } from "@/api/queries";
import { realQuery } from "@/api/realQueries";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { sentences } from "@/format/lists";
import { exact } from "@/format/time";
import classes from "@/pages/compare/Compare.module.css";
import { useTitle } from "@/shell/useTitle";

import { AddEvents } from "./AddEvents";
import { RealPods } from "./RealPods";
import { rich, t } from "./texts";
import { headline, remarks } from "./words";

const route = getRouteApi("/runs/$run/real");

export function RealPage() {
  const { run: id } = route.useParams();
  const run = useQuery(runQuery(id));
  const real = useQuery(realQuery(id));
  useTitle(t("title"));
  const nothing = real.data?.events === 0;
  const { first, last } = real.data ?? { first: null, last: null };
  return (
    <Page>
      <RunTrail run={id} name={run.data?.snapshot.name}>
        {t("title")}
      </RunTrail>
      <header className={classes.head}>
        <h1>{t("title")}</h1>
        <span className="grow" />
        {nothing || run.data === undefined ? null : <AddEvents snapshot={run.data.snapshot.id} run={id} />}
      </header>
      {real.data !== undefined && first !== null && last !== null ? (
        <>
          <Panel className={classes.answer ?? ""} aria-label={t("theDifference")}>
            <h2>{headline(real.data)}</h2>
            <p className="muted">
              {sentences([
                t("eventsFromTo", { count: real.data.events, first: exact(first), last: exact(last) }),
                ...remarks(real.data),
              ])}
            </p>
            {real.data.settled ? null : (
              <p className="muted">
                {t("mayChange")}{" "}
                <Button size="sm" kind="ghost" onClick={() => void real.refetch()}>
                  {t("readAgain")}
                </Button>
              </p>
            )}
          </Panel>
          <RealPods key={id} run={id} summary={real.data} />
        </>
      ) : (
        <Panel>
          {nothing && run.data !== undefined ? (
            <Empty action={<AddEvents snapshot={run.data.snapshot.id} run={id} />}>
              {rich("noEvents", { command: <code className="mono">kubectl get events -A -o json</code> })}
            </Empty>
          ) : real.error === null ? (
            <Outlines count={6} height={32} label={t("comparing")} />
          ) : (
            <Failed what={t("couldNotCompare")} error={real.error} retry={() => void real.refetch()} />
          )}
        </Panel>
      )}
    </Page>
  );
}
