/** One pod: the answer first, then the evidence — its way through the queues and what every plugin said in each attempt. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { ApiError } from "@/api/client";
import { attemptQuery, scoresQuery } from "@/api/podQueries";
import { podSummaryQuery } from "@/api/queries";
import type { Cycle, PodDetail } from "@/api/types";
import { useMe } from "@/api/useMe";
import { ButtonLink } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { useKeys } from "@/keys/useKeys";
import { useRunStore, useRunView } from "@/live/useLive";
import { InRealCluster } from "@/pages/real/InRealCluster";
import { later } from "@/parts/later";
import { LookingBack } from "@/rewind/LookingBack";
import { useTitle } from "@/shell/useTitle";

import { wonAnswer } from "./answer/answer";
import { AnswerPanel } from "./answer/AnswerPanel";
import { WaitsFor } from "./answer/WaitsFor";
import { AttemptPanel } from "./attempt/AttemptPanel";
import { NetworkPanel } from "./catalogue/NetworkPanel";
import { QuotaPanel } from "./catalogue/QuotaPanel";
import { ZonesPanel } from "./catalogue/ZonesPanel";
import { ClaimsPanel } from "./claims/ClaimsPanel";
import { PodHeader } from "./header/PodHeader";
import { HelpPanel } from "./help/HelpPanel";
import { JourneyPanel } from "./journey/JourneyPanel";
import { TriedHere } from "./answer/TriedHere";
import { PlacedAgainPanel } from "./placedAgain/PlacedAgainPanel";
import classes from "./PodPage.module.css";
import { TOP } from "./score/scoreWindows";
import { rich, t } from "./texts";
import { useThrottled } from "./useThrottled";
import { objectOf } from "./yaml/objects";

const YamlDrawer = later(() => import("./yaml/YamlDrawer"));
/** Pods that find no node as things are. */
const NOT_PLACED: ReadonlySet<PodDetail["answer"]["kind"]> = new Set(["pending", "active"]);
const PENDING: ReadonlySet<PodDetail["answer"]["kind"]> = new Set(["pending", "backoff", "gated"]);
const route = getRouteApi("/runs/$run/pods/$namespace/$name");

export function PodPage() {
  const { run: runId, namespace, name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const store = useRunStore(runId);
  const view = useRunView(store);
  const { visits } = useMe();
  const pod = useQuery(podSummaryQuery(runId, namespace, name));
  const { refetch } = pod;
  const error = useLastError(pod, `${runId}/${namespace}/${name}`);
  useThrottled(() => void refetch(), view.seq);
  useTitle(pod.data === undefined ? name : t("namePod", { name: pod.data.name }));
  // Also while it is read and when it could not be.
  useKeys([
    {
      keys: "Escape",
      label: t("backToTheRun"),
      group: t("pod"),
      run: () => void navigate({ to: "/runs/$run", params: { run: runId }, search: { pod: `${namespace}/${name}` } }),
    },
  ]);

  if (pod.data === undefined) {
    if (error === null)
      return (
        <Page className={classes.page}>
          <LookingBack runKey={runId} />
          <Outlines count={6} height={72} label={t("readingThePod")} />
        </Page>
      );
    const gone = error instanceof ApiError && error.status === 404;
    const noRun = gone && view.error?.status === 404;
    return (
      <Page className={classes.page}>
        <Panel>
          {noRun ? (
            <Empty
              alone
              action={
                visits ? null : (
                  <ButtonLink size="sm" to="/runs">
                    {t("allRuns")}
                  </ButtonLink>
                )
              }
            >
              {t("thisRunDoesNotExist")}
            </Empty>
          ) : gone ? (
            <Empty
              alone
              action={
                <ButtonLink size="sm" to="/runs/$run" params={{ run: runId }}>
                  {t("openTheRun")}
                </ButtonLink>
              }
            >
              {rich("thereIsNoPodIn", {
                span: (
                  <span className="mono">
                    {namespace}/{name}
                  </span>
                ),
              })}
            </Empty>
          ) : (
            <Failed alone what={t("thePodCouldNotBe")} error={error} retry={() => void refetch()} />
          )}
        </Panel>
      </Page>
    );
  }
  const openYaml = (open: boolean) =>
    void navigate({ search: (old) => ({ ...old, yaml: open ? true : undefined, object: undefined }), replace: true });
  const object = search.yaml === true ? { kind: t("pod"), namespace, name } : objectOf(search.object);
  return (
    <Page className={classes.page}>
      <LookingBack runKey={runId} />
      <PodHeader pod={pod.data} run={runId} view={view} onYaml={() => openYaml(search.yaml !== true)} />
      <Answered run={runId} pod={pod.data} cycle={view.cycle} />
      {view.run?.moment !== null || view.run.snapshot.events === 0 ? null : (
        <InRealCluster run={runId} pod={`${namespace}/${name}`} turn={pod.data.attempts} />
      )}
      {view.run !== null &&
      view.run.follows !== "" &&
      !view.run.own_world &&
      NOT_PLACED.has(pod.data.answer.kind) &&
      !visits ? (
        <TriedHere key={`${namespace}/${name}`} run={view.run} pod={pod.data} />
      ) : null}
      <div className={classes.beside}>
        {view.run !== null && PENDING.has(pod.data.answer.kind) && !visits ? (
          <HelpPanel key={`${namespace}/${name}`} run={view.run} pod={pod.data} />
        ) : null}
        {pod.data.waits_for.length === 0 ? null : <WaitsFor plugins={pod.data.waits_for} ignored={pod.data.ignored} />}
      </div>
      {view.run !== null && pod.data.column === "bound" && !visits ? (
        <PlacedAgainPanel key={`${namespace}/${name}`} run={view.run} pod={pod.data} />
      ) : null}
      {pod.data.quotas === null ? null : <QuotaPanel quotas={pod.data.quotas} />}
      <ZonesPanel nodes={pod.data.zones} />
      {pod.data.network === null ? null : <NetworkPanel network={pod.data.network} />}
      <ClaimsPanel run={runId} claims={pod.data.claims} />
      <JourneyPanel pod={pod.data} view={view} />
      <AttemptPanel pod={pod.data} run={runId} />
      <Suspense fallback={null}>
        {object === null ? null : <YamlDrawer run={runId} object={object} onClose={() => openYaml(false)} />}
      </Suspense>
    </Page>
  );
}

/** Stands while the same question is asked again: a query without data forgets its error as soon as it is fetched anew. */
function useLastError(query: { error: Error | null; data: unknown }, about: string): Error | null {
  const [last, setLast] = useState<{ about: string; error: Error } | null>(null);
  if (query.error !== null && (query.error !== last?.error || last.about !== about))
    setLast({ about, error: query.error });
  return query.error ?? (query.data === undefined && last?.about === about ? last.error : null);
}

/** The server's answer; of a pod that has a node, why that node, from the scores of its newest attempt. */
function Answered({ run, pod, cycle }: { run: string; pod: PodDetail; cycle: Cycle | null }) {
  const latest = pod.attempt_list[0];
  const number = latest?.number ?? 0;
  const { kind } = pod.answer;
  const won = (kind === "bound" || kind === "waiting") && typeof latest?.node === "string";
  const attempt = useQuery({ ...attemptQuery(run, number, false), enabled: won });
  const scores = useQuery({ ...scoresQuery(run, number, { offset: 0, limit: TOP }), enabled: won });
  const reading = won && (attempt.isPending || scores.isPending);
  const why =
    won && attempt.data !== undefined && scores.data !== undefined
      ? wonAnswer(latest.node ?? "", scores.data, attempt.data.sampling)
      : null;
  const answer =
    why === null
      ? pod.answer
      : {
          ...pod.answer,
          ...why,
          ...(kind === "waiting" ? { headline: pod.answer.headline, detail: `${why.headline} ${why.detail}` } : {}),
        };
  return <AnswerPanel run={run} answer={answer} pod={pod} cycle={cycle} reading={reading} />;
}
