/** The comparison in words: the first sentence, why a pod went elsewhere, and differences of numbers. */
import type { Cause, Comparison, DifferenceKind, PodDifference } from "@/api/compareQueries";
import type { Run } from "@/api/types";
import { fullStop, series } from "@/format/lists";
import { fixed, percentText } from "@/format/number";
import { seconds } from "@/format/time";

import { t } from "./texts";

export interface Names {
  a: string;
  b: string;
}

/** "Bin-pack", "team v3" */
export function configurationName({ configuration }: Run): string {
  return configuration.builtin
    ? configuration.name
    : t("nameAndVersion", { name: configuration.name, version: configuration.version });
}

/** What both sides are called: by their configurations, since these are what one compares; by their numbers when they have one and the same. */
export function namesOf({ a, b }: Comparison): Names {
  const [one, two] = [configurationName(a.run), configurationName(b.run)];
  return one === two ? { a: a.run.number, b: b.run.number } : { a: one, b: two };
}

export const KIND_WORDS: Record<DifferenceKind, (names: Names) => string> = {
  elsewhere: () => t("onAnotherNode"),
  only_a: ({ a }) => t("placedByAOnly", { a }),
  only_b: ({ b }) => t("placedByBOnly", { b }),
  neither: () => t("placedByNeither"),
  gated: () => t("heldByAGate"),
  missing_a: ({ a }) => t("notInA", { a }),
  missing_b: ({ b }) => t("notInB", { b }),
  same: () => t("sameInBoth"),
};

/** "5 pods are on another node; Bin-pack placed 1 more." */
export function headline(comparison: Comparison): string {
  const { counts, a, b } = comparison;
  const names = namesOf(comparison);
  const differ = counts.elsewhere + counts.only_a + counts.only_b + counts.missing_a + counts.missing_b;
  if (differ === 0) return sameEverywhere(counts.neither, counts.gated);
  const more = b.placed - a.placed;
  const [winner, by] = more > 0 ? [names.b, more] : [names.a, -more];
  const parts = [t("podsAreOnAnotherNode", { count: counts.elsewhere })];
  parts.push(by === 0 ? t("bothPlacedTheSameNumber") : t("placedMore", { winner, by }));
  return fullStop(series(parts));
}

/** Of two runs that placed the same pods on the same nodes: "…; 1 pod fitted in neither, 2 pods are held by a gate." */
function sameEverywhere(neither: number, gated: number): string {
  if (neither === 0 && gated === 0) return t("everyPodWentToThe");
  const rest = [
    ...(neither === 0 ? [] : [t("fittedInNeither", { count: neither })]),
    ...(gated === 0 ? [] : [t("areHeldByAGate", { count: gated })]),
  ];
  return fullStop(series([t("everyPodThatWasPlaced"), ...rest]));
}

/** Why one pod is where it is, from the first cause; the others follow it. */
export function causeWords(cause: Cause, row: PodDifference, names: Names): string {
  const here = cause.side === "b" ? names.b : names.a;
  const wanted = (cause.side === "b" ? row.a?.node : row.b?.node) ?? t("theOtherNode");
  const reasons = cause.reasons.length === 0 ? "" : ` (${series(cause.reasons)})`;
  switch (cause.why) {
    case "score":
      return t("madeTheDifference", { plugin: cause.plugin });
    case "tie":
      return t("theSamePointsInBoth");
    case "filter":
      return t("refusedIn", { which: cause.plugin === "" ? t("aPlugin") : cause.plugin, wanted, here, reasons });
    case "nominated":
      return t("tookWhereItPreempted", { here, wanted });
    case "batched":
      return t("tookTheNextBest", { here, wanted });
    case "preempted":
      return t("preemptedBy", { here, pod: cause.plugin });
    case "gated":
      return t("aGateHoldsItIn", { here });
    case "not_checked":
      return t("didNotLookAtEnough", { here, wanted });
    case "absent":
      return t("hadNoNodeThen", { here, wanted });
    case "later":
      return t("couldHaveHadItOn", {
        here,
        wanted,
        which: cause.plugin === "" ? t("aLaterStep") : cause.plugin,
        reasons,
      });
    case "not_tried":
      return row.kind === "elsewhere" ? t("inItWasOnIts", { here }) : t("hasNotTriedIt", { here });
    case "not_stored":
      return t("whatDecidedAboutItIs", { here });
  }
}

/** "+3", "−2", "0" */
export function signed(value: number, digits = 0): string {
  const text = fixed(Math.abs(value), digits);
  return Number(value.toFixed(digits)) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
}

/** "+4.2 s", "−5 min", "0 s": the difference of two waiting times, written as they are. */
export function waitDifference(value: number): string {
  const text = seconds(Math.abs(value));
  return text === seconds(0) ? text : `${value > 0 ? "+" : "−"}${text}`;
}

/** 0.8751 → "87.5 %" */
export function shareText(share: number | null): string {
  return share === null ? t("none") : percentText(share, 1);
}

export function waitText(value: number | null): string {
  return value === null ? t("none") : seconds(value);
}
