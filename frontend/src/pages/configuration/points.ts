/** Extension points as the grid shows them. The API writes `PreFilter`, files and edits write `preFilter`. */
import { t } from "./texts";

export interface PointColumn {
  name: string;
  /** In two lines where it is long. */
  label: readonly string[];
  says: string;
  binding: boolean;
}

const column = (name: string, says: () => string, label: readonly string[] = [name], binding = false): PointColumn => ({
  name,
  label,
  get says() {
    return says();
  },
  binding,
});

export const POINTS: readonly PointColumn[] = [
  column("PreEnqueue", () => t("decidesWhetherAPodMay"), ["Pre-", "Enqueue"]),
  column("QueueSort", () => t("ordersTheActiveQueueExactly"), ["Queue-", "Sort"]),
  column("PreFilter", () => t("looksAtThePodOnce"), ["Pre-", "Filter"]),
  column("Filter", () => t("rulesOutNodesThatCannot")),
  column("PostFilter", () => t("runsWhenNoNodeIs"), ["Post-", "Filter"]),
  column("PreScore", () => t("preparesScoringOverTheFeasible"), ["Pre-", "Score"]),
  column("Score", () => t("ratesTheFeasibleNodesThe")),
  column("Reserve", () => t("keepsWhatThePodNeeds")),
  column("Permit", () => t("approvesDeniesOrLetsThe")),
  column("PreBind", () => t("workThatMustBeDone"), ["Pre-", "Bind"], true),
  column("Bind", () => t("bindsThePodTheFirst"), ["Bind"], true),
  column("PostBind", () => t("toldAfterBinding"), ["Post-", "Bind"], true),
];

export const SCORE = "Score";
export const QUEUE_SORT = "QueueSort";
export const MULTI_POINT = "multiPoint";

/** "PreFilter" → "preFilter" */
export function written(point: string): string {
  return point.slice(0, 1).toLowerCase() + point.slice(1);
}

/** The twelve, and after them what else a profile or a plugin uses (placement points of features that are off). */
export function columnsFor(used: Iterable<string>): readonly PointColumn[] {
  const known = new Set(POINTS.map((point) => point.name));
  const others = [...new Set(used)].filter((name) => !known.has(name)).sort();
  return [...POINTS, ...others.map((name) => column(name, () => "", [name], true))];
}
