import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import { runTimingQuery } from "@/api/podQueries";
import type { PointSummary, RunTiming } from "@/api/podTypes";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { milliseconds } from "@/format/milliseconds";
import { count, percent } from "@/format/number";

import classes from "./AttemptsPage.module.css";
import { t } from "./texts";

/** Time per extension point and plugin over the cycles in which plugins were timed. */
export function TimingPanel({ run }: { run: string }) {
  const timing = useQuery(runTimingQuery(run));
  return (
    <Panel className={classes.timing ?? ""} aria-labelledby="timing">
      <PanelHeader id="timing" title={t("whereTheTimeGoes")}>
        <span className="faint">{timing.data === undefined || timing.data.timed === 0 ? "" : t("fromOfCyclesOnlyThese", { timed: timing.data.timed, attempts: timing.data.attempts })}</span>
      </PanelHeader>
      {timing.data === undefined ? timing.error === null ? <Outlines count={6} height={24} label={t("readingTheTimes")} />
        : <Failed what={t("theTimesCouldNotBe")} error={timing.error} retry={() => void timing.refetch()} />
        : timing.data.cycle === null ? <Empty>{t("noCycleWasTimedYet")}</Empty>
          : <Times timing={timing.data} />}
    </Panel>
  );
}

/** "A cycle takes 0.28 ms in the middle; most of it is Filter (31 %)." */
export function timingAnswer(timing: RunTiming): string {
  const [largest] = [...timing.points].sort((a, b) => b.share - a.share);
  if (timing.cycle === null || largest === undefined) return "";
  return t("halfOfTheCyclesTake", { milliseconds: milliseconds(timing.cycle.p50_us), milliseconds2: milliseconds(timing.cycle.p99_us), point: largest.point, share: percent(largest.share) });
}

function Times({ timing }: { timing: RunTiming }) {
  const most = Math.max(...timing.points.map((point) => point.share));
  return (
    <>
      <p className={classes.answer}>{timingAnswer(timing)}</p>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- wide on phones */}
      <div className={classes.scroll} role="region" aria-label={t("times")} tabIndex={0}>
        <table className={classes.times}>
          <thead>
            <tr><th scope="col">{t("extensionPointPlugin")}</th><th scope="col">{t("share")}</th><th scope="col">{t("median")}</th><th scope="col">{t("mean")}</th><th scope="col">{t("99Of100")}</th><th scope="col">{t("cycles")}</th></tr>
          </thead>
          <tbody>{timing.points.map((point) => <Point key={point.point} point={point} most={most} />)}</tbody>
        </table>
      </div>
      <p className={classes.note}>{t("aPointsTimeRunsFrom")}</p>
    </>
  );
}

function Point({ point, most }: { point: PointSummary; most: number }) {
  return (
    <Fragment>
      <tr>
        <th scope="row">{point.point}</th>
        <td><span className={classes.bar} style={{ inlineSize: `${Math.max(1, (100 * point.share) / most)}px` }} aria-hidden="true" /> {percent(point.share)} %</td>
        <Figures of={point} />
      </tr>
      {point.plugins.map((plugin) => (
        <tr key={plugin.plugin} className={classes.plugin}>
          <th scope="row">{plugin.plugin}</th>
          <td><span className={classes.bar} style={{ inlineSize: `${Math.max(1, (100 * plugin.share) / most)}px` }} aria-hidden="true" /> {percent(plugin.share)} %</td>
          <Figures of={plugin} />
        </tr>
      ))}
    </Fragment>
  );
}

function Figures({ of }: { of: { p50_us: number; mean_us: number; p99_us: number; count: number } }) {
  return (
    <>
      <td className="num">{milliseconds(of.p50_us)}</td><td className="num">{milliseconds(of.mean_us)}</td><td className="num">{milliseconds(of.p99_us)}</td><td className="num">{count(of.count)}</td>
    </>
  );
}
