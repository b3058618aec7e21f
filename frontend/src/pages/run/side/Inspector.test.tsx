// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { aRun, viewOf } from "@/testing/run";
import { type Answer, OPERATOR, serve, showAt } from "@/testing/showPage";

import { Inspector } from "./Inspector";
import { NodeInspector } from "./NodeInspector";

const away = vi.hoisted(() => ({ why: null as string | null }));
vi.mock("@/live/useLive", async (original) => ({
  ...(await original<typeof import("@/live/useLive")>()),
  useRefusal: () => away.why,
}));

const run = aRun();
const commander = { busy: null, send: () => Promise.resolve(null) };
const never = () => new Promise<Answer>(() => undefined);
const pod = (
  <Inspector
    run={run}
    view={viewOf(run)}
    pod="shop/web-1"
    settled
    selection={null}
    table={null}
    commander={commander}
    operates
  />
);
const node = <NodeInspector run={run} node="n1" commander={commander} operates />;

describe("what is selected", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
    away.why = null;
  });

  it.each([
    ["a pod", pod, "GET /runs/r/pods/shop/web-1/", "The pod could not be read.", "Reading the pod"],
    ["a node", node, "GET /runs/r/nodes/n1/", "The node could not be read.", "Reading the node"],
  ])("%s: says what is the matter while the server does not answer", async (_, element, address, failed, reading) => {
    serve({ "GET /me/": OPERATOR, [address]: never });
    await showAt("/runs/r", "/runs/$run", element);
    expect(screen.getByText(reading)).toBeDefined();
    cleanup();
    away.why = "Not sent: the server does not answer.";
    await showAt("/runs/r", "/runs/$run", element);
    expect(screen.queryByText(reading)).toBeNull();
    expect(screen.getByRole("alert").textContent).toContain(`${failed}The server does not answer.`);
    expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
  });
});
