/** What each queue is called, in Kubernetes' words, with a plain sentence for hover and the words for an empty column. */
import type { Card, StateKey } from "@/api/types";

import { t } from "./texts";

interface StateWords {
  title: string;
  plain: string;
  empty: string;
}

export const STATES: Record<StateKey, StateWords> = {
  gated: {
    get title() {
      return t("gated");
    },
    get plain() {
      return t("gatedPlain");
    },
    get empty() {
      return t("noPodIsHeldBy");
    },
  },
  active: {
    get title() {
      return t("active");
    },
    get plain() {
      return t("activeQPodsThatAreTried");
    },
    get empty() {
      return t("nothingToDo");
    },
  },
  backoff: {
    get title() {
      return t("backoff");
    },
    get plain() {
      return t("backoffQPodsThatWaitA");
    },
    get empty() {
      return t("nobodyWaitsForARetry");
    },
  },
  unschedulable: {
    get title() {
      return t("unschedulable");
    },
    get plain() {
      return t("podsThatNoNodeTakes");
    },
    get empty() {
      return t("everyPodTriedSoFar");
    },
  },
  in_flight: {
    get title() {
      return t("inFlight");
    },
    get plain() {
      return t("podsInASchedulingOr");
    },
    get empty() {
      return t("noCycleIsUnderWay");
    },
  },
  waiting: {
    get title() {
      return t("waitingOnPermit");
    },
    get plain() {
      return t("podsWithAChosenNode");
    },
    get empty() {
      return t("nobodyWaitsOnPermit");
    },
  },
  bound: {
    get title() {
      return t("bound");
    },
    get plain() {
      return t("podsPlacedOnANode");
    },
    get empty() {
      return t("nothingPlacedYet");
    },
  },
};

/** The queue a pod is in, or null when it has ended or is gone from the run. */
export function queueOf(card: Pick<Card, "column">): StateKey | null {
  const { column } = card;
  return column === undefined || column === "completed" || column === "deleted" ? null : column;
}

/** Its queue, or what became of it. */
export function placeWord(card: Pick<Card, "column">): string {
  const queue = queueOf(card);
  if (queue !== null) return STATES[queue].title;
  return card.column === "completed" ? t("completed") : t("deleted");
}

/** How an attempt ended. */
const RESULTS: Readonly<Record<string, () => string>> = {
  bound: () => t("result.bound"),
  waiting: () => t("result.waiting"),
  unschedulable: () => t("result.unschedulable"),
  error: () => t("result.error"),
};

/** What a later server may say is its own word. */
export function resultWord(result: string): string {
  return RESULTS[result]?.() ?? result;
}
