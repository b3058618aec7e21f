/**
 * Beside the nodes: the cycle under way, what happened, and what is selected, as tabs, so that none of them pushes another
 * part of the page. In narrow windows a sheet at the bottom, of which one line is always there.
 */
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";

import type { Cycle, Run } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";
import { Popover } from "@/components/Popover";
import { TabList } from "@/components/TabList";
import { useKeys } from "@/keys/useKeys";
import type { NodeColumns } from "@/live/nodeColumns";
import type { FeedView, RunStore } from "@/live/runStore";

import { isFast } from "../header/pace";
import { isPlaying } from "../header/Transport";
import { sharedPrefix } from "../nodes/nodeGroups";
import { rich, t } from "../texts";
import { ActivityFeed } from "./ActivityFeed";
import { Parked } from "./Parked";
import { PreemptionsPanel } from "./PreemptionsPanel";
import classes from "./RunSide.module.css";
import { chosen, firstSide, followed, type SideTab } from "./sideTab";
import { ThisCycle } from "./ThisCycle";

interface RunSideProps {
  run: Run;
  store: RunStore;
  feed: FeedView;
  cycle: Cycle | null;
  table: NodeColumns | null;
  /** What is selected, and the word for it. */
  selected: { key: string; word: string; name: string; content: ReactNode; close: () => void } | null;
  preemptions: boolean;
  /** Of a parked run; null for who may not. */
  onTryAgain: (() => void) | null;
  held: boolean;
  onHold: (held: boolean) => void;
}

const PANEL = "run-side";
/** What was seen of a parked run stands where its cycle would. */
const PARKED = "parked";
const tabId = (tab: string) => `${PANEL}-${tab}`;

function stoppedAt(run: Run, cycle: Cycle | null): string | null {
  if (run.parked !== null) return PARKED;
  if (cycle === null || isPlaying(run)) return null;
  return `${cycle.attempt} ${cycle.pod.namespace}/${cycle.pod.name} ${pointOf(cycle)}`;
}

const pointOf = (cycle: Cycle | null) => cycle?.points.find((one) => one.state === "current")?.point ?? "";

export function RunSide(props: RunSideProps) {
  const { run, store, feed, cycle, table, selected, preemptions, onTryAgain, held, onHold } = props;
  const navigate = useNavigate({ from: "/runs/$run" });
  const playing = isPlaying(run);
  const prefix = useMemo(() => sharedPrefix(table), [table]);
  const point = pointOf(cycle);
  const now = { selected: selected?.key, stoppedAt: stoppedAt(run, cycle), fast: playing && isFast(run.clock.speed) };
  const [side, setSide] = useState(() => firstSide(now));
  const following = followed(side, now);
  if (following !== side) setSide(following);
  const { tab, pinned } = following;
  const [opened, setOpened] = useState(selected !== null);
  const [wasSelected, setWasSelected] = useState(selected?.key);
  if (wasSelected !== selected?.key) {
    setWasSelected(selected?.key);
    setOpened(selected !== null);
  }
  const [menu, setMenu] = useState(false);
  const [filtering, setFiltering] = useState(false);

  // What has come since the activity was last on screen.
  const newest = feed.items[0]?.id ?? 0;
  const [seen, setSeen] = useState(newest);
  const isRead = tab === "activity" && !held;
  if ((isRead || seen === 0) && seen !== newest) setSeen(newest);
  const news = isRead ? 0 : feed.items.filter((item) => item.id > seen).length;

  const latest = cycle === null ? (feed.items[0]?.parts.map((part) => part.v).join("") ?? "") : cycle.note;

  const choose = (next: SideTab) => setSide(chosen(following, next));
  useKeys(
    opened
      ? [
          {
            keys: "Escape",
            label: t("closeTheSheet"),
            group: t("run"),
            floats: true,
            run: () => (selected === null ? setOpened(false) : selected.close()),
          },
        ]
      : [],
  );
  const tabs: { value: SideTab; label: ReactNode }[] = [
    { value: "cycle", label: t("thisCycle") },
    {
      value: "activity",
      label: (
        <>
          {t("activity")}
          <span className={`${classes.news} num`}>{news > 0 ? t("freshNew", { fresh: news }) : ""}</span>
        </>
      ),
    },
    ...(selected === null ? [] : [{ value: "selected" as const, label: selected.word }]),
  ];
  return (
    <div className={classes.side} data-open={opened}>
      <Handle
        tab={tab}
        selected={selected}
        parked={run.parked === null ? null : run.error}
        cycle={cycle}
        point={point}
        latest={latest}
        opened={opened}
        onOpen={setOpened}
      />
      <Panel className={classes.panel ?? ""} id={PANEL} aria-label={t("besideTheNodes")}>
        <div className={classes.head}>
          <TabList
            label={t("besideTheNodes")}
            value={tab}
            tabs={tabs}
            onChange={choose}
            className={classes.tabs}
            tabClass={classes.tab}
            idOf={tabId}
            controls={() => `${PANEL}-panel`}
          />
          <span className="grow" />
          {tab === "activity" && !preemptions ? (
            <Button
              size="sm"
              kind="ghost"
              icon={held ? "play" : "pause"}
              aria-pressed={held}
              title={t("holdTheOrderWhileYou")}
              onClick={() => onHold(!held)}
            >
              {held ? t("goOn") : t("hold")}
            </Button>
          ) : null}
          {tab === "selected" && selected !== null ? (
            <IconButton icon="close" label={t("closeEsc")} iconSize={14} onClick={selected.close} />
          ) : null}
          <Popover
            label={t("moreOfThisPanel")}
            open={menu}
            onOpen={setMenu}
            button={(opener) => <IconButton {...opener} icon="more" label={t("moreOfThisPanel")} />}
          >
            <Menu
              pinned={pinned}
              onPin={(on) => setSide({ ...following, pinned: on })}
              onFilter={() => {
                choose("activity");
                setFiltering(true);
                setMenu(false);
                if (preemptions) void navigate({ search: (old) => ({ ...old, side: undefined }), replace: true });
              }}
              onPreemptions={() => {
                choose("activity");
                setMenu(false);
                void navigate({ search: (old) => ({ ...old, side: "preemptions" }), replace: true });
              }}
            />
          </Popover>
        </div>
        <div role="tabpanel" id={`${PANEL}-panel`} aria-labelledby={tabId(tab)} className={classes.body}>
          {tab === "selected" && selected !== null ? (
            selected.content
          ) : tab === "cycle" ? (
            run.parked === null ? (
              <ThisCycle run={run} cycle={cycle} opens={selected === null} prefix={prefix} />
            ) : (
              <Parked run={run} parked={run.parked} onTryAgain={onTryAgain} />
            )
          ) : preemptions ? (
            <PreemptionsPanel
              run={run.id}
              turn={Math.floor(newest / 10)}
              onBack={() => void navigate({ search: (old) => ({ ...old, side: undefined }), replace: true })}
            />
          ) : (
            <ActivityFeed
              run={run.id}
              nothing={run.follows === "" ? t("nothingHasHappenedYetPress") : t("nothingHasComeYet")}
              store={store}
              feed={feed}
              held={held}
              filtering={filtering}
              onFiltering={setFiltering}
              onHold={onHold}
            />
          )}
        </div>
      </Panel>
    </div>
  );
}

interface HandleProps extends Pick<RunSideProps, "selected" | "cycle"> {
  /** Why the run is parked. */
  parked: string | null;
  tab: SideTab;
  point: string;
  latest: string;
  opened: boolean;
  onOpen: (opened: boolean) => void;
}

/** What a narrow window shows of it, and what opens it there. */
function Handle({ tab, selected, parked, cycle, point, latest, opened, onOpen }: HandleProps) {
  return (
    <button
      type="button"
      className={`${classes.handle} onlyNarrow`}
      aria-expanded={opened}
      aria-controls={PANEL}
      onClick={() => onOpen(!opened)}
    >
      <Icon name={tab === "activity" ? "active" : "in_flight"} size={14} />
      <span className="clip" title={latest}>
        {tab === "selected" && selected !== null ? (
          <>
            <b>{selected.word}</b> {selected.name}
          </>
        ) : parked !== null ? (
          t("parkedBecause", { why: parked })
        ) : cycle !== null ? (
          rich("theSheetCycle", {
            pod: <PodName pod={cycle.pod} />,
            point,
            b: (inside) => <b>{inside}</b>,
            note: cycle.note,
          })
        ) : (
          <>
            <b>{t("activity")}</b> {latest}
          </>
        )}
      </span>
      <Icon name={opened ? "chevronDown" : "chevronUp"} size={14} />
    </button>
  );
}

interface MenuProps {
  pinned: boolean;
  onPin: (pinned: boolean) => void;
  onFilter: () => void;
  onPreemptions: () => void;
}

function Menu({ pinned, onPin, onFilter, onPreemptions }: MenuProps) {
  return (
    <div className={classes.menu}>
      <label>
        <input type="checkbox" checked={pinned} onChange={(event) => onPin(event.currentTarget.checked)} />
        {t("keepThisTab")}
      </label>
      <Button kind="ghost" size="sm" icon="search" onClick={onFilter}>
        {t("filterTheActivity")}
      </Button>
      <Button kind="ghost" size="sm" icon="bolt" title={t("whoPreemptedWhomOverThe")} onClick={onPreemptions}>
        {t("preemptions")}
      </Button>
    </div>
  );
}
