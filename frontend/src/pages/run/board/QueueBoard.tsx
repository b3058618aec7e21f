import { memo, useEffect, useMemo, useRef } from "react";

import { type Card, type Cycle, type Run, STATE_KEYS, type StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { STATES } from "@/components/states";
import { TabList } from "@/components/TabList";
import { count } from "@/format/number";
import type { RunView } from "@/live/runStore";
import { announce } from "@/shell/pageLive";

import { t } from "../texts";
import { useCardMotion } from "./cardMotion";
import classes from "./QueueBoard.module.css";
import { QueueColumn } from "./QueueColumn";

interface QueueBoardProps {
  run: Run;
  view: RunView;
  cycle: Cycle | null;
  columns: NonNullable<RunView["columns"]>;
  selected: string | undefined;
  pointedNode: string | null;
  /** The queue that a narrow window shows, and that `1` to `7` focus. */
  queue: StateKey;
  held: boolean;
  onQueue: (queue: StateKey) => void;
  onPoint: (card: Card | null) => void;
}

export const QueueBoard = memo(function QueueBoard({
  run,
  view,
  cycle,
  columns,
  selected,
  pointedNode,
  queue,
  held,
  onQueue,
  onPoint,
}: QueueBoardProps) {
  const board = useRef<HTMLDivElement>(null);
  useCardMotion(board, view.seq, view.rate);
  const waiting = columns.waiting.count;
  useEffect(() => {
    if (waiting > 0) announce("waiting", t("onPermit", { waiting, which: waiting === 1 ? t("waits") : t("wait") }));
  }, [waiting]);
  const { receivedAt } = view;
  const clock = useMemo(() => ({ run, receivedAt }), [run, receivedAt]);
  const tabs = STATE_KEYS.map((key) => ({
    value: key,
    className: `st-${key}`,
    title: `${STATES[key].title}, ${count(columns[key].count)}`,
    label: (
      <>
        <Icon name={key} size={14} />
        <b className="num">{short(columns[key].count)}</b>
        <span>{tabWord(key)}</span>
      </>
    ),
  }));
  return (
    <>
      <TabList
        label={t("queues")}
        value={queue}
        tabs={tabs}
        onChange={onQueue}
        className={`${classes.tabs} onlyNarrow`}
        tabClass={classes.tab}
      />
      <div className={classes.board} ref={board} data-queue={queue}>
        {STATE_KEYS.map((key) => (
          <div key={key} className={classes.slot} data-shown={key === queue}>
            <QueueColumn
              run={run.id}
              name={key}
              column={columns[key]}
              clock={clock}
              selected={selected}
              pointedNode={pointedNode}
              current={key === "in_flight" ? (cycle?.pod ?? null) : null}
              held={held}
              onPoint={onPoint}
            />
          </div>
        ))}
      </div>
    </>
  );
});

/** Tabs are narrow: 8,019 is said, 18,019 is 18k. */
function short(value: number): string {
  return value < 10_000 ? count(value) : `${(value / 1000).toFixed(0)}k`;
}

/** The queue's name where the whole one has no room. */
function tabWord(key: StateKey): string {
  return key === "unschedulable" ? t("tab.unschedulable") : key === "waiting" ? t("tab.waiting") : STATES[key].title;
}
