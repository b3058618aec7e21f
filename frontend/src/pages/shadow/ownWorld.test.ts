import { describe, expect, it } from "vitest";

import type { OwnWorld as Beside, OwnWorldPod } from "@/api/ownWorldQueries";

import { whyWords } from "./OwnPods";
import { headline } from "./OwnWorld";

const NONE = {
  elsewhere: 0,
  pending_here: 0,
  pending_there: 0,
  evicted_here: 0,
  evicted_there: 0,
  neither: 0,
  gated: 0,
  same: 0,
};

function world(decided: number, counts: Partial<Beside["counts"]>): Beside {
  const all = { ...NONE, ...counts };
  const differ = all.elsewhere + all.pending_here + all.pending_there + all.evicted_here + all.evicted_there;
  return { decided, differ, counts: all } as unknown as Beside;
}

function row(part: Partial<OwnWorldPod>): OwnWorldPod {
  return {
    kind: "elsewhere",
    evicted_for: "",
    causes: [],
    there: { node: "n1", message: "" },
    nodes: { real: null, run: null },
    ...part,
  } as unknown as OwnWorldPod;
}

const cause = (why: OwnWorldPod["causes"][number]["why"]) => ({
  why,
  plugin: "",
  reasons: [],
  rank: null,
  margin: null,
});

describe("what differences add up to", () => {
  it("is said in one sentence", () => {
    expect(headline(world(0, {}))).toBe("No pod has come since the shadow began.");
    expect(headline(world(3, { same: 3 }))).toBe("3 pods came, and all are as they are there.");
    expect(headline(world(4, { elsewhere: 2, pending_there: 1, evicted_here: 1 }))).toBe(
      "4 pods came: 2 on another node, 1 pending there only, 1 evicted here only.",
    );
  });
  it("has a reason for each pod", () => {
    expect(whyWords(row({ kind: "evicted_here", evicted_for: "shop/urgent" }))).toBe(
      "Here it made room for shop/urgent; there it goes on.",
    );
    expect(whyWords(row({ kind: "evicted_there" }))).toBe("There the real scheduler evicted it; here it goes on.");
    expect(whyWords(row({ causes: [cause("no_node")] }))).toBe("n1 is not there any more.");
    expect(whyWords(row({ causes: [cause("not_tried")] }))).toBe("It has not been tried here yet.");
    expect(whyWords(row({ causes: [{ ...cause("filter"), plugin: "NodePorts", reasons: ["no port"] }] }))).toBe(
      "Here NodePorts refused n1: no port.",
    );
  });
});
