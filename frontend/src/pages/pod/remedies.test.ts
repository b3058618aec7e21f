import { describe, expect, it } from "vitest";

import { type HelpAnswer, isThere, type Remedy } from "@/api/analyses";
import { viewOf } from "@/analyses/useAnalysis";

import { noRemedy, remedyDetail } from "./remedies";

const remedy: Remedy = { kind: "lower", text: "Lower it", node: "a-1", cost: "", left_pending: 0, operations: [] };

describe("remedyDetail", () => {
  it("says where the pod went and that nobody pays", () => {
    expect(remedyDetail(remedy)).toBe("It goes to a-1. Nobody loses a place.");
  });
  it("says what it costs others", () => {
    expect(remedyDetail({ ...remedy, kind: "priority", cost: "Evicts shop/cheap.", left_pending: 1 })).toBe("It goes to a-1. Evicts shop/cheap.");
    expect(remedyDetail({ ...remedy, left_pending: 1 })).toBe("It goes to a-1. Afterwards 1 other pod finds no place.");
    expect(remedyDetail({ ...remedy, left_pending: 2 })).toBe("It goes to a-1. Afterwards 2 other pods find no place.");
  });
  it("does not invent a name for a node that does not exist yet", () => {
    expect(remedyDetail({ ...remedy, kind: "node", node: "a-1-more-1" })).toBe("It goes to the new node. Nobody loses a place.");
  });
});

describe("noRemedy", () => {
  const nothing: HelpAnswer = { pod: "shop/web", fits_on: "", remedies: [] };
  it("tells a pod that fits from one that nothing helps", () => {
    expect(noRemedy({ ...nothing, fits_on: "a-1" })).toContain("fits on a-1 as it is");
    expect(noRemedy(nothing)).toContain("Nothing known here helps");
  });
});

describe("isThere", () => {
  it("waits until a fork has played its past", () => {
    const fork = { state: "paused" as const, position: 12, nodes: 3, pods: 4 };
    expect(isThere({ ...fork, nodes: 0, pods: 0 }, 12)).toBe(false);
    expect(isThere({ ...fork, position: 11 }, 12)).toBe(false);
    expect(isThere(fork, 12)).toBe(true);
    expect(isThere({ ...fork, state: "failed", position: 0 }, 12)).toBe(true);
  });
});

describe("viewOf", () => {
  const known = {
    id: "1", run: "r", name: "what_would_help" as const, position: 7, arguments: {}, status: "running" as const, error: null, seconds: null,
    asked_by: "mira", at: "2026-01-01T00:00:00Z", result: null,
  };
  const answer: HelpAnswer = { pod: "shop/web", fits_on: "", remedies: [remedy] };
  it("asks nothing until there is a question", () => {
    expect(viewOf(false, undefined, null).progress).toBe("none");
    expect(viewOf(true, undefined, null).progress).toBe("asking");
  });
  it("follows the work to its answer", () => {
    expect(viewOf(true, { ...known, status: "pending" }, null).progress).toBe("pending");
    expect(viewOf(true, known, null).progress).toBe("running");
    expect(viewOf(true, { ...known, status: "done", result: answer }, null)).toEqual({ id: known.id, progress: "done", result: answer, position: 7, error: null });
  });
  it("says why there is no answer", () => {
    expect(viewOf(true, undefined, { message: "The server does not answer." }).error?.message).toBe("The server does not answer.");
    expect(viewOf(true, { ...known, status: "failed", error: "It took longer than 60 s and was ended." }, null).error?.message).toContain("60 s");
    expect(viewOf(true, { ...known, status: "cancelled" }, null).error?.message).toBe("Somebody cancelled it.");
  });
});
