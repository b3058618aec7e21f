/** One attempt: which one, the strip of extension points, and what the chosen point has to show. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { memo } from "react";

import { ApiError } from "@/api/client";
import { attemptQuery } from "@/api/podQueries";
import type { Attempt, AttemptPoint, PodAttempt } from "@/api/podTypes";
import type { PodDetail } from "@/api/types";
import { useMe } from "@/api/useMe";
import { STEPS } from "@/app/search";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";
import { resultWord } from "@/components/states";
import { listed } from "@/format/lists";
import { exact, runTime } from "@/format/time";

import { FilterPanel } from "../filter/FilterPanel";
import { ScorePanel } from "../score/ScorePanel";
import { t } from "../texts";
import { AttemptDifference } from "./AttemptDifference";
import { AttemptLog } from "./AttemptLog";
import classes from "./AttemptPanel.module.css";
import { Extenders } from "./Extenders";
import { PluginVerdicts } from "./PluginVerdicts";
import { panelId, tabId, VerdictStrip } from "./VerdictStrip";
import { playedAgainAt, WentToMakeRoom } from "./WentToMakeRoom";

const route = getRouteApi("/runs/$run/pods/$namespace/$name");
const SEGMENTS = 6;
type Step = (typeof STEPS)[number];

/** Memoised: the page hears of every batch of the run, the attempt of none. */
export const AttemptPanel = memo(function AttemptPanel({ pod, run }: { pod: PodDetail; run: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const latest = pod.attempt_list[0];
  const chosen =
    pod.attempt_list.find((one) => one.attempt === search.attempt) ??
    (search.attempt === undefined ? latest : undefined);
  const beside = pod.attempt_list.find((one) => one.attempt === search.against && one !== chosen);
  const unfinished =
    chosen !== undefined && chosen === latest && (pod.column === "waiting" || pod.column === "in_flight");
  const attempt = useQuery({
    ...attemptQuery(run, chosen?.number ?? 0, unfinished),
    enabled: chosen !== undefined,
    refetchInterval: unfinished ? 2_000 : false,
  });
  const choose = (number: number) =>
    void navigate({
      search: (old) => ({
        ...old,
        attempt: number === latest?.attempt ? undefined : number,
        point: undefined,
        q: undefined,
        sort: undefined,
      }),
      replace: true,
    });
  if (latest === undefined) return <NotTried pod={pod} />;
  if (chosen === undefined) {
    const asked = search.attempt ?? 0;
    const all = stored(pod.attempt_list);
    return (
      <Panel aria-labelledby="attempt">
        <PanelHeader id="attempt" title={t("attempt")}>
          <Chooser attempts={pod.attempt_list} chosen={null} onChoose={choose} />
        </PanelHeader>
        <Empty>
          {asked < 1 || asked > latest.attempt
            ? t("thereWasNoAttempt", { attempt: asked, stored: all })
            : t("thisAttemptIsNoLonger", { stored: all })}
        </Empty>
      </Panel>
    );
  }
  const again = attempt.error instanceof ApiError ? playedAgainAt(attempt.error) : undefined;
  const gone = attempt.error instanceof ApiError && attempt.error.status === 404;
  return (
    <Panel aria-labelledby="attempt">
      <PanelHeader id="attempt" title={t("attempt")}>
        <Chooser attempts={pod.attempt_list} chosen={chosen} onChoose={choose} />
        {pod.attempt_list.length < 2 ? null : (
          <Beside
            attempts={pod.attempt_list}
            chosen={chosen}
            beside={beside}
            onChoose={(number) => void navigate({ search: (old) => ({ ...old, against: number }), replace: true })}
          />
        )}
        <span className="faint num clip" title={exact(chosen.at)}>
          {[
            runTime(chosen.at),
            ...(attempt.data === undefined ? [] : [t("attemptCycle", { cycle: attempt.data.cycle })]),
            ...(chosen.duration_ms === null
              ? []
              : [t("attemptMilliseconds", { Number: Number(chosen.duration_ms.toFixed(1)) })]),
          ].join(" · ")}
        </span>
      </PanelHeader>
      {beside === undefined ? null : (
        <AttemptDifference
          key={`${beside.number} ${chosen.number}`}
          run={run}
          before={Math.min(beside.number, chosen.number)}
          after={Math.max(beside.number, chosen.number)}
        />
      )}
      {attempt.data === undefined ? (
        attempt.error === null ? (
          <Outlines count={2} height={44} label={t("readingTheAttempt")} />
        ) : again !== undefined && attempt.error instanceof ApiError ? (
          <WentToMakeRoom run={run} error={attempt.error} position={again} />
        ) : gone ? (
          <Empty>
            {t("thisAttemptIsNoLonger", { stored: stored(pod.attempt_list.filter((one) => one !== chosen)) })}
          </Empty>
        ) : (
          <Failed what={t("theAttemptCouldNotBe")} error={attempt.error} retry={() => void attempt.refetch()} />
        )
      ) : (
        <Points
          key={attempt.data.number}
          run={run}
          attempt={attempt.data}
          unfinished={unfinished}
          asked={search.point}
          onChoose={(point) =>
            void navigate({
              search: (old) => ({ ...old, point, view: undefined, q: undefined, sort: undefined }),
              replace: true,
            })
          }
        />
      )}
    </Panel>
  );
});

function stored(attempts: readonly PodAttempt[]): string {
  const numbers = attempts.map((one) => one.attempt).sort((a, b) => a - b);
  if (numbers.length === 0) return "";
  if (numbers.length === 1) return t("attemptIsStored", { attempt: numbers[0] ?? "" });
  const first = numbers[0] ?? "";
  const last = numbers.at(-1) ?? "";
  return numbers.length > 8
    ? t("attemptsFromToAreStored", { first, last })
    : t("attemptsAreStored", { attempts: listed(numbers.slice(0, -1).map(String)), last });
}

function NotTried({ pod }: { pod: PodDetail }) {
  const text =
    pod.column === "gated"
      ? t("notTriedItIsHeld")
      : pod.column === "active" && typeof pod.position === "number"
        ? t("notTriedYetPositionIn", { position: pod.position })
        : pod.column === "deleted" || pod.column === "completed"
          ? t("itWasNotTriedIn")
          : pod.column === "bound"
            ? t("itWasPlacedBeforeThe")
            : t("notTriedYet");
  return (
    <Panel aria-labelledby="attempt">
      <PanelHeader id="attempt" title={t("attempt")} />
      <Empty>{text}</Empty>
    </Panel>
  );
}

function Chooser({
  attempts,
  chosen,
  onChoose,
}: {
  attempts: readonly PodAttempt[];
  chosen: PodAttempt | null;
  onChoose: (attempt: number) => void;
}) {
  const ordered = [...attempts].reverse();
  const latest = attempts[0];
  const label = (one: PodAttempt) =>
    one === latest && attempts.length > 1 ? t("attemptLatest", { attempt: one.attempt }) : String(one.attempt);
  if (ordered.length > SEGMENTS) {
    return (
      <select
        className={classes.select}
        aria-label={t("attempt")}
        value={chosen?.attempt ?? ""}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
      >
        {chosen === null ? <option value="" /> : null}
        {ordered.map((one) => (
          <option key={one.number} value={one.attempt}>
            {label(one)}: {resultWord(one.result)}
          </option>
        ))}
      </select>
    );
  }
  return (
    <Segmented
      label={t("attempt")}
      value={String(chosen?.attempt ?? "")}
      onChange={(value) => onChoose(Number(value))}
      options={ordered.map((one) => ({
        value: String(one.attempt),
        label: label(one),
        title: t("runTimeResult", { runTime: runTime(one.at), result: resultWord(one.result) }),
      }))}
    />
  );
}

/** The attempt that is laid beside the chosen one. */
function Beside({
  attempts,
  chosen,
  beside,
  onChoose,
}: {
  attempts: readonly PodAttempt[];
  chosen: PodAttempt;
  beside: PodAttempt | undefined;
  onChoose: (attempt: number | undefined) => void;
}) {
  return (
    <select
      className={classes.select}
      aria-label={t("whatChangedSinceAnotherAttempt")}
      value={beside?.attempt ?? ""}
      onChange={(event) => onChoose(event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))}
    >
      <option value="">{t("whatChanged")}</option>
      {[...attempts]
        .reverse()
        .filter((one) => one !== chosen)
        .map((one) => (
          <option key={one.number} value={one.attempt}>
            {t("againstAttempt", { attempt: one.attempt, result: resultWord(one.result) })}
          </option>
        ))}
    </select>
  );
}

/** Where the reader wants to begin: what rejected or waits, else the scores, else the filter. */
export function firstPoint(points: readonly AttemptPoint[]): Step {
  const telling =
    points.find((one) => one.state === "rejects" || one.state === "error") ??
    points.find((one) => one.state === "waits") ??
    points.find((one) => one.point === "Score" && one.state === "ok");
  return STEPS.find((step) => step === telling?.point) ?? "Filter";
}

interface PointsProps {
  run: string;
  attempt: Attempt;
  unfinished: boolean;
  asked: Step | undefined;
  onChoose: (point: Step) => void;
}

function Points({ run, attempt, unfinished, asked, onChoose }: PointsProps) {
  const { visits } = useMe();
  const point = asked ?? firstPoint(attempt.points);
  const found = attempt.points.find((one) => one.point === point);
  return (
    <>
      <VerdictStrip points={attempt.points} chosen={point} onChoose={onChoose} />
      <div role="tabpanel" id={panelId(point)} aria-labelledby={tabId(point)}>
        {point === "Filter" && found?.state !== "not_reached" ? (
          <FilterPanel key={attempt.number} run={run} attempt={attempt} />
        ) : point === "Score" ? (
          <ScorePanel key={attempt.number} run={run} attempt={attempt} />
        ) : found === undefined ? null : (
          <PluginVerdicts run={run} attempt={attempt} point={found} />
        )}
      </div>
      {attempt.asked_extenders && !visits ? (
        <Extenders key={`extenders ${attempt.number}`} run={run} number={attempt.number} unfinished={unfinished} />
      ) : null}
      <AttemptLog key={attempt.number} run={run} number={attempt.number} />
    </>
  );
}
