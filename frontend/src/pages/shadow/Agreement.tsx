/** The figures, and agreement over time with what it is made of. */
import type { ShadowSummary } from "@/api/shadowQueries";
import { Panel } from "@/components/Panel";
import { count, percentText } from "@/format/number";
import { exact } from "@/format/time";

import classes from "./Shadow.module.css";
import { t } from "./texts";

const WIDTH = 720;
const LINE = 70;
const BARS = 60;
const GAP = 14;

export const agreed = (one: { same: number; tie: number }) => one.same + one.tie;

export function share(part: number, whole: number): string {
  return whole === 0 ? "–" : percentText(part / whole, 1);
}

export function Agreement({ summary, isFiltered }: { summary: ShadowSummary; isFiltered: boolean }) {
  const { decisions, same, tie, different, hour } = summary;
  const rows = [
    ["same", same],
    ["tie", tie],
    ["different", different],
  ] as const;
  return (
    <Panel className={classes.agreement ?? ""} aria-label={t("agreement")}>
      {summary.is_below ? (
        <p className={classes.alert} role="alert">
          {t("isBelow", { share: share(hour.agreed, hour.decisions), below: summary.alert_below ?? 0 })}
        </p>
      ) : null}
      <div className={classes.figures}>
        <p>
          <b className={classes.share}>{share(agreed(summary), decisions)}</b> {t("agreementStepByStep")}
          <span className="muted">{t("ofDecisions", { agreed: count(agreed(summary)), count: decisions })}</span>
        </p>
        <dl className={classes.legend}>
          {rows.map(([kind, number]) => (
            <div key={kind}>
              <dt>
                <i data-kind={kind} aria-hidden="true" />
                {t(`legend.${kind}`)}
              </dt>
              <dd className="num">{count(number)}</dd>
              <dd className="num muted">{share(number, decisions)}</dd>
            </div>
          ))}
        </dl>
        <div className="muted">
          <p>{t("tiesCount")}</p>
          {summary.left_pending === 0 ? null : (
            <p>{t("leftPending", { count: summary.left_pending, pods: summary.placed_here_pods })}</p>
          )}
          {summary.not_judged === 0 ? null : <p>{t("notJudged", { count: summary.not_judged })}</p>}
          {summary.left_out === 0 ? null : <p>{t("leftOut", { count: summary.left_out })}</p>}
        </div>
      </div>
      {summary.buckets.length === 0 ? (
        <p className="muted">{t(isFiltered ? "nothingMatches" : "nothingYet")}</p>
      ) : (
        <Curve summary={summary} />
      )}
    </Panel>
  );
}

function Curve({ summary }: { summary: ShadowSummary }) {
  const { buckets, bucket_seconds: seconds, alert_below: below } = summary;
  const starts = buckets.map((one) => Date.parse(one.at) / 1000);
  const first = starts[0] ?? 0;
  const last = starts.at(-1) ?? 0;
  const step = WIDTH / ((last - first) / seconds + 1);
  const most = Math.max(...buckets.map((one) => agreed(one) + one.different));
  const shares = buckets.map((one) => agreed(one) / (agreed(one) + one.different));
  const lowest = Math.min(...shares, (below ?? 100) / 100);
  const floor = Math.min(0.9, Math.floor(lowest * 10) / 10);
  const height = (value: number) => 4 + (LINE - 8) * (1 - (value - floor) / (1 - floor));
  const wide = Math.min(step * 0.84, 40);
  const left = (index: number) => (((starts[index] ?? first) - first) / seconds) * step;
  const points = shares.map((value, index) => `${left(index) + step / 2},${height(value)}`);
  const worst = shares.indexOf(Math.min(...shares));
  const words = t("curve", {
    count: buckets.length,
    worst: percentText(shares[worst] ?? 1, 1),
    at: exact(buckets[worst]?.at ?? ""),
  });
  const bottom = LINE + GAP + BARS;
  return (
    <figure className={classes.curve}>
      <svg viewBox={`0 0 ${WIDTH} ${bottom}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {below === null ? null : (
          <line className={classes.threshold} x1={0} x2={WIDTH} y1={height(below / 100)} y2={height(below / 100)} />
        )}
        {points.length === 1 ? (
          <line className={classes.line} x1={0} x2={WIDTH} y1={height(shares[0] ?? 1)} y2={height(shares[0] ?? 1)} />
        ) : (
          <polyline className={classes.line} points={points.join(" ")} />
        )}
        {buckets.map((one, index) => {
          let top = bottom;
          return (["same", "tie", "different"] as const).map((kind) => {
            const tall = (BARS * one[kind]) / most;
            top -= tall;
            return tall === 0 ? null : (
              <rect
                key={`${one.at} ${kind}`}
                data-kind={kind}
                x={left(index) + (step - wide) / 2}
                y={top}
                width={wide}
                height={tall}
              />
            );
          });
        })}
      </svg>
      <figcaption className="muted">
        <span>{exact(buckets[0]?.at ?? "")}</span>
        <span>
          {below === null
            ? t("scale", { low: percentText(floor, 0) })
            : t("scaleAlert", { low: percentText(floor, 0), below })}
        </span>
        {buckets.length === 1 ? null : <span>{exact(buckets.at(-1)?.at ?? "")}</span>}
      </figcaption>
    </figure>
  );
}
