import { describe, expect, it } from "vitest";

import type { SnapshotCounts } from "@/api/types";

import { kindTiles, LARGEST_PASTE, listedFew, pastedFile, plural } from "./importing";

const counts: SnapshotCounts = {
  nodes: 36,
  pods: 231,
  pending: 46,
  gated: 1,
  namespaces: 9,
  empty_namespaces: 3,
  arrivals: 0,
  departures: 0,
  gpus: 0,
  pods_by_namespace: [],
  made_pods: 0,
  made_from: {},
  kinds: {
    Node: 36,
    Pod: 231,
    Namespace: 9,
    Service: 16,
    ReplicaSet: 12,
    StatefulSet: 3,
    DaemonSet: 1,
    StorageClass: 1,
    PriorityClass: 6,
    Deployment: 12,
    Ingress: 2,
  },
  unused_kinds: { Ingress: 2 },
  dropped_kinds: { Secret: 4 },
};

describe("what an import brings", () => {
  it("in the order people look for it, workloads together, what is not used last", () => {
    expect(kindTiles(counts).map((tile) => [tile.count, tile.name, tile.detail])).toEqual([
      [36, "Nodes", undefined],
      [231, "Pods", "46 pending, 1 gated"],
      [9, "Namespaces", undefined],
      [6, "PriorityClasses", undefined],
      [16, "Services", undefined],
      [28, "Workloads", "12 Deploy, 12 RS, 3 STS, 1 DS"],
      [1, "StorageClass", undefined],
      [2, "Ingresses", "kept, not used"],
      [4, "Secrets", "dropped"],
    ]);
  });
  it("with what its scheduler said, apart from what others said", () => {
    const events = { kept: 1200, others: 7, pods: 231, reasons: { Scheduled: 1200 } };
    expect(
      kindTiles({ ...counts, events })
        .slice(-3)
        .map((tile) => [tile.count, tile.name, tile.detail, tile.used]),
    ).toEqual([
      [1200, "Scheduler events", "pods: 231", true],
      [7, "Other events", "dropped", false],
      [4, "Secrets", "dropped", false],
    ]);
  });
  it("says zero of nodes and pods rather than nothing", () => {
    expect(
      kindTiles({
        ...counts,
        nodes: 0,
        pods: 0,
        pending: 0,
        gated: 0,
        kinds: {},
        unused_kinds: {},
        dropped_kinds: {},
        namespaces: 0,
      }).map((tile) => tile.name),
    ).toEqual(["Nodes", "Pods"]);
  });
  it.each([
    ["Pod", 1, "Pod"],
    ["PriorityClass", 2, "PriorityClasses"],
    ["NetworkPolicy", 2, "NetworkPolicies"],
    ["Gateway", 2, "Gateways"],
  ])("plural of %s", (kind, value, want) => {
    expect(plural(kind, value)).toBe(want);
  });
  it("lists names as people do", () => {
    expect([listedFew([]), listedFew(["a"]), listedFew(["a", "b"]), listedFew(["a", "b", "c", "d"])]).toEqual([
      "",
      "a",
      "a and b",
      "a, b, c and 1 more",
    ]);
  });
  it("takes a paste that is too large for a text area as a file", () => {
    expect(pastedFile("kind: Pod", "pasted")).toBeNull();
    const text = "x".repeat(LARGEST_PASTE + 1);
    const file = pastedFile(text, "pasted");
    expect([file?.name, file?.size]).toEqual(["pasted", text.length]);
  });
});
