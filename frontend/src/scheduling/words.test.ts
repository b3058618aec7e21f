import { describe, expect, it } from "vitest";

import type { Scheduled } from "@/api/scheduling";

import { lookOf, meanwhile, termsOf, titleOf, whyNot } from "./words";

const AT = "2026-01-01T10:02:11Z";

function scheduled(more: Partial<Scheduled> = {}): Scheduled {
  return {
    context: "prod",
    state: "scheduling",
    since: AT,
    problem: "",
    holder: "",
    schedulers: ["ours"],
    namespaces: [],
    bindings_per_minute: 0,
    node_selector: {},
    dry_run: false,
    bound_last_minute: 0,
    lease: null,
    written: 0,
    refused: 0,
    on_their_way: 0,
    rejected: [],
    other_schedulers: [],
    stopped_by: "",
    lacks: null,
    ...more,
  };
}

describe("a run that schedules a real cluster", () => {
  it("binds real pods only while it schedules and tries nothing dry", () => {
    expect(lookOf(scheduled())).toBe("on");
    expect(lookOf(scheduled({ dry_run: true }))).toBe("dry");
    expect(titleOf(scheduled())).toBe("Binds real pods in prod");
    expect(titleOf(scheduled({ dry_run: true }))).toBe("Dry run in prod, nothing is bound");
    expect(whyNot(scheduled(), "mira")).toBe("");
  });

  it.each<[Scheduled["state"], Partial<Scheduled>, RegExp]>([
    ["waiting", {}, /No worker has begun/],
    ["catching_up", {}, /is being read/],
    ["standing_by", { holder: "worker-2" }, /held by worker-2 since \S+/],
    ["standing_by", {}, /The Lease is waited for/],
    ["lease_lost", {}, /Lease was lost/],
    ["lacks_rights", {}, /lack what scheduling needs/],
    ["not_allowed", {}, /may not write there/],
    ["stale", {}, /unreachable since/],
    ["refused", {}, /may read nothing/],
    ["failed", {}, /not reached/],
  ])("writes nothing while it is %s, and says why", (state, more, why) => {
    for (const dry_run of [false, true]) {
      const one = scheduled({ state, dry_run, ...more });
      expect(lookOf(one)).toBe("off");
      expect(titleOf(one)).toBe("Not writing to prod");
      expect(whyNot(one, "mira")).toMatch(why);
    }
  });

  it("says who stopped it, and what is still awaited", () => {
    const stopped = scheduled({ state: "stopped", stopped_by: "mira", on_their_way: 2 });
    expect(whyNot(stopped, "mira")).toMatch(/^Stopped by you at .* 2 answers are awaited\.$/);
    expect(whyNot(stopped, "olga")).toMatch(/^Stopped by mira at /);
    expect(whyNot(scheduled({ state: "stopped" }), "olga")).toMatch(/^Stopped at [^a-z]*/);
  });

  it("says what goes on beside every fault", () => {
    for (const state of [
      "stale",
      "refused",
      "failed",
      "lease_lost",
      "standing_by",
      "lacks_rights",
      "not_allowed",
      "scheduling",
    ] as const)
      expect(meanwhile(scheduled({ state }))).not.toBe("");
  });

  it("names its terms", () => {
    expect(termsOf(scheduled())).toEqual(["schedulerName ours", "all namespaces", "no limit of bindings"]);
    expect(
      termsOf(
        scheduled({
          schedulers: ["a", "b"],
          namespaces: ["ml", "batch"],
          bindings_per_minute: 60,
          node_selector: { pool: "batch" },
        }),
      ),
    ).toEqual([
      "schedulerName a or b",
      "namespaces ml and batch",
      "at most 60 bindings a minute",
      "on nodes with pool=batch",
    ]);
  });
});
