/**
 * Every address of the UI. Pages are fetched when they are first opened; what a page keeps in the query string is parsed
 * here, so a link from elsewhere is typed.
 */
import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";

import { RUN_STATES, STATE_KEYS } from "@/api/types";
import { laterPage } from "@/parts/later";
import { momentKey, runOf } from "@/rewind/moment";
import { NotFound, PageError } from "@/shell/PageOutcome";
import { InLanguage } from "@/shell/InLanguage";

import { compact, either, flag, oneOf, type RawSearch, text, whole } from "./search";

const rootRoute = createRootRoute({ component: InLanguage, notFoundComponent: NotFound, errorComponent: PageError });

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: (search: RawSearch) => compact({ import: text(search, "import") }),
  component: laterPage(() => import("@/pages/home/HomePage"), "HomePage"),
});

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs",
  validateSearch: (search: RawSearch) =>
    compact({
      offset: whole(search, "offset"),
      q: text(search, "q"),
      snapshot: text(search, "snapshot"),
      configuration: text(search, "configuration"),
      state: oneOf(search, "state", RUN_STATES),
      fork: either(search, "fork"),
    }),
  component: laterPage(() => import("@/pages/runs/RunsPage"), "RunsPage"),
});

export const GROUPINGS = ["zone", "pool", "none"] as const;
export type Grouping = (typeof GROUPINGS)[number];

const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run",
  validateSearch: (search: RawSearch) =>
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
    }),
  beforeLoad: ({ params, search: { at, ...search } }) => {
    if (at !== undefined) throw redirect({ to: "/runs/$run", params: { run: momentKey(runOf(params.run), at) }, search, replace: true });
  },
  component: laterPage(() => import("@/pages/run/RunPage"), "RunPage"),
});

const runPodsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/pods",
  validateSearch: (search: RawSearch) =>
    compact({
      column: oneOf(search, "column", STATE_KEYS),
      group: text(search, "group"),
      q: text(search, "q"),
      namespace: text(search, "namespace"),
      node: text(search, "node"),
      sort: text(search, "sort"),
    }),
  component: laterPage(() => import("@/pages/run/PodsPage"), "PodsPage"),
});

export const RESULTS = ["bound", "waiting", "unschedulable", "error"] as const;

const attemptsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/attempts",
  validateSearch: (search: RawSearch) =>
    compact({ q: text(search, "q"), result: oneOf(search, "result", RESULTS), node: text(search, "node"), view: oneOf(search, "view", ["timing"] as const) }),
  component: laterPage(() => import("@/pages/history/AttemptsPage"), "AttemptsPage"),
});

const objectsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/objects",
  validateSearch: (search: RawSearch) => compact({ kind: text(search, "kind"), q: text(search, "q"), object: text(search, "object") }),
  component: laterPage(() => import("@/pages/run/ObjectsPage"), "ObjectsPage"),
});

const REAL_KINDS = [
  "other_node", "only_real", "only_run", "other_message", "preempted_real", "preempted_run", "same_node", "same_message", "preempted", "given", "not_tried",
] as const;

const realRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/real",
  validateSearch: (search: RawSearch) => compact({ kind: oneOf(search, "kind", REAL_KINDS), q: text(search, "q"), offset: whole(search, "offset") }),
  component: laterPage(() => import("@/pages/real/RealPage"), "RealPage"),
});

const capacityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/capacity",
  validateSearch: (search: RawSearch) =>
    compact({
      /** "namespace/name" of the pod that is counted. */
      pod: text(search, "pod"),
      /** The node whose shape is added. */
      shape: text(search, "shape"),
    }),
  component: laterPage(() => import("@/pages/capacity/CapacityPage"), "CapacityPage"),
});

export const STEPS = [
  "PreEnqueue", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind",
] as const;

const podRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/pods/$namespace/$name",
  validateSearch: (search: RawSearch) =>
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
    }),
  component: laterPage(() => import("@/pages/pod/PodPage"), "PodPage"),
});

const waitingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/waiting",
  validateSearch: (search: RawSearch) =>
    compact({ run: text(search, "run"), q: text(search, "q"), kind: oneOf(search, "kind", ["person", "gang"] as const), decided: oneOf(search, "decided", ["all"] as const) }),
  component: laterPage(() => import("@/pages/waiting/WaitingPage"), "WaitingPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tokens",
  component: laterPage(() => import("@/pages/tokens/TokensPage"), "TokensPage"),
});

const configurationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/configurations",
  validateSearch: (search: RawSearch) => compact({ preset: text(search, "preset") }),
  component: laterPage(() => import("@/pages/configuration/ConfigurationsPage"), "ConfigurationsPage"),
});

const configurationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/configurations/$configuration",
  validateSearch: (search: RawSearch) =>
    compact({
      version: whole(search, "version"),
      view: oneOf(search, "view", ["form", "yaml"] as const),
      profile: text(search, "profile"),
      plugin: text(search, "plugin"),
      /** The extension point whose order is shown. */
      point: text(search, "point"),
    }),
  component: laterPage(() => import("@/pages/configuration/ConfigurationPage"), "ConfigurationPage"),
});

const DIFFERENCES = ["elsewhere", "only_a", "only_b", "neither", "gated", "missing_a", "missing_b", "same"] as const;

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/compare",
  validateSearch: (search: RawSearch) =>
    compact({
      /** Ids of the two runs. */
      a: text(search, "a"),
      b: text(search, "b"),
      kind: oneOf(search, "kind", DIFFERENCES),
      q: text(search, "q"),
      offset: whole(search, "offset"),
      view: oneOf(search, "view", ["table"] as const),
    }),
  component: laterPage(() => import("@/pages/compare/ComparePage"), "ComparePage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute, runsRoute, runRoute, runPodsRoute, attemptsRoute, objectsRoute, realRoute, capacityRoute, podRoute, waitingRoute, configurationsRoute, configurationRoute,
    compareRoute, tokensRoute,
  ]),
  pathParamsAllowedCharacters: ["@"],
  defaultPreload: "intent",
  defaultPreloadDelay: 80,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
