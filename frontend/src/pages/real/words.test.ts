import { describe, expect, it } from "vitest";

import type { RealRow, RealSummary } from "@/api/realQueries";

import { headline, KINDS, remarks, whyWords } from "./words";

const none = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as RealSummary["counts"];
const summary: RealSummary = {
  counts: none,
  decided: 0,
  alike: 0,
  events: 9,
  first: "2026-11-20T10:00:00Z",
  last: "2026-11-20T11:00:00Z",
  taken_at: "2026-11-20T10:30:00Z",
  settled: true,
  without_events: 0,
  missing: { pods: 0, later: 0, recreated: 0 },
};
const row: RealRow = {
  pod: { namespace: "shop", name: "web-1", workload: "web", tail: "1" },
  kind: "other_node",
  real: { outcome: "placed", node: "a", message: "", at: "2026-11-20T10:00:00Z", failures: 0 },
  run: { column: "bound", node: "b", attempts: 1, attempt: 7, message: "" },
  causes: [],
  points: [],
  reasons: [],
  nodes: { real: null, run: null },
};
const because = (cause: Partial<RealRow["causes"][number]>, more: Partial<RealRow> = {}) =>
  whyWords({ ...row, ...more, causes: [{ why: "tie", plugin: "", reasons: [], rank: null, margin: null, ...cause }] });

describe("the first sentence", () => {
  it("counts what is alike, then says every difference", () => {
    expect(
      headline({
        ...summary,
        decided: 52,
        alike: 47,
        counts: { ...none, same_node: 40, same_message: 7, other_node: 3, only_run: 2 },
      }),
    ).toBe("47 of 52 pods ended as in the real cluster; 3 on another node, 2 placed only here.");
  });
  it("is short when nothing differs", () =>
    expect(headline({ ...summary, decided: 46, alike: 46 })).toBe(
      "All 46 pods that both schedulers decided about ended as in the real cluster.",
    ));
  it("says when there is nothing to lay beside", () => expect(headline(summary)).toMatch(/has not decided/));
});

describe("what is missing on either side", () => {
  it("is said with its reasons", () => {
    expect(
      remarks({
        ...summary,
        without_events: 3,
        missing: { pods: 12, later: 9, recreated: 1 },
        counts: { ...none, given: 1 },
      }),
    ).toEqual([
      "1 pod was on its node when the snapshot was taken, so this run decided nothing about it.",
      "12 pods of the events are not in this run; 9 came after the snapshot was taken; 1 were another pod of the same name.",
      "Nothing is known of 3 pods of this run: events last an hour in a cluster.",
    ]);
  });
  it("is nothing when nothing is missing", () => expect(remarks(summary)).toEqual([]));
});

describe("why a pod ended differently", () => {
  it("names rank, margin and the plugin that cost most", () =>
    expect(because({ why: "score", plugin: "ImageLocality", rank: 4, margin: 37 })).toBe(
      "Here a was number 4, behind by 37; ImageLocality cost it most.",
    ));
  it("names the plugin that refused", () =>
    expect(because({ why: "filter", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] })).toBe(
      "Here NodeResourcesFit refused a: Insufficient cpu.",
    ));
  it("says how many nodes each had to choose from, if they differ", () => {
    expect(because({ why: "reasons" }, { nodes: { real: 5, run: 3 } })).toBe(
      "Nodes were refused for other reasons. Nodes there: 5, here: 3.",
    );
    expect(because({ why: "reasons" }, { nodes: { real: 3, run: 3 } })).toBe("Nodes were refused for other reasons.");
  });
});
