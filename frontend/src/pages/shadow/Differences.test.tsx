// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ShadowDecision, ShadowSummary } from "@/api/shadowQueries";
import { ok, serve, showAt } from "@/testing/showPage";

import { Differences } from "./Differences";

const CALL = { extender: "http://license/", verb: "filter", sent: 3, kept: 1, error: "", microseconds: 4200 } as const;
const DECISION = {
  number: 7,
  at: "2026-01-01T10:02:11Z",
  uid: "u",
  namespace: "shop",
  name: "web-1",
  workload: "",
  profile: "default-scheduler",
  kind: "other_node",
  bound: true,
  real_node: "n2",
  own_node: "n1",
  plugin: "http://license/",
  margin: 0,
  tied: 1,
  rank: 0,
  reasons: ["no license"],
  points: [],
  victims: [],
  message: "",
  real_message: "",
  why_not: "",
  sampled: 0,
  extenders: [CALL],
} satisfies ShadowDecision;
const SUMMARY = { different: 1, plugins: [], namespaces: [], profiles: [], workloads: [] } as unknown as ShadowSummary;

async function shown(row: ShadowDecision) {
  const calls = serve({
    "GET /runs/r/shadow/decisions/": ok({ count: 1, results: [row] }),
    "GET /runs/r/shadow/decisions/7/extenders/": ok({
      waited_us: 4200,
      calls: [
        {
          ...{ extender: "http://license/", verb: "filter", sent: 3, kept: 1, status: 200, error: "" },
          ...{ ignored: false, us: 4200, request: { text: '{"Pod":{}}', bytes: 10 } },
          reply: { text: '{"NodeNames":["n1"]}', bytes: 20 },
        },
      ],
    }),
  });
  await showAt("/runs/r/shadow", "/runs/$run/shadow", <Differences run="r" summary={SUMMARY} />);
  await screen.findByRole("link", { name: "web-1" });
  return calls;
}

describe("the decisions about which a shadow decides otherwise", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("opens what extenders were sent and what they replied, and reads it only then", async () => {
    const calls = await shown(DECISION);
    const read = () => calls.filter((call) => call.path.includes("/extenders/")).length;
    expect(read()).toBe(0);
    fireEvent.click(screen.getByRole("button", { name: "1 request to extenders" }));
    const drawer = await screen.findByRole("dialog", { name: /^Extenders asked about shop\/web-1/ });
    expect(await within(drawer).findByText("3 → 1")).toBeDefined();
    expect(drawer.textContent).toContain('"NodeNames"');
    expect(drawer.textContent).toContain("kept with it");
    expect(read()).toBe(1);
  });

  it("says nothing of extenders where none was asked", async () => {
    await shown({ ...DECISION, extenders: [] });
    expect(screen.queryByRole("button", { name: /extenders/ })).toBeNull();
  });
});
