import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import { runTimingQuery } from "@/api/podQueries";
import type { PointSummary, RunTiming } from "@/api/podTypes";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { milliseconds } from "@/format/milliseconds";
import { count, percent } from "@/format/number";

import classes from "./AttemptsPage.module.css";

/** Time per extension point and plugin over the cycles in which plugins were timed. */
export function TimingPanel({ run }: { run: string }) {
  const timing = useQuery(runTimingQuery(run));
  return (
    <Panel className={classes.timing ?? ""} aria-labelledby="timing">
      <PanelHeader id="timing" title="Where the time goes">
        <span className="faint">{timing.data === undefined || timing.data.timed === 0 ? "" : `from ${count(timing.data.timed)} of ${count(timing.data.attempts)} cycles: only these were timed by plugin`}</span>
      </PanelHeader>
      {timing.data === undefined ? timing.error === null ? <Outlines count={6} height={24} label="Reading the times" />
        : <Failed what="The times could not be read." error={timing.error} retry={() => void timing.refetch()} />
        : timing.data.cycle === null ? <Empty>No cycle was timed yet. Times are taken while the run plays; what a fork or another worker plays again is not timed.</Empty>
          : <Times timing={timing.data} />}
    </Panel>
  );
}

/** "A cycle takes 0.28 ms in the middle; most of it is Filter (31 %)." */
export function timingAnswer(timing: RunTiming): string {
  const [largest] = [...timing.points].sort((a, b) => b.share - a.share);
  if (timing.cycle === null || largest === undefined) return "";
  return `Half of the cycles take at most ${milliseconds(timing.cycle.p50_us)}, 99 of 100 at most ${milliseconds(timing.cycle.p99_us)}; most of it is ${largest.point} (${percent(largest.share)} %).`;
}

function Times({ timing }: { timing: RunTiming }) {
  const most = Math.max(...timing.points.map((point) => point.share));
  return (
    <>
      <p className={classes.answer}>{timingAnswer(timing)}</p>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- wide on phones */}
      <div className={classes.scroll} role="region" aria-label="Times" tabIndex={0}>
        <table className={classes.times}>
          <thead>
            <tr><th scope="col">Extension point, plugin</th><th scope="col">Share</th><th scope="col">Median</th><th scope="col">Mean</th><th scope="col">99 of 100</th><th scope="col">Cycles</th></tr>
          </thead>
          <tbody>{timing.points.map((point) => <Point key={point.point} point={point} most={most} />)}</tbody>
        </table>
      </div>
      <p className={classes.note}>A point’s time runs from the end of the point before; what its plugins did not use is the framework’s own. Timing a cycle by plugin makes it slower, so read these as shares.</p>
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
