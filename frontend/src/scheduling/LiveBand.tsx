/**
 * Stands on every page of a run that schedules a real cluster: whether it binds real pods now, whose and how fast, what
 * became of its writes, and the way to stop it. Yellow with black stripes says nothing else anywhere. It never goes away:
 * where nothing can be written it turns grey and says why.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useState } from "react";

import { type Scheduled, scheduledQuery } from "@/api/scheduling";
import { useMe } from "@/api/useMe";
import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { ScrollRegion } from "@/components/ScrollRegion";
import { clauses, listed } from "@/format/lists";
import { exact } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { perform } from "@/live/commands";
import { later } from "@/parts/later";
import { notifyError } from "@/shell/notify";

import classes from "./LiveBand.module.css";
import { Rejected } from "./Rejected";
import { rich, t } from "./texts";
import { lookOf, meanwhile, rateOf, termsOf, titleOf, whyNot } from "./words";

const ForRealDialog = later(() => import("@/pages/clusters/ForRealDialog"));
const SHIFT_S = "⇧S";

/** `run`: its id, without a position. `alone`: no other run is on the page, so that a key can mean this one. */
export function LiveBand({ run, alone = true }: { run: string; alone?: boolean }): ReactNode {
  const { me, operates } = useMe();
  const { data } = useQuery(scheduledQuery(run));
  const stop = useStop(run);
  const [asking, setAsking] = useState(false);
  const canStop = data !== undefined && data.state !== "stopped" && operates;
  useKeys(
    canStop && alone ? [{ keys: "S", label: t("stopScheduling"), group: t("run"), run: () => void stop.send() }] : [],
  );
  if (data === undefined) return <div className={classes.band} data-look="off" data-alone={alone} />;
  const look = lookOf(data);
  const why = whyNot(data, me?.username);
  const terms = clauses(termsOf(data));
  return (
    <>
      <section className={classes.band} data-look={look} data-alone={alone} aria-label={t("thisRunWrites")}>
        <Icon name="bolt" size={18} />
        <div className={classes.said}>
          <b className="clip" title={titleOf(data)} role="status">
            {titleOf(data)}
          </b>
          <span className="clip" title={why === "" ? terms : `${why}\n${terms}`}>
            {why === "" ? terms : why}
          </span>
        </div>
        <span className="grow" />
        {look === "off" ? null : <span className={`${classes.rate ?? ""} num`}>{rateOf(data)}</span>}
        <Link to="/runs/$run/writes" params={{ run }} className={`${classes.writes ?? ""} leads num`}>
          {t("written", { count: data.written })}
          {data.refused > 0 ? <span>{t("refused", { count: data.refused })}</span> : null}
          {data.on_their_way > 0 ? <span>{t("onTheirWay", { count: data.on_their_way })}</span> : null}
        </Link>
        {data.dry_run && operates ? (
          <Button
            sends
            className={classes.forReal}
            title={t("whatForRealIs")}
            aria-haspopup="dialog"
            onClick={() => setAsking(true)}
          >
            {t("scheduleForRealAsk")}
          </Button>
        ) : null}
        {data.state === "stopped" ? (
          <Link to="/clusters/$cluster" params={{ cluster: data.context }} className={`${classes.again ?? ""} leads`}>
            {t("scheduleAgain")}
          </Link>
        ) : operates ? (
          <Button
            icon="stop"
            hint={alone ? SHIFT_S : undefined}
            sends
            className={classes.stop}
            disabled={stop.busy}
            title={t("whatStopDoes")}
            onClick={() => void stop.send()}
          >
            {t("stopScheduling")}
          </Button>
        ) : null}
      </section>
      <div className={classes.frame} data-look={look} aria-hidden="true" />
      <Suspense fallback={null}>
        {asking ? <ForRealDialog run={run} scheduled={data} onClose={() => setAsking(false)} /> : null}
      </Suspense>
      {data.problem === "" && data.lacks === null ? (
        <Rejected key={data.rejected.length} scheduled={data} />
      ) : (
        <Fault key={[data.state, data.problem, data.lacks?.yaml].join(" ")} scheduled={data} why={why} />
      )}
    </>
  );
}

/** What is wrong, what still works and what happens next, then the words of whoever said it. Floats, so it moves nothing. */
function Fault({ scheduled, why }: { scheduled: Scheduled; why: string }) {
  const [closed, setClosed] = useState(false);
  if (closed) return null;
  return (
    <div className={classes.fault} role="alert">
      <Icon
        name={scheduled.state === "standing_by" || scheduled.state === "lease_lost" ? "gated" : "warning"}
        size={16}
      />
      <div>
        <b>{why === "" ? t("somethingIsDenied", { context: scheduled.context }) : why}</b>
        <p>{meanwhile(scheduled)}</p>
        {scheduled.lacks === null ? null : <Lacks lacks={scheduled.lacks} />}
        {scheduled.problem === "" ? null : <p className="mono">{scheduled.problem}</p>}
      </div>
      <IconButton icon="close" iconSize={14} label={t("close")} onClick={() => setClosed(true)} />
    </div>
  );
}

/** The rights that are missing, each since when, and the roles to apply. */
function Lacks({ lacks }: { lacks: NonNullable<Scheduled["lacks"]> }) {
  const [shown, setShown] = useState(false);
  return (
    <>
      <ul className={classes.lacks}>
        {lacks.rules.map((one) => (
          <li key={[one.group, one.resource, one.namespace, one.name].join("/")}>
            {rich("lacksSince", {
              what: (
                <b className="mono">{`${listed(one.missing)} ${one.resource}${one.name === "" ? "" : ` ${one.name}`}`}</b>
              ),
              where: one.namespace === "" ? "" : ` -n ${one.namespace}`,
              why: one.why,
              at: exact(one.since),
            })}
          </li>
        ))}
      </ul>
      <Button size="sm" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {t("ruleToApply")}
      </Button>
      {shown ? (
        <ScrollRegion as="pre" label={t("ruleToApply")} className={`${classes.yaml} mono`}>
          {lacks.yaml}
        </ScrollRegion>
      ) : null}
    </>
  );
}

function useStop(run: string) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      const done = perform(run, { type: "stop" });
      // Nothing is sent from the moment it is stored; the engine may hear of it a while later.
      const told = window.setTimeout(() => void queries.invalidateQueries({ queryKey: ["run", run, "schedule"] }), 200);
      await done;
      window.clearTimeout(told);
      await queries.invalidateQueries({ queryKey: ["run", run, "schedule"] });
    } catch (error) {
      notifyError(t("notStopped"), error instanceof Error ? error : new Error(String(error)));
    } finally {
      setBusy(false);
    }
  };
  return { busy, send };
}
