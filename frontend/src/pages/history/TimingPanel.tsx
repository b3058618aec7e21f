import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import { runTimingQuery } from "@/api/podQueries";
import type { PointSummary, RunTiming } from "@/api/podTypes";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { milliseconds } from "@/format/milliseconds";
import { count, percent, shareText } from "@/format/number";

import classes from "./AttemptsPage.module.css";
import { t } from "./texts";

/** Time per extension point and plugin over the cycles in which plugins were timed. */
export function TimingPanel({ run }: { run: string }) {
  const timing = useQuery(runTimingQuery(run));
  return (
    <Panel className={classes.timing ?? ""} aria-labelledby="timing">
      <PanelHeader id="timing" title={t("whereTheTimeGoes")}>
        <span className="faint">
          {timing.data === undefined || timing.data.timed === 0
            ? ""
            : t("fromOfCyclesOnlyThese", { timed: timing.data.timed, attempts: timing.data.attempts })}
        </span>
      </PanelHeader>
      {timing.data === undefined ? (
        timing.error === null ? (
          <Outlines count={6} height={24} label={t("readingTheTimes")} />
        ) : (
          <Failed what={t("theTimesCouldNotBe")} error={timing.error} retry={() => void timing.refetch()} />
        )
      ) : timing.data.cycle === null ? (
        <Empty>{t("noCycleWasTimedYet")}</Empty>
      ) : (
        <Times timing={timing.data} />
      )}
    </Panel>
  );
}

/** "Half of the cycles take at most 0.28 ms, …; the largest part is Filter (31 %)." */
export function timingAnswer(timing: RunTiming): string {
  const [largest] = [...timing.points].sort((a, b) => b.share - a.share);
  if (timing.cycle === null || largest === undefined) return "";
  return t("halfOfTheCyclesTake", {
    milliseconds: milliseconds(timing.cycle.p50_us),
    milliseconds2: milliseconds(timing.cycle.p99_us),
    point: largest.point,
    share: percent(largest.share),
  });
}

function Times({ timing }: { timing: RunTiming }) {
  const most = Math.max(...timing.points.map((point) => point.share));
  return (
    <>
      <p className={classes.answer}>{timingAnswer(timing)}</p>
      <ScrollRegion className={classes.scroll} label={t("times")}>
        <table className={classes.times}>
          <thead>
            <tr>
              <th scope="col">{t("extensionPointPlugin")}</th>
              <th scope="col">{t("share")}</th>
              <th scope="col">{t("median")}</th>
              <th scope="col">{t("mean")}</th>
              <th scope="col">{t("99Of100")}</th>
              <th scope="col">{t("cycles")}</th>
            </tr>
          </thead>
          <tbody>
            {timing.points.map((point) => (
              <Point key={point.point} point={point} most={most} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <p className={classes.note}>{t("aPointsTimeRunsFrom")}</p>
    </>
  );
}

function Point({ point, most }: { point: PointSummary; most: number }) {
  const own = ownOf(point);
  return (
    <Fragment>
      <tr>
        <th scope="row">{point.point}</th>
        <Share share={point.share} most={most} />
        <Figures of={point} />
      </tr>
      {point.plugins.map((plugin) => (
        <tr key={plugin.plugin} className={classes.plugin}>
          <th scope="row">{plugin.plugin}</th>
          <Share share={plugin.share} most={most} />
          <Figures of={plugin} />
        </tr>
      ))}
      {point.plugins.length === 0 || own.share < 0.005 ? null : (
        <tr className={classes.plugin}>
          <th scope="row">{t("theFrameworkItself")}</th>
          <Share share={own.share} most={most} />
          <td />
          <td className="num">{milliseconds(own.mean_us)}</td>
          <td />
          <td />
        </tr>
      )}
    </Fragment>
  );
}

/** What of a point's time none of its plugins used. */
export function ownOf(point: PointSummary): { share: number; mean_us: number } {
  const share = point.plugins.reduce((left, plugin) => left - plugin.share, point.share);
  const spent = point.plugins.reduce(
    (left, plugin) => left - plugin.mean_us * plugin.count,
    point.mean_us * point.count,
  );
  return { share: Math.max(0, share), mean_us: Math.max(0, spent / point.count) };
}

function Share({ share, most }: { share: number; most: number }) {
  return (
    <td>
      <span className={classes.share}>
        <span className={classes.bar} style={{ inlineSize: `${(86 * share) / most}%` }} aria-hidden="true" />
        {shareText(share)}
      </span>
    </td>
  );
}

function Figures({ of }: { of: { p50_us: number; mean_us: number; p99_us: number; count: number } }) {
  return (
    <>
      <td className="num">{milliseconds(of.p50_us)}</td>
      <td className="num">{milliseconds(of.mean_us)}</td>
      <td className="num">{milliseconds(of.p99_us)}</td>
      <td className="num">{count(of.count)}</td>
    </>
  );
}
