/** The pod's way through the queues: a lane per queue on one axis, with what moved it; the same as a list. */
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";

import type { PodDetail, StateKey } from "@/api/types";
import { Icon } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";
import { STATES } from "@/components/states";
import { useTick } from "@/components/useTick";
import { age, exact, runTime } from "@/format/time";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";

import { t } from "../texts";
import classes from "./JourneyPanel.module.css";
import { type JourneyLayout, layOut, type Stay } from "./journeyScale";

const route = getRouteApi("/runs/$run/pods/$namespace/$name");
const LANES: readonly StateKey[] = ["gated", "active", "in_flight", "backoff", "unschedulable", "waiting", "bound"];
/** Narrower than this percentage, a bar has no room for its duration. */
const LABELLED = 5;

export function JourneyPanel({ pod, view }: { pod: PodDetail; view: RunView }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const wall = useTick(view.run?.clock.mode === "real" && view.run.state === "playing");
  const now = view.run === null ? Date.parse(pod.journey.end) : runNow(view, wall);
  const layout = useMemo(() => layOut(pod.journey, now), [pod.journey, now]);
  const shown = search.journey ?? "timeline";
  const text = summary(pod, layout, view.run === null ? null : Date.parse(view.run.clock.start));
  return (
    <Panel aria-labelledby="journey">
      <PanelHeader id="journey" title={t("journey")}>
        <span className="faint num clip" title={text}>
          {text}
        </span>
        <span className="grow" />
        <Segmented
          className={classes.switch ?? ""}
          label={t("journeyAs")}
          value={shown}
          onChange={(journey) =>
            void navigate({
              search: (old) => ({ ...old, journey: journey === "timeline" ? undefined : journey }),
              replace: true,
            })
          }
          options={[
            { value: "timeline", label: t("timeline") },
            { value: "list", label: t("list") },
          ]}
        />
      </PanelHeader>
      {layout.stays.length === 0 ? (
        <Empty>{t("itWasInTheCluster")}</Empty>
      ) : shown === "list" ? (
        <List layout={layout} />
      ) : (
        <Timeline layout={layout} pod={pod} />
      )}
    </Panel>
  );
}

function duration(stay: Stay, end: number): string {
  const milliseconds = (stay.end ?? end) - stay.start;
  return milliseconds > 0 && milliseconds < 100
    ? t("stayInMilliseconds", { Number: Number(milliseconds.toFixed(1)) })
    : age(milliseconds);
}

function summary(pod: PodDetail, layout: JourneyLayout, begin: number | null): string {
  const first = layout.stays[0];
  if (first === undefined) return "";
  const added = first.start;
  if (first.queue === "bound") return added === begin ? t("placedBeforeTheSnapshot") : t("addedOnItsNode");
  const bound = layout.stays.find((stay) => stay.queue === "bound");
  if (bound !== undefined)
    return bound.start === added ? t("boundAtOnceNoTime") : t("fromAddedToBound", { age: age(bound.start - added) });
  const queued = layout.stays
    .filter((stay) => stay.queue !== "in_flight")
    .reduce((sum, stay) => sum + (stay.end ?? layout.end) - stay.start, 0);
  const cycles = pod.attempt_list.reduce((sum, one) => sum + (one.duration_ms ?? 0), 0);
  return cycles === 0
    ? t("inQueues", { age: age(queued) })
    : t("inQueuesAndCycles", { age: age(queued), cycles: Number(cycles.toFixed(1)) });
}

function labelOf(stay: Stay, pod: PodDetail, end: number): string {
  if (stay.queue === "bound") return t("onNode", { node: pod.node ?? t("itsNode") });
  return stay.end === null ? t("stillHere", { duration: duration(stay, end) }) : duration(stay, end);
}

function Timeline({ layout, pod }: { layout: JourneyLayout; pod: PodDetail }) {
  const lanes = LANES.filter((queue) => layout.stays.some((stay) => stay.queue === queue));
  const precise = layout.end - layout.start < 20_000;
  return (
    <div className={classes.timeline} style={{ "--lanes": lanes.length } as React.CSSProperties}>
      <div className={classes.events}>
        <span className={`${classes.label} faint`}>{t("events")}</span>
        <div className={classes.track}>
          {layout.marks.map((mark) => (
            <span
              key={`${mark.at}-${mark.text}`}
              className={classes.event}
              data-strong={mark.strong || undefined}
              style={{ left: `${mark.left}%`, maxWidth: `${widthOf(mark.left, layout)}%` }}
              title={[
                t("toISOStringText", { toISOString: exact(new Date(mark.at).toISOString()), text: mark.text }),
                ...mark.more,
              ].join("\n")}
            >
              <span className="clip">{mark.text}</span>
            </span>
          ))}
          <span className={classes.now} style={{ left: "100%" }}>
            {t("stayUntilNow")}
          </span>
        </div>
      </div>
      {lanes.map((queue) => (
        <div key={queue} className={`${classes.lane} st-${queue}`}>
          <span className={classes.label}>
            <Icon name={queue} size={13} />
            {STATES[queue].title}
          </span>
          <div className={classes.track}>
            {layout.stays
              .filter((stay) => stay.queue === queue)
              .map((stay, index) => (
                <span
                  key={`${stay.start}-${index}`}
                  className={classes.bar}
                  data-folded={stay.folded || undefined}
                  data-small={stay.width < 2.5 || undefined}
                  role="img"
                  aria-label={`${STATES[queue].title}, ${duration(stay, layout.end)}`}
                  title={t(stay.folded ? "stayOnLaneShortened" : "stayOnLane", {
                    runTime: runTime(new Date(stay.start).toISOString()),
                    end: stay.end === null ? t("stayUntilNow") : runTime(new Date(stay.end).toISOString()),
                    duration: duration(stay, layout.end),
                  })}
                  style={{ left: `${stay.left}%`, width: `max(${stay.width}%, 8px)` }}
                >
                  {stay.width >= LABELLED ? <span>{labelOf(stay, pod, layout.end)}</span> : null}
                </span>
              ))}
          </div>
        </div>
      ))}
      <div className={classes.axis}>
        <span />
        <div className={`${classes.track} num`}>
          {layout.ticks.map((tick, index) => (
            <span
              key={tick.left}
              data-at={index === 0 ? "start" : index === layout.ticks.length - 1 ? "end" : undefined}
              style={{ left: `${tick.left}%` }}
            >
              {runTime(new Date(tick.at).toISOString(), precise)}
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Room up to the next mark. */
function widthOf(left: number, layout: JourneyLayout): number {
  const next = layout.marks.find((mark) => mark.left > left)?.left ?? 96;
  return Math.max(2.5, next - left - 0.5);
}

function List({ layout }: { layout: JourneyLayout }) {
  const lines = [
    ...layout.stays.map((stay, index) => ({
      at: stay.start,
      order: 1,
      key: `stay-${index}`,
      stay,
      text: "",
      strong: false,
    })),
    ...layout.marks.flatMap((mark, index) =>
      [mark.text, ...mark.more].map((text, each) => ({
        at: mark.at,
        order: 0,
        key: `mark-${index}-${each}`,
        stay: null,
        text,
        strong: mark.strong && each === 0,
      })),
    ),
  ].sort((a, b) => a.at - b.at || a.order - b.order);
  return (
    <ol className={classes.list}>
      {lines.map((line) => (
        <li key={line.key} className={line.stay === null ? undefined : `st-${line.stay.queue}`}>
          <time className="faint" dateTime={new Date(line.at).toISOString()}>
            {runTime(new Date(line.at).toISOString())}
          </time>
          {line.stay === null ? (
            <span className={line.strong ? classes.strong : "muted"}>{line.text}</span>
          ) : (
            <>
              <span className={classes.entry}>
                <Icon name={line.stay.queue} size={13} />
                <b>{STATES[line.stay.queue].title}</b>
              </span>
              <span className="muted num">
                {line.stay.queue === "bound"
                  ? ""
                  : line.stay.end === null
                    ? t("stillHere", { duration: duration(line.stay, layout.end) })
                    : duration(line.stay, layout.end)}
              </span>
            </>
          )}
        </li>
      ))}
    </ol>
  );
}
