/** The shadow of a followed run: how far its configuration agrees with the real scheduler, step by step or on its own. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { followedQuery } from "@/api/clusters";
import { runQuery } from "@/api/queries";
import { shadowQuery } from "@/api/shadowQueries";
import { useMe } from "@/api/useMe";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { Until } from "@/components/Until";
import { useTold } from "@/live/useLive";
import compare from "@/pages/compare/Compare.module.css";
import { useTitle } from "@/shell/useTitle";

import { Agreement } from "./Agreement";
import { AlertBelow } from "./AlertBelow";
import { Differences } from "./Differences";
import { OwnWorld } from "./OwnWorld";
import { StopShadow } from "./StopShadow";
import { t } from "./texts";

const route = getRouteApi("/runs/$run/shadow");

export function ShadowPage() {
  const { run: id } = route.useParams();
  const { namespace, profile, workload } = route.useSearch();
  useTold(id);
  const { operates } = useMe();
  const run = useQuery(runQuery(id));
  const follows = run.data !== undefined && run.data.follows !== "";
  const followed = useQuery({ ...followedQuery(id), enabled: follows });
  const none = (run.data !== undefined && !follows) || followed.data?.shadow === false;
  const shadow = useQuery({
    ...shadowQuery(id, { namespace, profile, workload }),
    enabled: followed.data?.way === "step_by_step",
  });
  const error = run.error ?? followed.error ?? shadow.error;
  const title = run.data === undefined ? t("title") : t("shadowOf", { context: run.data.follows });
  useTitle(t("title"));
  return (
    <Page>
      <RunTrail run={id} name={run.data?.snapshot.name}>
        {t("title")}
      </RunTrail>
      <header className={compare.head}>
        <h1>{none ? t("title") : title}</h1>
        {run.data === undefined || none ? null : (
          <span className="muted">
            {t("with", { name: run.data.configuration.name, number: run.data.configuration.version })}
            {followed.data?.way === "on_its_own" ? ` · ${t("onItsOwn")}` : ""}
          </span>
        )}
        <span className="grow" />
        {followed.data === undefined || none || followed.data.state === "ended" ? null : (
          <Until run={id} followed={followed.data} now={followed.dataUpdatedAt} changes={operates} />
        )}
        {shadow.data === undefined || none ? null : <AlertBelow run={id} summary={shadow.data} />}
        {followed.data === undefined || none || !operates || followed.data.state === "ended" ? null : (
          <StopShadow run={id} />
        )}
      </header>
      {!none && followed.data?.way === "on_its_own" && run.data !== undefined ? (
        <OwnWorld key={id} id={id} run={run.data} />
      ) : none || shadow.data === undefined ? (
        <Panel>
          {none ? (
            <Empty>{t("noShadow")}</Empty>
          ) : error === null ? (
            <Outlines count={6} height={32} label={t("reading")} />
          ) : (
            <Failed what={t("notRead")} error={error} retry={() => void shadow.refetch()} />
          )}
        </Panel>
      ) : (
        <>
          <Agreement summary={shadow.data} isFiltered={(namespace ?? profile ?? workload) !== undefined} />
          <Differences key={id} run={id} summary={shadow.data} />
        </>
      )}
    </Page>
  );
}
