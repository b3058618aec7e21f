/** Every address of the UI. Pages are fetched when they are first opened; what they keep in the query string: `search.ts`. */
import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";

import { laterPage } from "@/parts/later";
import { momentKey, runOf } from "@/rewind/moment";
import { InLanguage } from "@/shell/InLanguage";
import { NotFound, PageError } from "@/shell/PageOutcome";

import {
  accountsSearch,
  attemptsSearch,
  auditSearch,
  capacitySearch,
  compareSearch,
  configurationSearch,
  configurationsSearch,
  deletedSearch,
  homeSearch,
  objectsSearch,
  operatorsSearch,
  podSearch,
  realSearch,
  runPodsSearch,
  runSearch,
  runsSearch,
  shadowSearch,
  storageSearch,
  waitingSearch,
  writesSearch,
} from "./search";

const rootRoute = createRootRoute({ component: InLanguage, notFoundComponent: NotFound, errorComponent: PageError });

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: homeSearch,
  component: laterPage(() => import("@/pages/home/HomePage"), "HomePage"),
});

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs",
  validateSearch: runsSearch,
  component: laterPage(() => import("@/pages/runs/RunsPage"), "RunsPage"),
});

const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run",
  validateSearch: runSearch,
  beforeLoad: ({ params, search: { at, ...search } }) => {
    if (at !== undefined)
      throw redirect({ to: "/runs/$run", params: { run: momentKey(runOf(params.run), at) }, search, replace: true });
  },
  component: laterPage(() => import("@/pages/run/RunPage"), "RunPage"),
});

const runPodsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/pods",
  validateSearch: runPodsSearch,
  component: laterPage(() => import("@/pages/run/lists/PodsPage"), "PodsPage"),
});

const attemptsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/attempts",
  validateSearch: attemptsSearch,
  component: laterPage(() => import("@/pages/history/AttemptsPage"), "AttemptsPage"),
});

const objectsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/objects",
  validateSearch: objectsSearch,
  component: laterPage(() => import("@/pages/run/lists/ObjectsPage"), "ObjectsPage"),
});

const realRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/real",
  validateSearch: realSearch,
  component: laterPage(() => import("@/pages/real/RealPage"), "RealPage"),
});

const shadowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/shadow",
  validateSearch: shadowSearch,
  component: laterPage(() => import("@/pages/shadow/ShadowPage"), "ShadowPage"),
});

const writesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/writes",
  validateSearch: writesSearch,
  component: laterPage(() => import("@/pages/writes/WritesPage"), "WritesPage"),
});

const capacityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/capacity",
  validateSearch: capacitySearch,
  component: laterPage(() => import("@/pages/capacity/CapacityPage"), "CapacityPage"),
});

const operatorsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/operators",
  validateSearch: operatorsSearch,
  component: laterPage(() => import("@/pages/operators/OperatorsPage"), "OperatorsPage"),
});

const podRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/pods/$namespace/$name",
  validateSearch: podSearch,
  component: laterPage(() => import("@/pages/pod/PodPage"), "PodPage"),
});

const waitingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/waiting",
  validateSearch: waitingSearch,
  component: laterPage(() => import("@/pages/waiting/WaitingPage"), "WaitingPage"),
});

const clustersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/clusters",
  component: laterPage(() => import("@/pages/clusters/ClustersPage"), "ClustersPage"),
});

const clusterRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/clusters/$cluster",
  component: laterPage(() => import("@/pages/clusters/ClusterPage"), "ClusterPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tokens",
  component: laterPage(() => import("@/pages/tokens/TokensPage"), "TokensPage"),
});

const sessionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sessions",
  component: laterPage(() => import("@/pages/account/SessionsPage"), "SessionsPage"),
});

const accountsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/accounts",
  validateSearch: accountsSearch,
  component: laterPage(() => import("@/pages/account/AccountsPage"), "AccountsPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/audit",
  validateSearch: auditSearch,
  component: laterPage(() => import("@/pages/account/AuditPage"), "AuditPage"),
});

const deletedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/deleted",
  validateSearch: deletedSearch,
  component: laterPage(() => import("@/pages/keeping/DeletedPage"), "DeletedPage"),
});

const storageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/storage",
  validateSearch: storageSearch,
  component: laterPage(() => import("@/pages/keeping/StoragePage"), "StoragePage"),
});

const configurationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/configurations",
  validateSearch: configurationsSearch,
  component: laterPage(() => import("@/pages/configuration/list/ConfigurationsPage"), "ConfigurationsPage"),
});

const configurationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/configurations/$configuration",
  validateSearch: configurationSearch,
  component: laterPage(() => import("@/pages/configuration/ConfigurationPage"), "ConfigurationPage"),
});

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/compare",
  validateSearch: compareSearch,
  component: laterPage(() => import("@/pages/compare/ComparePage"), "ComparePage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    runsRoute,
    runRoute,
    runPodsRoute,
    attemptsRoute,
    objectsRoute,
    realRoute,
    shadowRoute,
    writesRoute,
    capacityRoute,
    operatorsRoute,
    podRoute,
    waitingRoute,
    configurationsRoute,
    configurationRoute,
    compareRoute,
    deletedRoute,
    storageRoute,
    clustersRoute,
    clusterRoute,
    tokensRoute,
    sessionsRoute,
    accountsRoute,
    auditRoute,
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
