/** How a run that schedules a real cluster stands, in figures: how fast it binds, who holds the Lease, what it wrote. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { type Scheduled, scheduledQuery } from "@/api/scheduling";
import { Panel } from "@/components/Panel";
import { listed, sentences } from "@/format/lists";
import { count } from "@/format/number";
import { age, dayAndTime, exact } from "@/format/time";

import classes from "./Facts.module.css";
import { rich, t } from "./texts";

export function Facts({ run }: { run: string }) {
  const { data, dataUpdatedAt: now } = useQuery(scheduledQuery(run));
  if (data === undefined) return null;
  return (
    <Panel className={classes.facts ?? ""} aria-label={t("howItStands")}>
      <Rate scheduled={data} />
      <Lease scheduled={data} now={now} />
      <Fact title={t("dryRun")}>
        <p>
          <b>{data.dry_run ? t("dryRunOn") : t("dryRunOff")}</b>
        </p>
        <p className="muted">{data.dry_run ? t("nothingIsCarriedOut") : t("allIsCarriedOut")}</p>
      </Fact>
      <Fact title={t("writes")}>
        <p>
          {rich("writtenAndRefused", { written: <b>{count(data.written)}</b>, refused: <b>{count(data.refused)}</b> })}
        </p>
        <p className="muted">
          {sentences([
            data.on_their_way === 0 ? t("noneOnTheirWay") : t("answersAwaited", { count: data.on_their_way }),
            data.rejected.length === 0
              ? t("noneRejected")
              : `${t("rejectedIn", { count: data.rejected.length, context: data.context })}.`,
          ])}
        </p>
      </Fact>
      <Others scheduled={data} now={now} />
    </Panel>
  );
}

const SHOWN = 5;

function Others({ scheduled: { other_schedulers: others }, now }: { scheduled: Scheduled; now: number }) {
  const more = others.slice(SHOWN);
  return (
    <Fact title={t("otherSchedulers")}>
      {others.length === 0 ? (
        <>
          <p>
            <b>{t("noOtherScheduler")}</b>
          </p>
          <p className="muted">{t("seenSince")}</p>
        </>
      ) : (
        <>
          <ul>
            {others.slice(0, SHOWN).map(({ scheduler, count: pods, last_at: at }) => (
              <li key={scheduler}>
                <b className="mono">{scheduler}</b> {t("podsBound", { count: pods })}
                <span className="muted">, {t("lastBoundAt", { at: dayAndTime(at, now) })}</span>
              </li>
            ))}
          </ul>
          {more.length === 0 ? null : (
            <p title={listed(more.map((each) => each.scheduler))}>{t("andOthers", { count: more.length })}</p>
          )}
          <p className="muted">{t("mayOverfill")}</p>
        </>
      )}
    </Fact>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.fact} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Rate({ scheduled: { bound_last_minute: now, bindings_per_minute: most } }: { scheduled: Scheduled }) {
  return (
    <Fact title={t("bindingsAMinute")}>
      <p className="num">
        {most === 0 ? <b>{count(now)}</b> : rich("nowOfMost", { now: <b>{count(now)}</b>, most: count(most) })}
      </p>
      {most === 0 ? (
        <p className="muted">{t("noLimitIsSet")}</p>
      ) : (
        <>
          <meter min={0} max={most} value={Math.min(now, most)} aria-label={t("bindingsAMinute")} />
          <p className="muted">{now >= most ? t("podsWaitForTheLimit") : t("belowTheLimit")}</p>
        </>
      )}
    </Fact>
  );
}

function Lease({ scheduled: { lease, dry_run: dry, state }, now }: { scheduled: Scheduled; now: number }) {
  return (
    <Fact title={t("lease")}>
      {lease === null ? (
        <>
          <p>
            <b>{t("notHeld")}</b>
          </p>
          <p className="muted">
            {dry ? t("dryRunNeedsNoLease") : state === "stopped" ? t("leaseGivenBack") : t("waitsForTheLease")}
          </p>
        </>
      ) : (
        <>
          <p title={lease.renewed_at === null ? undefined : exact(lease.renewed_at)}>
            <b>{lease.holder === "" ? t("notHeld") : lease.is_ours ? t("heldByUs") : t("heldByAnother")}</b>
            {lease.renewed_at === null ? null : (
              <> {t("renewedAgo", { age: age(Math.max(0, now - Date.parse(lease.renewed_at))) })}</>
            )}
          </p>
          <p className="mono muted">{lease.name}</p>
          <p className="muted">
            {sentences([
              lease.holder === "" ? undefined : t("holderIs", { holder: lease.holder }),
              lease.since === null ? undefined : t("heldSince", { time: dayAndTime(lease.since, now) }),
              t("transitions", { count: lease.transitions }),
            ])}
          </p>
        </>
      )}
    </Fact>
  );
}
