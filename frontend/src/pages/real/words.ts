/** A run beside the real cluster in words: the first sentence, and why one pod ended differently. */
import type { RealKind, RealRow, RealSummary } from "@/api/realQueries";
import { clauses, fullStop, listed, sentences, series } from "@/format/lists";

import { t } from "./texts";

/** Those that differ, in the order of the server. */
export const DIFFERENT = [
  "other_node",
  "only_real",
  "only_run",
  "other_message",
  "preempted_real",
  "preempted_run",
] as const satisfies readonly RealKind[];
export const KINDS: readonly RealKind[] = [
  ...DIFFERENT,
  "same_node",
  "same_message",
  "preempted",
  "given",
  "not_tried",
];

export function headline({ counts, decided, alike }: RealSummary): string {
  if (decided === 0) return t("noneDecided");
  if (alike === decided) return t("allAlike", { count: decided });
  const differences = clauses(
    DIFFERENT.filter((kind) => counts[kind] > 0).map((kind) => t(`difference.${kind}`, { count: counts[kind] })),
  );
  return t("someAlike", { count: decided, alike, differences });
}

/** What is missing on either side, each a sentence. */
export function remarks({ counts, missing, without_events: without }: RealSummary): string[] {
  const said: string[] = [];
  if (counts.given > 0) said.push(t("given", { count: counts.given }));
  if (counts.not_tried > 0) said.push(t("notTried", { count: counts.not_tried }));
  if (missing.pods > 0) {
    const more = [
      missing.later > 0 ? t("ofThemLater", { later: missing.later }) : "",
      missing.recreated > 0 ? t("ofThemRecreated", { recreated: missing.recreated }) : "",
    ];
    said.push(fullStop(series([t("missing", { count: missing.pods }), ...more].filter((part) => part !== ""))));
  }
  if (without > 0) said.push(t("withoutEvents", { count: without }));
  return said;
}

export function whyWords(row: RealRow): string {
  return sentences(row.causes.map((cause) => causeWords(cause, row)));
}

interface CauseOf {
  real: Pick<RealRow["real"], "node" | "message">;
  nodes: RealRow["nodes"];
}

export function causeWords(
  { why, plugin, reasons, rank, margin }: RealRow["causes"][number],
  { real, nodes }: CauseOf,
): string {
  const node = real.node ?? "";
  switch (why) {
    case "no_node":
      return t("causeNoNode", { node });
    case "filter":
      return t("causeFilter", { node, plugin, reasons: listed(reasons) });
    case "score":
      return t("causeScore", { node, plugin, rank: rank ?? 0, margin: margin ?? 0 });
    case "tie":
      return t("causeTie", { node });
    case "unscored":
      return t("causeUnscored", { node });
    case "nominated":
      return t("causeNominated", { node });
    case "batched":
      return t("causeBatched", { node });
    case "not_checked":
      return t("causeNotChecked", { node });
    case "absent":
      return t("causeAbsent", { node });
    case "later":
      return t("causeLater", { node, plugin: plugin === "" ? t("aLaterStep") : plugin });
    case "not_stored":
      return t("causeNotStored");
    case "refused":
      return nodes.real === null
        ? t("causeRefusedUncounted", { message: real.message })
        : t("causeRefused", { count: nodes.real });
    case "reasons":
      return nodesDiffer(nodes)
        ? `${t("causeReasons")} ${t("nodesThenAndHere", { real: nodes.real ?? 0, here: nodes.run ?? 0 })}`
        : t("causeReasons");
    case "rest":
      return t("causeRest");
  }
}

function nodesDiffer({ real, run }: RealRow["nodes"]): boolean {
  return real !== null && run !== null && real !== run;
}
