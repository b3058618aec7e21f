/** Extension points as the grid shows them. The API writes `PreFilter`, files and edits write `preFilter`. */

export interface PointColumn {
  name: string;
  /** In two lines where it is long. */
  label: readonly string[];
  says: string;
  binding: boolean;
}

const column = (name: string, says: string, label: readonly string[] = [name], binding = false): PointColumn => ({ name, label, says, binding });

export const POINTS: readonly PointColumn[] = [
  column("PreEnqueue", "Decides whether a pod may enter the active queue.", ["Pre-", "Enqueue"]),
  column("QueueSort", "Orders the active queue. Exactly one plugin does.", ["Queue-", "Sort"]),
  column("PreFilter", "Looks at the pod once per cycle, before any node.", ["Pre-", "Filter"]),
  column("Filter", "Rules out nodes that cannot take the pod."),
  column("PostFilter", "Runs when no node is left, to make room.", ["Post-", "Filter"]),
  column("PreScore", "Prepares scoring over the feasible nodes.", ["Pre-", "Score"]),
  column("Score", "Rates the feasible nodes; the weight multiplies the normalised score."),
  column("Reserve", "Keeps what the pod needs on the chosen node."),
  column("Permit", "Approves, denies, or lets the pod wait before it is bound."),
  column("PreBind", "Work that must be done before binding.", ["Pre-", "Bind"], true),
  column("Bind", "Binds the pod; the first plugin that does so ends it.", ["Bind"], true),
  column("PostBind", "Told after binding.", ["Post-", "Bind"], true),
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
  return [...POINTS, ...others.map((name) => column(name, "", [name], true))];
}
