import { type KeyboardEvent, useRef } from "react";

import type { AttemptPoint, PointState } from "@/api/podTypes";
import { STEPS } from "@/app/search";
import { Icon, type IconName } from "@/components/Icon";
import { listed } from "@/format/lists";

import { t } from "../texts";
import classes from "./VerdictStrip.module.css";

type Step = (typeof STEPS)[number];
const ICONS: Record<PointState, IconName> = {
  ok: "bound",
  rejects: "unschedulable",
  error: "warning",
  waits: "waiting",
  skipped: "minus",
  not_reached: "minus",
};
const WORDS: Record<PointState, string> = {
  get ok() {
    return t("passes");
  },
  get rejects() {
    return t("rejects");
  },
  get error() {
    return t("fails");
  },
  get waits() {
    return t("waits");
  },
  get skipped() {
    return t("skipped");
  },
  get not_reached() {
    return t("notReached");
  },
};

export const tabId = (point: string): string => `tab-${point}`;
export const panelId = (point: string): string => `panel-${point}`;

interface VerdictStripProps {
  points: readonly AttemptPoint[];
  chosen: Step;
  onChoose: (point: Step) => void;
}

/** The 11 extension points in their order; one tab stop, arrows inside. QueueSort has no verdict. */
export function VerdictStrip({ points, chosen, onChoose }: VerdictStripProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, index: number) => {
    const steps: Record<string, number> = {
      ArrowRight: index + 1,
      ArrowDown: index + 1,
      ArrowLeft: index - 1,
      ArrowUp: index - 1,
      Home: 0,
      End: STEPS.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const step = STEPS[(next + STEPS.length) % STEPS.length];
    if (step === undefined) return;
    onChoose(step);
    list.current?.querySelector<HTMLElement>(`#${tabId(step)}`)?.focus();
  };
  return (
    <div className={classes.strip} role="tablist" aria-label={t("extensionPoints")} ref={list}>
      {STEPS.map((step, index) => {
        const point = points.find((one) => one.point === step);
        const state = point?.state ?? "not_reached";
        const note = point?.note ?? t("notReached");
        return (
          <button
            key={step}
            type="button"
            role="tab"
            id={tabId(step)}
            aria-selected={step === chosen}
            {...(step === chosen ? { "aria-controls": panelId(step) } : {})}
            tabIndex={step === chosen ? 0 : -1}
            className={classes.point}
            data-state={state}
            title={listed((point?.plugins ?? []).map((one) => one.plugin)) || undefined}
            onClick={() => onChoose(step)}
            onKeyDown={(event) => move(event, index)}
          >
            <span className={classes.name}>
              <Icon name={ICONS[state]} size={13} />
              <span className="clip">{step}</span>
              <span className="srOnly"> {WORDS[state]}</span>
            </span>
            <em title={note}>{note}</em>
          </button>
        );
      })}
    </div>
  );
}
