import { describe, expect, it } from "vitest";

import type { FilterGroup, NodeAmount } from "@/api/podTypes";

import { freeOf, kindsOf, meterShares, nameRange, nearestText, resourceName, shortText, telling } from "./amounts";

const Gi = 2 ** 30;
const of = (name: string, allocatable: number, requested: number, wanted: number): NodeAmount => ({
  name,
  allocatable,
  requested,
  free: allocatable - requested,
  wanted,
  short: Math.max(0, wanted - allocatable + requested),
});

it("names resources as people do", () => {
  expect(["nvidia.com/gpu", "cpu", "ephemeral-storage", "example.com/fpga"].map(resourceName)).toEqual([
    "GPU",
    "cpu",
    "disk",
    "fpga",
  ]);
});

it("writes a shared unit once", () => {
  expect(freeOf(of("memory", 191 * Gi, 48 * Gi, 96 * Gi))).toEqual({ free: "143", of: "191 Gi" });
  expect(freeOf(of("cpu", 47_920, 12_050, 20_000))).toEqual({ free: "35.87", of: "47.92" });
  expect(shortText(of("memory", 191 * Gi, 96 * Gi, 96 * Gi))).toBe("1 Gi");
});

describe("meterShares", () => {
  it("adds up to the allocatable amount when the pod fits", () => {
    const shares = meterShares(of("cpu", 100, 25, 40));
    expect(shares).toEqual({ requested: 25, pod: 40, missing: 0, allocatable: 100 });
  });

  it("widens for what is missing", () => {
    const shares = meterShares(of("nvidia.com/gpu", 8, 2, 8));
    expect(shares).toEqual({ requested: 20, pod: 60, missing: 20, allocatable: 80 });
  });

  it("keeps an over-committed node within the meter", () => {
    const shares = meterShares(of("cpu", 100, 120, 30));
    expect(shares.pod).toBe(0);
    expect(shares.requested + shares.missing).toBeCloseTo(100);
  });
});

it("joins nodes of one type and size", () => {
  const node = (name: string, type: string, cpu: number) => ({
    name,
    zone: "a",
    type,
    resources: [of("cpu", cpu, 0, 10)],
  });
  const kinds = kindsOf([node("a-1", "small", 4), node("b-1", "large", 8), node("b-2", "large", 8)]);
  expect(kinds.map((kind) => [kind.type, kind.nodes.length])).toEqual([
    ["large", 2],
    ["small", 1],
  ]);
});

it("shortens a range of names to what differs", () => {
  expect(nameRange(["ip-10-0-1-27", "ip-10-0-1-10"])).toBe("ip-10-0-1-10 … 27");
  expect(nameRange(["node-1"])).toBe("node-1");
  expect(nameRange(["a", "b"])).toBe("a … b");
});

it("says what the nearest node lacks, the largest part first, and what is known besides where room is not the matter", () => {
  const near = {
    name: "n-1",
    zone: "",
    type: "",
    resources: [of("memory", 191 * Gi, 96 * Gi, 96 * Gi), of("nvidia.com/gpu", 8, 8, 8), of("cpu", 8000, 0, 1000)],
  };
  const group: FilterGroup = {
    plugin: "NodeResourcesFit",
    code: "Unschedulable",
    reasons: [],
    text: "",
    count: 1,
    can_become_free: true,
    nearest_note: "",
    nodes: [near],
  };
  expect(nearestText(group)).toBe("short of 8 GPU and 1 Gi memory");
  expect(nearestText({ ...group, count: 3 })).toBe("nearest: n-1, short of 8 GPU and 1 Gi memory");
  expect(nearestText({ ...group, plugin: "TaintToleration" })).toBe("");
  const tainted = ["a:NoSchedule", "b:NoSchedule", "a:NoSchedule"].map((remark) => ({ ...near, remark }));
  expect(nearestText({ ...group, plugin: "TaintToleration", nodes: tainted })).toBe("a:NoSchedule or b:NoSchedule");
  expect(
    nearestText({ ...group, plugin: "TaintToleration", nodes: tainted, nearest_note: "n-1 has room for it" }),
  ).toBe("a:NoSchedule or b:NoSchedule, n-1 has room for it");
});

it("leaves out the number of pods unless it is what is missing", () => {
  const names = (full: number) => telling([of("cpu", 1, 0, 1), of("pods", 110, full, 1)]).map((one) => one.name);
  expect(names(3)).toEqual(["cpu"]);
  expect(names(110)).toEqual(["cpu", "pods"]);
});
