import { Link } from "@tanstack/react-router";
import { type CSSProperties, memo, useMemo } from "react";

import type { Card, Column, PodRef, StateKey } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Icon } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { STATES } from "@/components/states";
import { useTick } from "@/components/useTick";
import { count } from "@/format/number";
import { age, countdown, exact } from "@/format/time";
import { isMoving, runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";

import { useHeld, useInside } from "../held";
import { t } from "../texts";
import { useGrowing } from "../useGrowing";
import { holds } from "./cardHolds";
import { PodCard } from "./PodCard";
import classes from "./QueueColumn.module.css";

/** More than a column is high; a phone shows one column, which is as long as its cards. */
const FIRST_CARDS = 9;
/** As most cards are high with the gap below them. */
const CARD = 48;

interface QueueColumnProps {
  run: string;
  name: StateKey;
  column: Column;
  clock: Pick<RunView, "run" | "receivedAt">;
  selected: string | undefined;
  pointedNode: string | null;
  current: PodRef | null;
  held: boolean;
  onPoint: (card: Card | null) => void;
}

export const QueueColumn = memo(function QueueColumn({
  run,
  name,
  column: fresh,
  clock,
  selected,
  pointedNode,
  current,
  held,
  onPoint,
}: QueueColumnProps) {
  const [inside, handlers] = useInside();
  const column = useHeld(fresh, inside || held);
  const wall = useTick(clock.run?.clock.mode === "real" && isMoving(clock.run.state));
  const now = runNow(clock, wall);
  const present = useMemo(() => new Set(fresh.cards.map((card) => card.key)), [fresh]);
  const { made, rest, onScroll } = useGrowing(column.cards.length, FIRST_CARDS);
  const isWhole = made === column.cards.length;
  const words = STATES[name];
  const isPlayed = clock.run?.follows === "";
  const empty = name === "bound" && isPlayed ? t("nothingPlacedYetPressPlay") : words.empty;
  const note =
    column.more === 0
      ? null
      : column.latest !== undefined
        ? t("moreUpTo", { more: column.more, wait: age(Date.parse(column.latest) - now) })
        : name === "bound"
          ? t("moreEarlier", { more: column.more })
          : t("moreMore", { more: column.more });
  return (
    <section
      className={`${classes.column} st-${name}`}
      data-column={name}
      aria-label={t("titleCountPods", { count: fresh.count, title: words.title })}
    >
      <header className={classes.header} title={words.plain}>
        <Icon name={name} size={15} />
        <h2>{words.title}</h2>
        <Link
          to="/runs/$run/pods"
          params={{ run }}
          search={{ column: name }}
          className={`${classes.count} leads num`}
          aria-label={t("podsInAsAList", { count: fresh.count, title: words.title })}
        >
          {count(fresh.count)}
        </Link>
        <span className="grow" />
        <Hint name={name} column={fresh} now={now} run={run} />
      </header>
      {column.cards.length === 0 && fresh.count === 0 ? <Empty small>{empty}</Empty> : null}
      {/* The handlers only hold the order while it is read. */}
      <ul className={classes.cards} onScroll={onScroll} {...handlers}>
        {column.cards.slice(0, made).map((card, index) => (
          <li key={card.key} {...(isWhole ? {} : { "aria-posinset": index + 1, "aria-setsize": column.cards.length })}>
            <PodCard
              gone={column !== fresh && fresh.more === 0 && !present.has(card.key)}
              card={card}
              column={name}
              now={now}
              selected={holds(card, selected)}
              onPoint={onPoint}
              ringed={pointedNode !== null && card.node === pointedNode}
              current={current !== null && card.namespace === current.namespace && card.name === current.name}
            />
          </li>
        ))}
        {isWhole ? null : (
          <li
            ref={rest}
            className={classes.rest}
            aria-hidden="true"
            style={{ "--rest": `${(column.cards.length - made) * CARD}px` } as CSSProperties}
          />
        )}
      </ul>
      {note === null ? null : (
        <Link to="/runs/$run/pods" params={{ run }} search={{ column: name }} className={`${classes.more} num`}>
          {note}
        </Link>
      )}
    </section>
  );
});

function Hint({ name, column, now, run }: { name: StateKey; column: Column; now: number; run: string }) {
  const { visits } = useMe();
  if (name === "active")
    return (
      <span className={classes.hint} title={t("queueSortPrioritySort")}>
        {t("byPriority")}
      </span>
    );
  if (name === "bound") return <span className={classes.hint}>{t("newestFirst")}</span>;
  if (name === "waiting")
    return visits ? null : (
      <Link to="/waiting" search={{ run }} className={classes.inbox}>
        {t("inbox")}
      </Link>
    );
  if (name === "unschedulable" && column.next_flush_at) {
    return (
      <span
        className={`${classes.hint} num`}
        title={t("podsThatWaitLongerThan", { nextflushat: exact(column.next_flush_at) })}
      >
        {t("flushCountdown", { countdown: countdown(Date.parse(column.next_flush_at) - now) })}
      </span>
    );
  }
  return null;
}
