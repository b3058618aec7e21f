/**
 * All that is kept of a run on one line: click, drag or use the keys to look at any step; at its right end the run is as it is now. It is
 * there in every state with the same size, and what is pointed at is told in a box that floats.
 */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";

import { timelineQuery } from "@/api/queries";
import type { Mark } from "@/api/types";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { useSize } from "@/components/useSize";
import { count } from "@/format/number";
import { useKeys } from "@/keys/useKeys";

import { keyAt, runAt } from "./moment";
import { StepPreview } from "./StepPreview";
import { rich, t } from "./texts";
import { diamondPath, markAt, placeOf, type Reach, tickPath, ticksOf, within } from "./ticks";
import classes from "./Timeline.module.css";

/** A step that the keys rest on is looked at; one that is pointed at is told. */
const SETTLED = 180;
const POINTED = 80;
const KINDS = ["failure", "preemption"] as const;
const NEAR = 4;
const PAGE = 20;

/** The step that is pointed at; `rests`: long enough to ask what the run was there. */
interface Told {
  step: number;
  rests: boolean;
}

interface TimelineProps {
  runKey: string;
  /** Where the run is now, as far as the page knows; the server knows better. */
  position: number | null;
  /** From which step on the run is kept, as far as the page knows. */
  kept: number;
  playing: boolean;
  /** Of a fork: where it parted. */
  forkedAt: number | null;
  /** The moment that was asked for is not there yet. */
  reading: boolean;
  /** Undefined to whom may not make runs. */
  onFork: ((step: number) => void) | undefined;
}

export function Timeline({ runKey, position, kept, playing, forkedAt, reading, onFork }: TimelineProps) {
  const { run, at } = runAt(runKey);
  const navigate = useNavigate({ from: "/runs/$run" });
  const { data, refetch } = useQuery({ ...timelineQuery(run), refetchInterval: playing ? 3_000 : false });
  // Of a run that has come to rest since they were read the marks are read once more.
  const stale = data !== undefined && !playing && at === null && position !== null && position !== data.last;
  useEffect(() => {
    if (stale) void refetch();
  }, [stale, position, refetch]);
  const reach = useReach(data, kept, at === null ? (position ?? 0) : 0);
  const { first, last } = reach;
  const [dragged, setDragged] = useState<number | null>(null);
  const [told, setTold] = useState<Told | null>(null);
  const going = useRef(0);
  const telling = useRef(0);
  const track = useRef<HTMLDivElement>(null);
  const { width } = useSize(track);
  const wanted = dragged ?? at ?? last;
  const shown = within(wanted, reach);
  useEffect(
    () => () => {
      window.clearTimeout(going.current);
      window.clearTimeout(telling.current);
    },
    [],
  );

  const go = (step: number) => {
    setDragged(null);
    // Whoever moves along by the keys is told on.
    if (track.current?.matches(":focus-visible") !== true) tell(null);
    void navigate({ params: { run: keyAt(run, step, last) }, search: (old) => old, replace: at !== null });
  };
  const tell = (step: number | null) => {
    window.clearTimeout(telling.current);
    if (step === null) {
      setTold(null);
      return;
    }
    if (told !== null) setTold((old) => (old?.step === step ? old : { step, rests: false }));
    telling.current = window.setTimeout(() => setTold({ step, rests: true }), POINTED);
  };
  const lookAt = (step: number) => {
    const to = within(step, reach);
    setDragged(to);
    tell(to);
    window.clearTimeout(going.current);
    going.current = window.setTimeout(() => go(to), SETTLED);
  };
  const stepAt = (event: PointerEvent<HTMLElement>) => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, wide)));
    return first + Math.round(part * (last - first));
  };
  const onKey = (event: KeyboardEvent) => {
    const to = stepAfter(event.key, shown, reach);
    if (to === undefined) return;
    event.preventDefault();
    lookAt(to);
  };
  useKeys([
    { keys: "[", label: t("oneStepBackInTime"), group: t("run"), run: () => lookAt(shown - 1) },
    { keys: "]", label: t("oneStepOn"), group: t("run"), run: () => lookAt(shown + 1) },
  ]);
  useKeys(
    told === null || onFork === undefined
      ? []
      : [{ keys: "f", label: t("forkAtThisStep"), group: t("run"), floats: true, run: () => onFork(told.step) }],
  );
  useKeys(
    told === null
      ? []
      : [{ keys: "Escape", label: t("closeThePreview"), group: t("run"), floats: true, run: () => tell(null) }],
  );

  const marks = useMemo(() => data?.marks ?? [], [data]);
  const isNow = shown >= last;
  const end = placeOf(shown, reach, width);
  const near = width === 0 ? 0 : ((last - first) / width) * NEAR;
  return (
    <section className={classes.bar} aria-label={t("timeline")}>
      <IconButton
        icon="chevronLeft"
        className={classes.step}
        label={t("oneStepBack")}
        iconSize={14}
        disabled={shown === first}
        onClick={() => lookAt(shown - 1)}
      />
      <div
        ref={track}
        className={classes.track}
        role="slider"
        tabIndex={0}
        aria-label={t("stepOfTheRun")}
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={shown}
        aria-valuetext={isNow ? t("now", { last }) : t("stepOf", { at: shown, last })}
        onKeyDown={onKey}
        onBlur={() => tell(null)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          window.clearTimeout(going.current);
          setDragged(stepAt(event));
        }}
        onPointerMove={(event) => {
          const step = stepAt(event);
          if (event.currentTarget.hasPointerCapture(event.pointerId)) setDragged(step);
          tell(step);
        }}
        onPointerUp={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) go(stepAt(event));
        }}
        onPointerCancel={() => setDragged(null)}
        onPointerLeave={() => tell(null)}
      >
        <span className={classes.line} />
        <span className={classes.done} style={{ width: end }} />
        {reading ? <span className={classes.reading} /> : null}
        <Marks marks={marks} reach={reach} width={width} />
        {forkedAt === null || forkedAt < first || last === 0 ? null : (
          <i
            className={classes.forked}
            style={{ left: placeOf(forkedAt, reach, width) }}
            title={t("forkedHere", { step: forkedAt })}
          />
        )}
        <span className={classes.handle} style={{ left: end }} />
      </div>
      {told === null ? null : (
        <StepPreview
          run={run}
          step={told.step}
          rests={told.rests}
          last={last}
          near={markAt(marks, told.step, near)}
          place={placeOf(told.step, reach, width)}
          forks={onFork !== undefined}
        />
      )}
      <IconButton
        icon="chevronRight"
        className={classes.step}
        label={t("oneStepOnKey")}
        iconSize={14}
        disabled={isNow}
        onClick={() => lookAt(shown + 1)}
      />
      <Where run={run} at={at} wanted={wanted} reach={reach} reading={reading && dragged === null} marks={marks} />
    </section>
  );
}

/** What the server said of the line, and what the page knows meanwhile. */
function useReach(known: Reach | undefined, kept: number, now: number): Reach {
  const first = Math.max(known?.first ?? 0, kept);
  const last = Math.max(first, known?.last ?? 0, now);
  return useMemo(() => ({ first, last }), [first, last]);
}

interface WhereProps {
  run: string;
  at: number | null;
  /** An older link may lead to a step before what is kept. */
  wanted: number;
  reach: Reach;
  reading: boolean;
  marks: readonly Mark[];
}

/** In words: the step that is shown, and the way back. */
function Where({ run, at, wanted, reach: { first, last }, reading, marks }: WhereProps) {
  return (
    <div className={classes.said}>
      <output className={`${classes.where} num`}>
        {reading
          ? at === null
            ? t("readingNow")
            : t("readingStep", { at })
          : wanted >= last
            ? rich("stepNow", { last: <b>{count(last)}</b> })
            : wanted < first
              ? rich("stepGone", { at: <b>{count(wanted)}</b>, first: count(first) })
              : rich("stepOfLast", { at: <b>{count(wanted)}</b>, last: count(last) })}
      </output>
      {at === null ? (
        <Legend marks={marks} />
      ) : (
        <Link
          to="/runs/$run"
          params={{ run }}
          search={(old: Record<string, unknown>) => ({ ...old, at: undefined })}
          className={`${classes.back} leads`}
        >
          {t("backToNow")}
        </Link>
      )}
    </div>
  );
}

/** Where a key leads to; undefined for one that leads nowhere. */
function stepAfter(key: string, shown: number, { first, last }: Reach): number | undefined {
  const page = Math.max(1, Math.round((last - first) / PAGE));
  const moves: Record<string, number> = {
    ArrowLeft: shown - 1,
    ArrowDown: shown - 1,
    ArrowRight: shown + 1,
    ArrowUp: shown + 1,
    PageDown: shown - page,
    PageUp: shown + page,
    Home: first,
    End: last,
  };
  return moves[key];
}

function Marks({ marks, reach, width }: { marks: readonly Mark[]; reach: Reach; width: number }) {
  const drawn = useMemo(
    () => ({
      failures: tickPath(
        ticksOf(
          marks.filter((mark) => mark.kind === "failure"),
          reach,
          width,
        ),
        10,
      ),
      preemptions: diamondPath(
        ticksOf(
          marks.filter((mark) => mark.kind === "preemption"),
          reach,
          width,
        ),
        5.5,
      ),
    }),
    [marks, reach, width],
  );
  return (
    <svg className={classes.marks} aria-hidden="true" width={width} height={12}>
      <path d={drawn.failures} fill="var(--tl-fail)" />
      <path d={drawn.preemptions} fill="var(--tl-preempt)" />
    </svg>
  );
}

function Legend({ marks }: { marks: readonly Mark[] }) {
  const numbers = KINDS.map((kind) => ({
    kind,
    number: marks.reduce((sum, mark) => sum + (mark.kind === kind ? mark.count : 0), 0),
  })).filter(({ number }) => number > 0);
  return (
    <ul className={classes.legend} aria-label={t("marks")}>
      {numbers.map(({ kind, number }) => (
        <li key={kind}>
          {kind === "failure" ? <i /> : <Icon name="diamond" size={10} />}
          {t(`legend.${kind}`, { count: number })}
        </li>
      ))}
    </ul>
  );
}
