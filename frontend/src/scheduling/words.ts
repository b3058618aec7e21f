/** How a run that schedules a real cluster stands, in words. */
import type { Scheduled } from "@/api/scheduling";
import { both, either, sentences } from "@/format/lists";
import { count } from "@/format/number";
import { wallTime } from "@/format/time";

import { t } from "./texts";

/** What the band is: `on` binds real pods, `dry` tries it only, `off` writes nothing. */
export type Look = "on" | "dry" | "off";

export function lookOf({ state, dry_run }: Scheduled): Look {
  return state === "scheduling" ? (dry_run ? "dry" : "on") : "off";
}

export function titleOf(scheduled: Scheduled): string {
  const { context } = scheduled;
  switch (lookOf(scheduled)) {
    case "on":
      return t("bindsRealPodsIn", { context });
    case "dry":
      return t("dryRunIn", { context });
    default:
      return t("notWritingTo", { context });
  }
}

/** Whose pods, where and how fast. */
export function termsOf({ schedulers, namespaces, bindings_per_minute, node_selector }: Scheduled): string[] {
  const labels = Object.entries(node_selector).map(([key, value]) => `${key}=${value}`);
  return [
    t("schedulerNames", { names: either(schedulers) }),
    namespaces.length === 0
      ? t("allNamespaces")
      : t("inNamespaces", { namespaces: both(namespaces), count: namespaces.length }),
    bindings_per_minute === 0 ? t("noLimit") : t("atMostAMinute", { count: bindings_per_minute }),
    ...(labels.length === 0 ? [] : [t("onNodesWith", { labels: both(labels) })]),
  ];
}

/** Bindings of the last minute, and how many it may have. */
export function rateOf({ bound_last_minute: now, bindings_per_minute: most }: Scheduled): string {
  return most === 0 ? t("boundAMinute", { count: now }) : t("boundOfAMinute", { now: count(now), most: count(most) });
}

/** Why nothing is written, since when, and what goes on by itself; "" while it writes. */
export function whyNot({ state, since, holder, stopped_by, on_their_way }: Scheduled, me: string | undefined): string {
  const at = since === null ? "" : wallTime(Date.parse(since));
  switch (state) {
    case "scheduling":
      return "";
    case "waiting":
      return t("noWorkerYet");
    case "catching_up":
      return t("catchingUp");
    case "standing_by":
      return holder === "" ? t("waitsForTheLease") : t("leaseIsHeldBy", { holder, at });
    case "lease_lost":
      return t("leaseWasLost", { at });
    case "lacks_rights":
      return t("lacksRights");
    case "not_allowed":
      return t("notAllowedSince", { at });
    case "stale":
      return t("unreachableSince", { at });
    case "refused":
      return t("nothingMayBeReadSince", { at });
    case "failed":
      return t("neverReachedSince", { at });
    case "stopped":
      return sentences([
        stopped_by === ""
          ? t("stoppedAt", { at })
          : stopped_by === me
            ? t("stoppedByYou", { at })
            : t("stoppedBy", { who: stopped_by, at }),
        on_their_way > 0 ? t("answersAwaited", { count: on_their_way }) : undefined,
      ]);
  }
}

/** Beside a fault: what goes on meanwhile, and how it ends. */
export function meanwhile({ state }: Scheduled): string {
  switch (state) {
    case "stale":
    case "failed":
      return t("meanwhileUnreachable");
    case "refused":
      return t("meanwhileRefused");
    case "lease_lost":
    case "standing_by":
      return t("meanwhileLease");
    case "lacks_rights":
      return t("meanwhileLacks");
    case "not_allowed":
      return t("meanwhileNotAllowed");
    case "scheduling":
      return t("meanwhileDenied");
    default:
      return "";
  }
}
