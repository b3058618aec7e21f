import { describe, expect, it } from "vitest";

import { type HelpAnswer, isThere, type Remedy } from "@/api/analyses";
import { viewOf } from "@/analyses/useAnalysis";

import { noRemedy, remedyDetail } from "./remedies";

const remedy: Remedy = {
  kind: "lower",
  text: "Lower it",
  node: "a-1",
  cost: "",
  left_pending: 0,
  operations: [],
  others: [],
  others_count: 0,
  pods: 1,
  placed: 1,
  commands: [],
  diff: "",
  finished: true,
};
const alone = { workload: "", alike: 1 };

describe("remedyDetail", () => {
  it("says where the pod went and that nobody pays", () => {
    expect(remedyDetail(remedy, alone)).toBe("It goes to a-1. Nobody loses a place.");
  });
  it("leaves what others pay to the list, and says it itself of answers that have none", () => {
    const paid = { pod: "shop/cheap", fate: "gone" as const, text: "shop/cheap leaves a-1 for good.", node: "" };
    expect(remedyDetail({ ...remedy, others: [paid], others_count: 1, left_pending: 1, cost: paid.text }, alone)).toBe(
      "It goes to a-1.",
    );
    expect(remedyDetail({ ...remedy, kind: "priority", cost: "Evicts shop/cheap.", left_pending: 1 }, alone)).toBe(
      "It goes to a-1. Evicts shop/cheap.",
    );
    expect(remedyDetail({ ...remedy, left_pending: 2 }, alone)).toBe(
      "It goes to a-1. Afterwards 2 other pods find no place.",
    );
  });
  it("does not invent a name for a node that does not exist yet", () => {
    const added = { verb: "add" as const, manifest: { kind: "Node", metadata: { name: "a-1-more-1" } } };
    const grown = { ...remedy, kind: "node" as const, operations: [added] };
    expect(remedyDetail({ ...grown, node: "a-1-more-1" }, alone)).toBe(
      "It goes to the new node. Nobody loses a place.",
    );
    expect(remedyDetail({ ...grown, kind: "relax", node: "a-1-more-1" }, alone)).toContain("the new node");
    expect(remedyDetail(grown, alone)).toContain("It goes to a-1.");
  });
  it("says how many of the workload it helps, and that all of them are made anew", () => {
    const web = { workload: "deployment/web", alike: 2 };
    expect(remedyDetail({ ...remedy, placed: 1, pods: 2 }, web)).toContain(
      "Of 2 pending pods of deployment/web, 1 has a node then.",
    );
    expect(remedyDetail({ ...remedy, placed: 2, pods: 5 }, web)).toBe(
      "It goes to a-1. All 5 pods of deployment/web are made anew. Of 2 pending pods of deployment/web, 2 have a node then. Nobody loses a place.",
    );
  });
  it("says that fewer replicas give nobody a node", () => {
    expect(
      remedyDetail(
        { ...remedy, kind: "fewer", node: "", placed: 0, pods: 2 },
        { workload: "deployment/web", alike: 2 },
      ),
    ).toBe("2 pods are not wanted any more and no longer wait. Nobody loses a place.");
  });
  it("does not keep back that it was not played to its end", () => {
    expect(remedyDetail({ ...remedy, finished: false }, alone)).toContain("There was no time to play it to its end");
  });
});

describe("noRemedy", () => {
  const nothing: HelpAnswer = {
    pod: "shop/web",
    fits_on: "",
    why: "",
    workload: "",
    alike: 1,
    remedies: [],
    complete: true,
  };
  it("tells a pod that fits, one that nothing helps, and one about which there was no time", () => {
    expect(noRemedy({ ...nothing, fits_on: "a-1" })).toContain("it goes to a-1 as it is");
    const aside = noRemedy({ ...nothing, fits_on: "a-1", without_extenders: true });
    expect(aside).toContain("Without extenders it goes to a-1");
    expect(noRemedy(nothing)).toContain("Nothing known here helps");
    expect(noRemedy({ ...nothing, complete: false })).toContain("too large");
  });
});

describe("isThere", () => {
  it("waits until a fork has played its past", () => {
    const fork = { state: "paused" as const, position: 12, nodes: 3, pods: 4 };
    expect(isThere({ ...fork, nodes: 0, pods: 0 }, 12)).toBe(false);
    expect(isThere({ ...fork, position: 11 }, 12)).toBe(false);
    expect(isThere(fork, 12)).toBe(true);
    expect(isThere({ ...fork, state: "parked", position: 0 }, 12)).toBe(true);
  });
});

describe("viewOf", () => {
  const known = {
    id: "1",
    run: "r",
    name: "what_would_help" as const,
    position: 7,
    arguments: {},
    status: "running" as const,
    error: null,
    seconds: null,
    asked_by: "mira",
    at: "2026-01-01T00:00:00Z",
    result: null,
  };
  const answer: HelpAnswer = {
    pod: "shop/web",
    fits_on: "",
    why: "",
    workload: "",
    alike: 1,
    remedies: [remedy],
    complete: true,
  };
  it("asks nothing until there is a question", () => {
    expect(viewOf(false, undefined, null).progress).toBe("none");
    expect(viewOf(true, undefined, null).progress).toBe("asking");
  });
  it("follows the work to its answer", () => {
    expect(viewOf(true, { ...known, status: "pending" }, null).progress).toBe("pending");
    expect(viewOf(true, known, null).progress).toBe("running");
    expect(viewOf(true, { ...known, status: "done", result: answer }, null)).toEqual({
      id: known.id,
      progress: "done",
      result: answer,
      position: 7,
      error: null,
    });
  });
  it("says why there is no answer", () => {
    expect(viewOf(true, undefined, { message: "The server does not answer." }).error?.message).toBe(
      "The server does not answer.",
    );
    expect(
      viewOf(true, { ...known, status: "failed", error: "It took longer than 60 s and was ended." }, null).error
        ?.message,
    ).toContain("60 s");
    expect(viewOf(true, { ...known, status: "cancelled" }, null).error?.message).toBe("It was cancelled.");
  });
});
