// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import type { Cycle, PodDetail } from "@/api/types";
import { OPERATOR, serve, showAt } from "@/testing/showPage";

import { UnderWay } from "./UnderWay";

const pod = { namespace: "shop", name: "web-1", attempts: 2 } as unknown as PodDetail;
const asking = {
  extenders: ["http://topology"],
  verb: "filter",
  since: new Date(Date.now() - 2100).toISOString(),
  timeout: 5,
};
const cycle = {
  pod: { namespace: "shop", name: "web-1", workload: "web", tail: "1" },
  attempt: 2,
  note: "4 of 5 nodes left",
  points: [{ point: "Filter", state: "current" }],
  asking,
} as unknown as Cycle;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it.each<[string, Cycle, RegExp]>([
  [
    "its own attempt",
    cycle,
    /stands at Filter \(4 of 5 nodes left\)\. Asking http:\/\/topology: \d\.\ds of 5\.0s Follow/,
  ],
  ["another pod's", { ...cycle, pod: { ...cycle.pod, name: "web-2" } }, /^Attempt 2 is under way\. Follow/],
])("a pod being tried says whom %s waits for", async (_, shown, want) => {
  serve({ "GET /me/": OPERATOR });
  await showAt("/runs/r", "/runs/$run", <UnderWay run="r" pod={pod} cycle={shown} />);
  expect(screen.getByText(/is under way/).textContent).toMatch(want);
});
