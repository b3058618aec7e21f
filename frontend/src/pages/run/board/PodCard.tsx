import { memo } from "react";

import type { Card, StateKey } from "@/api/types";
import { GangProgress, PodName, Priority, RejectChips } from "@/components/Chip";
import { CountdownRing } from "@/components/CountdownRing";
import { count } from "@/format/number";
import { age, countdown, exact, shortSeconds } from "@/format/time";

import { SelectLink } from "../SelectLink";
import { t } from "../texts";
import classes from "./PodCard.module.css";

interface PodCardProps {
  card: Card;
  column: StateKey;
  /** The run's clock in milliseconds. */
  now: number;
  selected: boolean;
  /** Stands on the node that is pointed at. */
  ringed: boolean;
  /** In the cycle that the ribbon shows. */
  current: boolean;
  /** Left this queue while the list is held; the list does not move, but says so. */
  gone: boolean;
  onPoint: (card: Card | null) => void;
}

const BINDING: ReadonlySet<string> = new Set(["WaitOnPermit", "PreBind", "Bind", "PostBind"]);

export const PodCard = memo(function PodCard({
  card,
  column,
  now,
  selected,
  ringed,
  current,
  gone,
  onPoint,
}: PodCardProps) {
  const group = card.kind === "group";
  const full = `${card.namespace}/${card.name}`;
  return (
    <SelectLink
      pod={selected ? null : full}
      node={null}
      className={classes.card}
      data-selected={selected}
      data-ringed={ringed}
      data-current={current}
      data-group={group}
      data-gone={gone}
      data-card={card.key}
      data-tight={column === "active" || column === "bound" || column === "backoff"}
      data-ring={column === "backoff"}
      data-position={card.position !== undefined && card.position !== null}
      aria-current={selected ? "true" : undefined}
      title={group ? t("podsOf", { count: card.count, namespace: card.namespace, workload: card.workload }) : full}
      onMouseEnter={() => onPoint(card)}
      onMouseLeave={() => onPoint(null)}
      onFocus={() => onPoint(card)}
      onBlur={() => onPoint(null)}
    >
      {card.position === undefined || card.position === null ? null : (
        <span className={`${classes.position} num`}>
          {card.position}
          <span className="srOnly">. </span>
        </span>
      )}
      <span className={classes.first}>
        {group ? <b className="clip">{card.workload}</b> : <PodName pod={card} />}
        {group ? <span className={classes.stack}>×{count(card.count)}</span> : null}
      </span>
      {gone ? <span className={classes.second}>{t("movedOn")}</span> : <Second card={card} column={column} now={now} />}
      {gone ? null : <Rest card={card} column={column} now={now} current={current} />}
    </SelectLink>
  );
});

/** The line of small facts: where it belongs, its priority, and at the right what matters in this queue. */
function Second({ card, column, now }: { card: Card; column: StateKey; now: number }) {
  const since = card.since === null ? null : now - Date.parse(card.since);
  const old =
    since === null ? null : (
      <span className="num" title={card.since === null ? "" : exact(card.since)}>
        {age(since)}
      </span>
    );
  if (column === "bound") {
    return (
      <span className={classes.second}>
        <span className="mono clip">{card.node}</span>
        {old}
      </span>
    );
  }
  const attempts =
    card.attempts > 0 ? (
      <span className="num" title={t("nAttempts", { count: card.attempts })}>
        {t("attemptsAtt", { attempts: card.attempts })}
      </span>
    ) : null;
  return (
    <span className={classes.second}>
      <span className="clip">{card.namespace}</span>
      <Priority value={card.priority} className={classes.priority} />
      <span className="grow" />
      {column === "gated" ? old : null}
      {column === "active" ? (card.kind === "group" && card.attempts > 0 ? attempts : old) : null}
      {column === "backoff" ? <span className="num">{t("tryAttempts", { attempts: card.attempts + 1 })}</span> : null}
      {column === "unschedulable" ? (
        <>
          {attempts}
          {old}
        </>
      ) : null}
      {column === "in_flight" ? (
        <span
          className={classes.cycle}
          title={BINDING.has(card.point ?? "") ? t("bindingCycle") : t("schedulingCycle")}
        >
          {BINDING.has(card.point ?? "") ? t("binding") : t("scheduling")}
        </span>
      ) : null}
      {column === "waiting" ? <Place card={card} /> : null}
    </span>
  );
}

function Place({ card }: { card: Card }) {
  if (card.gang && card.kind === "group")
    return <span className="num">{t("gangOf", { have: card.gang.have, need: card.gang.need })}</span>;
  return <span className="mono clip">{card.node}</span>;
}

function Rest({ card, column, now, current }: { card: Card; column: StateKey; now: number; current: boolean }) {
  if (column === "gated" && card.gate)
    return (
      <span className={classes.gate} title={t("specSchedulingGates")}>
        {card.gate}
      </span>
    );
  if (column === "backoff" && card.until) {
    const until = Date.parse(card.until);
    const whole = Math.max(1, until - (card.since === null ? until : Date.parse(card.since)));
    return (
      <span className={classes.ring} title={t("triedAgainAt", { until: exact(card.until) })}>
        <CountdownRing share={(until - now) / whole} size={28} stroke={3} label={shortSeconds(until - now)} />
        <span className="srOnly">{t("againInS", { shortSeconds: shortSeconds(until - now) })}</span>
      </span>
    );
  }
  if (column === "unschedulable" && card.rejectors !== undefined && card.rejectors.length > 0) {
    return (
      <span className={classes.rejectors}>
        <RejectChips rejectors={card.rejectors} />
      </span>
    );
  }
  if (column === "in_flight") {
    const parts = [card.point, card.plugin ?? card.node].filter(Boolean).join(" · ");
    return parts === "" ? null : (
      <span className={classes.phase}>
        {current ? <i /> : null}
        <span className="clip">{parts}</span>
      </span>
    );
  }
  if (column === "waiting") {
    return (
      <>
        {card.waiting?.map((wait) => {
          const left = Date.parse(wait.deadline) - now;
          return (
            <span
              key={wait.plugin}
              className={classes.wait}
              title={t("untilThenRejected", { plugin: wait.plugin, deadline: exact(wait.deadline) })}
            >
              <CountdownRing share={left / (wait.total_seconds * 1000)} size={14} stroke={2.2} />
              <span className="clip">{wait.plugin}</span>
              <b className="num">{countdown(left)}</b>
            </span>
          );
        })}
        {card.gang && card.kind === "group" ? (
          <GangProgress have={card.gang.have} need={card.gang.need} className={classes.gang} />
        ) : null}
      </>
    );
  }
  return null;
}
