/** For tests of components: a part of the page in everything it stands in, and a server that answers from a table. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { configure, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";

import { fetchAllParts } from "@/parts/part";
import { NoticesPlace } from "@/shell/NoticesPlace";

// Also while all other tests run.
configure({ asyncUtilTimeout: 10_000 });

export interface Call {
  method: string;
  /** Without "/api/v1". */
  path: string;
  body: unknown;
}

export interface Answer {
  status: number;
  body: unknown;
}

/** What the server answers, by "METHOD /path" without the query string; what is not there does not exist. */
export type Answers = Record<string, (call: Call) => Answer | Promise<Answer>>;

export const ok = (body: unknown) => (): Answer => ({ status: 200, body });
export const refused =
  (message: string, status = 409) =>
  (): Answer => ({
    status,
    body: { error: { code: String(status), message } },
  });

export const OPERATOR = ok({ username: "mira", role: "operator", token: "" });

/** Stands in for `fetch` until the test ends with `vi.unstubAllGlobals()`. Answers the calls that were made. */
export function serve(answers: Answers): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const path = url.replace(/^\/api\/v1/, "");
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const call = { method: init.method ?? "GET", path, body };
    calls.push(call);
    const answer = answers[`${call.method} ${path.replace(/\?.*$/, "")}`] ?? refused(`${call.method} ${path}`, 404);
    const said = await answer(call);
    return new Response(JSON.stringify(said.body), { status: said.status });
  });
  return calls;
}

/** What jsdom lacks. */
function completeBrowser(): void {
  vi.stubGlobal("matchMedia", (media: string) => ({
    media,
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe = () => undefined;
      unobserve = () => undefined;
      disconnect = () => undefined;
    },
  );
  Element.prototype.scrollIntoView = () => undefined;
  vi.stubGlobal("scrollTo", () => undefined);
  vi.stubGlobal("CSS", { escape: (text: string) => text.replace(/[^\w-]/g, "\\$&") });
}

interface Shown {
  /** Where the page has led since. */
  address: () => string;
}

/** Shows it at `address`, for which the router has `route`; every other address is an empty page. */
export async function showAt(address: string, route: string, element: ReactNode): Promise<Shown> {
  completeBrowser();
  const root = createRootRoute({ component: Outlet });
  const here = createRoute({
    getParentRoute: () => root,
    path: route,
    validateSearch: (search: Record<string, string>) => search,
    component: () => element,
  });
  const elsewhere = createRoute({ getParentRoute: () => root, path: "$", component: () => null });
  const router = createRouter({
    routeTree: root.addChildren([here, elsewhere]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  await router.load();
  // A part that is fetched with its first use would be waited for within `act`, which does not see it come.
  await fetchAllParts(() => Promise.resolve());
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <RouterProvider router={router as never} />
        <NoticesPlace />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { address: () => decodeURIComponent(router.state.location.href) };
}
