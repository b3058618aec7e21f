/**
 * What each page keeps in the query string. The router parses with it, so a link from elsewhere is typed; pages take the
 * values that a parameter may have from here, not from the router, which imports the pages.
 */
import { OWN_WORLD_KINDS } from "@/api/ownWorldQueries";
import { WRITE_OUTCOMES } from "@/api/scheduling";
import { SHADOW_KINDS } from "@/api/shadowQueries";
import { RUN_STATES, STATE_KEYS } from "@/api/types";

import { compact, either, flag, oneOf, type RawSearch, text, whole } from "./searchValues";

export const homeSearch = (search: RawSearch) => compact({ import: text(search, "import") });

export const runsSearch = (search: RawSearch) =>
  compact({
    offset: whole(search, "offset"),
    q: text(search, "q"),
    snapshot: text(search, "snapshot"),
    configuration: text(search, "configuration"),
    state: oneOf(search, "state", RUN_STATES),
    fork: either(search, "fork"),
  });

export const accountsSearch = (search: RawSearch) => compact({ q: text(search, "q"), offset: whole(search, "offset") });

export const auditSearch = (search: RawSearch) =>
  compact({
    action: text(search, "action"),
    result: oneOf(search, "result", ["done", "refused"] as const),
    who: text(search, "who"),
    q: text(search, "q"),
    /** Days, in UTC, both within. */
    since: text(search, "since"),
    until: text(search, "until"),
    offset: whole(search, "offset"),
  });

export const deletedSearch = (search: RawSearch) => compact({ offset: whole(search, "offset") });

export const storageSearch = (search: RawSearch) =>
  compact({ person: text(search, "person"), offset: whole(search, "offset") });

export const GROUPINGS = ["zone", "pool", "none"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const runSearch = (search: RawSearch) =>
  compact({
    /** The step that is looked at: `/runs/id?at=340` leads to `/runs/id@340`, which every link of the page keeps. */
    at: whole(search, "at"),
    /** "namespace/name" of the selected pod. */
    pod: text(search, "pod"),
    node: text(search, "node"),
    by: oneOf(search, "by", GROUPINGS),
    fill: text(search, "fill"),
    table: flag(search, "table"),
    queue: oneOf(search, "queue", STATE_KEYS),
    feed: text(search, "feed"),
    /** What stands beside the nodes while nothing is selected; without it the activity. */
    side: oneOf(search, "side", ["preemptions"] as const),
  });

export const runPodsSearch = (search: RawSearch) =>
  compact({
    column: oneOf(search, "column", STATE_KEYS),
    group: text(search, "group"),
    q: text(search, "q"),
    namespace: text(search, "namespace"),
    node: text(search, "node"),
    sort: text(search, "sort"),
  });

export const RESULTS = ["bound", "waiting", "unschedulable", "error"] as const;

export const attemptsSearch = (search: RawSearch) =>
  compact({
    q: text(search, "q"),
    result: oneOf(search, "result", RESULTS),
    node: text(search, "node"),
    view: oneOf(search, "view", ["timing"] as const),
  });

export const objectsSearch = (search: RawSearch) =>
  compact({ kind: text(search, "kind"), q: text(search, "q"), object: text(search, "object") });

const REAL_KINDS = [
  "other_node",
  "only_real",
  "only_run",
  "other_message",
  "preempted_real",
  "preempted_run",
  "same_node",
  "same_message",
  "preempted",
  "given",
  "not_tried",
] as const;

export const realSearch = (search: RawSearch) =>
  compact({ kind: oneOf(search, "kind", REAL_KINDS), q: text(search, "q"), offset: whole(search, "offset") });

export const shadowSearch = (search: RawSearch) =>
  compact({
    kind: oneOf(search, "kind", SHADOW_KINDS),
    namespace: text(search, "namespace"),
    profile: text(search, "profile"),
    workload: text(search, "workload"),
    plugin: text(search, "plugin"),
    q: text(search, "q"),
    offset: whole(search, "offset"),
    // Of a shadow on its own.
    outcome: oneOf(search, "outcome", OWN_WORLD_KINDS),
    view: oneOf(search, "view", ["table"] as const),
  });

export const writesSearch = (search: RawSearch) =>
  compact({
    outcome: oneOf(search, "outcome", WRITE_OUTCOMES),
    events: flag(search, "events"),
    q: text(search, "q"),
    offset: whole(search, "offset"),
  });

export const capacitySearch = (search: RawSearch) =>
  compact({
    /** "namespace/name" of the pod that is counted. */
    pod: text(search, "pod"),
    /** The node whose shape is added. */
    shape: text(search, "shape"),
  });

const EVENT_REASONS = ["Scheduled", "FailedScheduling", "Preempted"] as const;

export const operatorsSearch = (search: RawSearch) =>
  compact({
    q: text(search, "q"),
    reason: oneOf(search, "reason", EVENT_REASONS),
    offset: whole(search, "offset"),
    /** The debugger's dump was asked for. */
    dump: flag(search, "dump"),
  });

export const STEPS = [
  "PreEnqueue",
  "PreFilter",
  "Filter",
  "PostFilter",
  "PreScore",
  "Score",
  "Reserve",
  "Permit",
  "PreBind",
  "Bind",
  "PostBind",
] as const;

export const podSearch = (search: RawSearch) =>
  compact({
    attempt: whole(search, "attempt"),
    /** The attempt that is laid beside it. */
    against: whole(search, "against"),
    point: oneOf(search, "point", STEPS),
    view: oneOf(search, "view", ["groups", "bars", "table"] as const),
    journey: oneOf(search, "journey", ["timeline", "list"] as const),
    q: text(search, "q"),
    sort: text(search, "sort"),
    equal: oneOf(search, "equal", ["hide"] as const),
    yaml: flag(search, "yaml"),
    /** "Kind/namespace/name" of the object whose YAML is shown. */
    object: text(search, "object"),
    /** The node whose scores are taken apart, and the one beside it. */
    node: text(search, "node"),
    beside: text(search, "beside"),
    /** Weights are tried: "Plugin:5,Other:off", the Filter plugins that are off, and the exact run of all that. */
    trying: flag(search, "trying"),
    weights: text(search, "weights"),
    off: text(search, "off"),
    exact: text(search, "exact"),
    /** Who would have won had every node been looked at. */
    full: flag(search, "full"),
  });

export const waitingSearch = (search: RawSearch) =>
  compact({
    run: text(search, "run"),
    q: text(search, "q"),
    kind: oneOf(search, "kind", ["person", "gang"] as const),
    decided: oneOf(search, "decided", ["all"] as const),
  });

export const configurationsSearch = (search: RawSearch) => compact({ preset: text(search, "preset") });

export const configurationSearch = (search: RawSearch) =>
  compact({
    version: whole(search, "version"),
    view: oneOf(search, "view", ["form", "yaml"] as const),
    profile: text(search, "profile"),
    plugin: text(search, "plugin"),
    /** The extension point whose order is shown. */
    point: text(search, "point"),
  });

const DIFFERENCES = ["elsewhere", "only_a", "only_b", "neither", "gated", "missing_a", "missing_b", "same"] as const;

export const compareSearch = (search: RawSearch) =>
  compact({
    /** Ids of the two runs. */
    a: text(search, "a"),
    b: text(search, "b"),
    kind: oneOf(search, "kind", DIFFERENCES),
    q: text(search, "q"),
    offset: whole(search, "offset"),
    view: oneOf(search, "view", ["table"] as const),
  });
