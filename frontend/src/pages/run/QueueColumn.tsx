import { Link } from "@tanstack/react-router";
import { memo, useMemo } from "react";

import type { Card, Column, PodRef, StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { STATES } from "@/components/states";
import { useTick } from "@/components/useTick";
import { count, counted } from "@/format/number";
import { countdown, exact } from "@/format/time";
import { isMoving, runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";

import { holds } from "./cardHolds";
import { useHeld, useInside } from "./held";
import { PodCard } from "./PodCard";
import classes from "./QueueColumn.module.css";

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
  run, name, column: fresh, clock, selected, pointedNode, current, held, onPoint,
}: QueueColumnProps) {
  const [inside, handlers] = useInside();
  const column = useHeld(fresh, inside || held);
  const wall = useTick(clock.run?.clock.mode === "real" && isMoving(clock.run.state));
  const now = runNow(clock, wall);
  const present = useMemo(() => new Set(fresh.cards.map((card) => card.key)), [fresh]);
  const words = STATES[name];
  const note = column.note ?? (column.more > 0 ? `${count(column.more)} more` : null);
  return (
    <section className={`${classes.column} st-${name}`} data-column={name} aria-label={`${words.title}, ${counted(fresh.count, "pod")}`}>
      <header className={classes.header} title={words.plain}>
        <Icon name={name} size={15} />
        <h2>{words.title}</h2>
        <Link to="/runs/$run/pods" params={{ run }} search={{ column: name }} className={`${classes.count} leads num`} aria-label={`${counted(fresh.count, "pod")} in ${words.title}, as a list`}>
          {count(fresh.count)}
        </Link>
        <span className="grow" />
        <Hint name={name} column={fresh} now={now} run={run} />
      </header>
      {column.cards.length === 0 && fresh.count === 0 ? <Empty small>{words.empty}</Empty> : null}
      {/* The handlers only hold the order while it is read. */}
      <ul className={classes.cards} {...handlers}>
        {column.cards.map((card) => (
          <li key={card.key}>
            <PodCard run={run} gone={column !== fresh && fresh.more === 0 && !present.has(card.key)} card={card} column={name} now={now} selected={holds(card, selected)} onPoint={onPoint}
              ringed={pointedNode !== null && card.node === pointedNode}
              current={current !== null && card.namespace === current.namespace && card.name === current.name} />
          </li>
        ))}
      </ul>
      {note === null ? null : (
        <Link to="/runs/$run/pods" params={{ run }} search={{ column: name }} className={`${classes.more} num`}>{note}</Link>
      )}
    </section>
  );
});

function Hint({ name, column, now, run }: { name: StateKey; column: Column; now: number; run: string }) {
  if (name === "active") return <span className={classes.hint} title="QueueSort: PrioritySort">by priority</span>;
  if (name === "bound") return <span className={classes.hint}>newest first</span>;
  if (name === "waiting") return <Link to="/waiting" search={{ run }} className={classes.inbox}>Inbox</Link>;
  if (name === "unschedulable" && column.next_flush_at) {
    return (
      <span className={`${classes.hint} num`} title={`Pods that wait longer than 5 minutes are tried again at ${exact(column.next_flush_at)}`}>
        flush {countdown(Date.parse(column.next_flush_at) - now)}
      </span>
    );
  }
  return null;
}
