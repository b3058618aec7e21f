// @vitest-environment jsdom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ClusterDetails, ClusterRule } from "@/api/clusters";
import { ok, serve, showAt } from "@/testing/showPage";

import { Schedule } from "./Schedule";

const rule = (resource: string, missing: string[]): ClusterRule => ({
  group: "",
  resource,
  name: "",
  namespace: "",
  verbs: ["create"],
  missing,
  why: "",
});

async function panel(more: Partial<ClusterDetails["scheduling"]>, missing: string[] = [], role = "operator") {
  serve({ "GET /me/": ok({ username: "mira", role }) });
  const rules = ["pods/binding", "persistentvolumes"].map((one) => rule(one, missing.includes(one) ? ["create"] : []));
  const cluster = {
    name: "prod",
    is_offered: true,
    can_be_read: true,
    scheduling: { is_allowed: true, may: true, ...more },
    rights: { modes: [{ mode: "schedule", granted: 0, of: rules.length, rules, yaml: "" }] },
  } as unknown as ClusterDetails;
  await showAt("/clusters/prod", "/clusters/$cluster", <Schedule cluster={cluster} />);
  return screen.findByRole("region", { name: "Schedule this cluster" });
}
const button = () => screen.queryByRole("button", { name: "Schedule…" });

describe("the way to schedule a cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is a button where nothing is missing", async () => {
    const { textContent } = await panel({});
    expect(button()).not.toBeNull();
    expect(textContent).not.toContain("lack");
  });

  it.each<[string, Partial<ClusterDetails["scheduling"]>, string[], string, RegExp]>([
    ["the server's word", { is_allowed: false }, [], "operator", /without PLAYGROUND_MAY_SCHEDULE naming prod/],
    ["the right", { may: false }, [], "operator", /gives that right: manage\.py cluster allow mira/],
    ["the role", { may: false }, [], "viewer", /Your role can look/],
    ["the rule to bind", {}, ["pods/binding"], "operator", /lack 1 rule of the mode Schedule: pods\/binding/],
  ])("says that %s is missing, and is no button", async (_, more, missing, role, why) => {
    const found = await panel(more, missing, role);
    await waitFor(() => expect(found.textContent).toMatch(why));
    expect(button()).toBeNull();
  });

  it("names rules that only some pods need, beside the button", async () => {
    const { textContent } = await panel({}, ["persistentvolumes"]);
    expect(textContent).toContain("persistentvolumes");
    expect(button()).not.toBeNull();
  });
});
