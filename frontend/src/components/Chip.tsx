/** The small parts that name a pod and say what is the matter with it. */
import type { ReactNode } from "react";

import type { PodRef, Rejector, StateKey } from "@/api/types";
import { clauses } from "@/format/lists";
import { count, shortPriority } from "@/format/number";

import classes from "./Chip.module.css";
import { Icon } from "./Icon";
import { STATES } from "./states";
import { t } from "./texts";

interface ChipProps {
  children: ReactNode;
  kind?: "plain" | "line" | "ink" | "ok" | "warn";
  title?: string;
  className?: string;
}

export function Chip({ children, kind = "plain", title, className }: ChipProps) {
  return (
    <span className={`${classes.chip} ${className ?? ""}`} data-kind={kind} title={title}>
      {children}
    </span>
  );
}

export function Pill({ children, big, title }: { children: ReactNode; big?: boolean; title?: string }) {
  return (
    <span className={classes.pill} title={title} {...(big === true ? { "data-big": "" } : {})}>
      {children}
    </span>
  );
}

interface PodNameProps {
  pod: PodRef;
  /** For text that already says which workload. */
  tailOnly?: boolean;
}

/** The only place that shortens pod names: workload strong, tail in mono, the whole name for hover, screen readers and copy. */
export function PodName({ pod, tailOnly = false }: PodNameProps) {
  const full = `${pod.namespace}/${pod.name}`;
  return (
    <span
      className={classes.podName}
      title={full}
      onCopy={(event) => {
        event.clipboardData.setData("text/plain", full);
        event.preventDefault();
      }}
    >
      <span className="srOnly">{full}</span>
      {tailOnly ? null : <b aria-hidden="true">{pod.workload === "" ? pod.name : pod.workload}</b>}
      {pod.tail === "" ? null : <i aria-hidden="true">{pod.tail}</i>}
    </span>
  );
}

export function StateBadge({ state, children }: { state: StateKey; children?: ReactNode }) {
  return (
    <span className={`${classes.badge} st-${state}`}>
      <Icon name={state} size={13} />
      {children ?? STATES[state].title}
    </span>
  );
}

export function Priority({ value, className }: { value: number; className?: string | undefined }) {
  return (
    <span className={`${classes.priority} ${className ?? ""}`} title={t("priorityValue", { value })}>
      <Icon name="flag" size={11} />
      <span className="srOnly">{t("priority")} </span>
      {shortPriority(value)}
    </span>
  );
}

/** Nodes per first rejecting plugin: "29 Fit  6 Taint  1 Cordon". */
export function RejectChips({ rejectors }: { rejectors: readonly Rejector[] }) {
  const sentence = clauses(rejectors.map((one) => t("rejectsNodes", { count: one.count, plugin: one.plugin })));
  return (
    <span className={classes.rejectors} role="img" aria-label={sentence} title={sentence}>
      {rejectors.map((one) => (
        <Chip key={one.plugin} title={t("firstToRejectNodes", { count: one.count, plugin: one.plugin })}>
          <b>{count(one.count)}</b>
          {one.short}
        </Chip>
      ))}
    </span>
  );
}

/** One segment per member, the missing ones hollow; above 12 members the segments stand for shares. */
export function GangProgress({
  have,
  need,
  className,
}: {
  have: number;
  need: number;
  className?: string | undefined;
}) {
  const segments = Math.max(1, Math.min(need, 12));
  const full = need <= 12 ? have : Math.floor((have / need) * segments);
  return (
    <span className={`${classes.gang} ${className ?? ""}`} role="img" aria-label={t("groupHas", { have, need })}>
      {Array.from({ length: segments }, (_, index) => (
        <i key={index} {...(index < full ? {} : { "data-missing": "" })} />
      ))}
    </span>
  );
}
