// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { meQuery } from "@/api/queries";
import type { Card, Column, Run, StateKey } from "@/api/types";
import type { RunView } from "@/live/runStore";

import { QueueBoard } from "./board/QueueBoard";
import { BoardAddressContext, useBoardAddress } from "./boardAddress";
import { SelectLink } from "./SelectLink";

const made = vi.hoisted(() => [] as string[]);
vi.mock("@/components/Chip", async (original) => ({
  ...(await original<typeof import("@/components/Chip")>()),
  PodName: ({ pod }: { pod: { name: string } }) => {
    made.push(pod.name);
    return <b>{pod.name}</b>;
  },
}));

const card = (name: string): Card =>
  ({
    key: `1 ${name}`,
    kind: "pod",
    namespace: "team",
    name,
    workload: name,
    tail: "",
    node: null,
    priority: 0,
    attempts: 0,
    since: null,
    count: 1,
  }) as unknown as Card;

const column = (names: string[]): Column => ({ count: names.length, more: 0, cards: names.map(card) });
const columnsWith = (active: string[]): Record<StateKey, Column> => {
  const of = (key: StateKey) => column(key === "active" ? active : key === "bound" ? ["d"] : []);
  return {
    gated: of("gated"),
    active: of("active"),
    in_flight: of("in_flight"),
    backoff: of("backoff"),
    unschedulable: of("unschedulable"),
    waiting: of("waiting"),
    bound: of("bound"),
  };
};
const run = {
  id: "r",
  state: "playing",
  clock: { mode: "virtual", now: "2026-01-01T00:00:00Z", start: "2026-01-01T00:00:00Z", speed: "max" },
} as unknown as Run;
const nothing = () => undefined;

async function board(address: string, active = ["a", "b", "c"]) {
  const columns = columnsWith(active);
  const view: RunView = { status: "ready", error: null, seq: 1, run, cycle: null, columns, rate: 500, receivedAt: 0 };
  const root = createRootRoute();
  const route = createRoute({
    getParentRoute: () => root,
    path: "/runs/$run",
    validateSearch: (search: Record<string, string>) => search,
    component: function Page() {
      const { pod } = route.useSearch();
      return (
        <BoardAddressContext value={useBoardAddress()}>
          <QueueBoard
            run={run}
            view={view}
            cycle={null}
            columns={columns}
            selected={pod}
            pointedNode={null}
            queue="active"
            held={false}
            onQueue={nothing}
            onPoint={nothing}
          />
          <SelectLink node="n1" pod={null}>
            n1
          </SelectLink>
        </BoardAddressContext>
      );
    },
  });
  const other = (path: string) => createRoute({ getParentRoute: () => root, path });
  const router = createRouter({
    routeTree: root.addChildren([
      route,
      other("/runs/$run/pods"),
      other("/runs/$run/pods/$namespace/$name"),
      other("/waiting"),
    ]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { role: "operator" } as never);
  render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByTitle("team/a");
  return router;
}

const link = (name: string) => screen.getByTitle(`team/${name}`);
const hrefs = () => ["a", "b", "c", "d"].map((name) => link(name).getAttribute("href"));

async function click(name: string, selected = true) {
  made.length = 0;
  fireEvent.click(link(name));
  await waitFor(() => expect(link(name).dataset.selected).toBe(String(selected)));
  return [...made];
}

beforeEach(() => {
  vi.stubGlobal("scrollTo", nothing);
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: nothing, removeEventListener: nothing }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("selecting a pod on the board", () => {
  it("makes only the cards anew that it is about", async () => {
    await board("/runs/r");
    expect(await click("b")).toEqual(["b"]);
    expect((await click("d")).sort()).toEqual(["b", "d"]);
    expect(await click("d", false)).toEqual(["d"]);
  });

  it("works out no more addresses when there are more cards", async () => {
    const asked = [];
    for (const more of [[], ["e", "f", "g", "h", "i"]]) {
      const router = await board("/runs/r", ["a", "b", "c", ...more]);
      const buildLocation = vi.spyOn(router, "buildLocation");
      await click("b");
      asked.push(buildLocation.mock.calls.length);
      cleanup();
    }
    expect(asked[0]).toBeGreaterThan(0);
    expect(asked[1]).toBe(asked[0]);
  });

  it("keeps what else the address says, and leaves every other card's own address as it was", async () => {
    const router = await board("/runs/r?by=pool&node=n1");
    expect(hrefs()).toEqual(["a", "b", "c", "d"].map((name) => `/runs/r?by=pool&pod=team%2F${name}`));
    await click("b");
    expect(router.state.location.search).toEqual({ by: "pool", pod: "team/b" });
    expect(hrefs()).toEqual([
      "/runs/r?by=pool&pod=team%2Fa",
      "/runs/r?by=pool",
      "/runs/r?by=pool&pod=team%2Fc",
      "/runs/r?by=pool&pod=team%2Fd",
    ]);
    await router.navigate({ to: "/runs/$run", params: { run: "r" }, search: { by: "none", pod: "team/b" } } as never);
    await waitFor(() => expect(hrefs()[0]).toBe("/runs/r?by=none&pod=team%2Fa"));
  });

  it("opens the selected pod with Enter on its card, and on a node's name leaves Enter to the link", async () => {
    const router = await board("/runs/r?pod=team%2Fb");
    expect(fireEvent.keyDown(screen.getByText("n1"), { key: "Enter" })).toBe(true);
    expect(fireEvent.keyDown(link("a"), { key: "Enter" })).toBe(true);
    expect(router.state.location.pathname).toBe("/runs/r");
    expect(fireEvent.keyDown(link("b"), { key: "Enter" })).toBe(false);
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/r/pods/team/b"));
  });

  it("leaves a click with a modifier key to the browser", async () => {
    const router = await board("/runs/r");
    const taken: boolean[] = [];
    // What the board leaves alone, jsdom would follow.
    const browser = (event: Event) => {
      taken.push(event.defaultPrevented);
      event.preventDefault();
    };
    window.addEventListener("click", browser);
    for (const modifier of ["ctrlKey", "metaKey", "shiftKey", "altKey"])
      fireEvent.click(link("a"), { [modifier]: true });
    fireEvent.click(link("a"));
    window.removeEventListener("click", browser);
    expect(taken).toEqual([false, false, false, false, true]);
    await waitFor(() => expect(router.state.location.search).toEqual({ pod: "team/a" }));
  });
});
