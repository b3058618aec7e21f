import { memo, useEffect, useMemo, useRef } from "react";

import { type Card, type Cycle, type Run, STATE_KEYS, type StateKey } from "@/api/types";
import { useMe } from "@/api/useMe";
import { ButtonLink } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { STATES } from "@/components/states";
import { count } from "@/format/number";
import type { RunView } from "@/live/runStore";
import { announce } from "@/shell/pageLive";

import { useCardMotion } from "./cardMotion";
import classes from "./QueueBoard.module.css";
import { QueueColumn } from "./QueueColumn";
import { t } from "./texts";

interface QueueBoardProps {
  run: Run;
  view: RunView;
  cycle: Cycle | null;
  columns: NonNullable<RunView["columns"]>;
  selected: string | undefined;
  pointedNode: string | null;
  /** The queue that a phone shows, and that `1` to `7` focus. */
  queue: StateKey;
  held: boolean;
  onQueue: (queue: StateKey) => void;
  onPoint: (card: Card | null) => void;
}

export const QueueBoard = memo(function QueueBoard({ run, view, cycle, columns, selected, pointedNode, queue, held, onQueue, onPoint }: QueueBoardProps) {
  const board = useRef<HTMLDivElement>(null);
  useCardMotion(board, view.seq, view.rate);
  const { visits } = useMe();
  const waiting = columns.waiting.count;
  useEffect(() => {
    if (waiting > 0) announce("waiting", t("onPermit", { waiting, which: waiting === 1 ? t("waits") : t("wait") }));
  }, [waiting]);
  const { receivedAt } = view;
  const clock = useMemo(() => ({ run, receivedAt }), [run, receivedAt]);
  return (
    <>
      <div className={`${classes.tabs} onlyPhone`} role="group" aria-label={t("queues")}>
        {STATE_KEYS.map((key) => (
          <button key={key} type="button" className={`${classes.tab} st-${key}`} aria-pressed={key === queue} onClick={() => onQueue(key)}
            aria-label={`${STATES[key].title}, ${count(columns[key].count)}`}>
            <Icon name={key} size={14} /><b className="num">{short(columns[key].count)}</b>
          </button>
        ))}
      </div>
      <h2 className={`${classes.tabTitle} st-${queue} onlyPhone`}><Icon name={queue} />{STATES[queue].title}<span className="grow" />
        {queue === "waiting" && !visits ? <ButtonLink to="/waiting" search={{ run: run.id }} size="sm" className={classes.inbox ?? ""}>{t("inbox")}</ButtonLink>
          : <ButtonLink to="/runs/$run/pods" params={{ run: run.id }} search={{ column: queue }} size="sm" className={classes.inbox ?? ""}>{t("list")}</ButtonLink>}
      </h2>
      <div className={classes.board} ref={board} data-queue={queue}>
        {STATE_KEYS.map((key) => (
          <div key={key} className={classes.slot} data-shown={key === queue}>
            <QueueColumn run={run.id} name={key} column={columns[key]} clock={clock} selected={selected} pointedNode={pointedNode}
              current={key === "in_flight" ? (cycle?.pod ?? null) : null} held={held} onPoint={onPoint} />
          </div>
        ))}
      </div>
    </>
  );
});

/** Tabs are narrow: 8,019 becomes 8.0k. */
function short(value: number): string {
  return value < 10_000 ? count(value) : `${(value / 1000).toFixed(0)}k`;
}
