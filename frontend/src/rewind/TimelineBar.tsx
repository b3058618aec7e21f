/** The whole run on one line: drag or use the keys to look at any step; at its right end the run is as it is now. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { timelineQuery } from "@/api/queries";
import type { Mark } from "@/api/types";
import { IconButton } from "@/components/Button";
import { useKeys } from "@/keys/useKeys";

import { keyAt, runAt } from "./moment";
import { t } from "./texts";
import classes from "./TimelineBar.module.css";

const SETTLED = 180;
const KINDS = ["failure", "preemption", "decision", "command"] as const;

interface TimelineBarProps {
  runKey: string;
  /** Where the run is now, as far as the page knows; the server knows better. */
  position: number | null;
  playing: boolean;
}

export function TimelineBar({ runKey, position, playing }: TimelineBarProps) {
  const { run, at } = runAt(runKey);
  const navigate = useNavigate({ from: "/runs/$run" });
  const { data } = useQuery({ ...timelineQuery(run), refetchInterval: playing ? 3_000 : false });
  const last = Math.max(data?.last ?? 0, at === null ? (position ?? 0) : 0);
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef(0);
  const shown = dragged ?? at ?? last;
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const lookAt = (step: number) => {
    const to = Math.min(last, Math.max(0, step));
    setDragged(to);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      setDragged(null);
      void navigate({ params: { run: keyAt(run, to, last) }, search: (old) => old, replace: at !== null });
    }, SETTLED);
  };
  useKeys([
    { keys: "[", label: t("oneStepBackInTime"), group: t("run"), run: () => lookAt(shown - 1) },
    { keys: "]", label: t("oneStepOn"), group: t("run"), run: () => lookAt(shown + 1) },
  ]);
  if (last === 0) return null;
  const marks = data?.marks ?? [];
  return (
    <section className={classes.bar} aria-label={t("timeline")}>
      <IconButton icon="chevronLeft" label={t("oneStepBack")} disabled={shown === 0} onClick={() => lookAt(shown - 1)} />
      <div className={classes.track}>
        <div className={classes.marks} aria-hidden="true">
          {marks.map((mark) => (
            <i key={`${mark.kind} ${mark.position}`} data-kind={mark.kind} title={titleOf(mark)} style={{ left: `${(mark.position / last) * 100}%` }} />
          ))}
        </div>
        <input type="range" min={0} max={last} step={1} value={shown} aria-label={t("stepOfTheRun")} aria-valuetext={valueText(shown, last)}
          onChange={(event) => lookAt(event.currentTarget.valueAsNumber)} />
      </div>
      <IconButton icon="chevronRight" label={t("oneStepOnKey")} disabled={shown >= last} onClick={() => lookAt(shown + 1)} />
      <output className={`${classes.where ?? ""} num`}>{shown >= last ? t("now", { last }) : t("shownOfLast", { shown, last })}</output>
      <ul className={`${classes.legend ?? ""} hidePhone`} aria-label={t("marks")}>
        {KINDS.filter((kind) => marks.some((mark) => mark.kind === kind)).map((kind) => {
          const number = marks.reduce((sum, mark) => sum + (mark.kind === kind ? mark.count : 0), 0);
          return <li key={kind}><i data-kind={kind} aria-hidden="true" />{t(`marks.${kind}`, { count: number })}</li>;
        })}
      </ul>
    </section>
  );
}

function titleOf(mark: Mark): string {
  const { position, text } = mark;
  return mark.count === 1 ? t("markOne", { position, text, kind: t(`only.${mark.kind}`) }) : t("markMore", { position, text, marks: t(`marks.${mark.kind}`, { count: mark.count }) });
}

function valueText(at: number, last: number): string {
  return at >= last ? t("now", { last }) : t("stepOf", { at, last });
}
