// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { HelpAnswer } from "@/api/analyses";
import type { Attempt } from "@/api/podTypes";
import type { PodDetail } from "@/api/types";
import { HelpPanel } from "@/pages/pod/help/HelpPanel";
import { PlacedAgainPanel } from "@/pages/pod/placedAgain/PlacedAgainPanel";
import { Sampled } from "@/pages/pod/whatIf/Sampled";
import { aRun } from "@/testing/run";
import { OPERATOR, ok, serve, showAt } from "@/testing/showPage";

const SAID = "The configuration's extenders are left out of this: what is tried out asks nobody.";
const pod = { namespace: "shop", name: "web-1", attempt_list: [] } as unknown as PodDetail;
const attempt = {
  number: 4,
  node: "a-1",
  sampling: { checked: 100, feasible: 100, of: 120, sampled: true },
} as unknown as Attempt;
const help: Partial<HelpAnswer> = {
  pod: "shop/web-1",
  fits_on: "a-2",
  why: "",
  alike: 1,
  remedies: [],
  complete: true,
};
const winner = { node: "a-2", checked: 120, feasible: 120, of: 120, total: 90, margin: 1, tied: 1, node_total: 80 };
const again = { pod: "shop/web-1", node: "a-1", to: "a-2", nodes: 2, feasible: 2, tied: 1, rank: 2, ranked: [] };

async function shown(panel: ReactNode, result: object) {
  const known = { id: "q", status: "done", position: 40, error: null, result };
  serve({ "GET /me/": OPERATOR, "POST /runs/r/analyses/": ok(known) });
  await showAt("/runs/r", "/runs/$run", panel);
}

const run = aRun();
const sampled = <Sampled run="r" attempt={attempt} asked onAsk={() => undefined} />;

describe("an answer for which nobody asked the extenders says so", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it.each([
    ["what would help", <HelpPanel key="help" run={run} pod={pod} />, help, /goes to a-2 as it is/],
    ["who would have won", sampled, winner, /a-2/],
    ["where it would go now", <PlacedAgainPanel key="again" run={run} pod={pod} />, again, /a-2/],
  ])("%s", async (_, panel, answer, words) => {
    await shown(panel, { ...answer, without_extenders: true });
    expect((await screen.findAllByText(words)).length).toBeGreaterThan(0);
    expect(screen.getAllByText(SAID)).toHaveLength(1);
    cleanup();
    await shown(panel, { ...answer, without_extenders: false });
    expect((await screen.findAllByText(words)).length).toBeGreaterThan(0);
    expect(screen.queryByText(SAID)).toBeNull();
  });
});
