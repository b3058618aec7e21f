import { describe, expect, it } from "vitest";

import { at, waitingRow as row } from "@/testing/waitingRow";

import { atZero, groupsOf, groupWaits, keyOf, ordered, scoreText, settle } from "./inbox";

const gang = (name: string) => ({ name, have: 2, need: 3 });

describe("ordered", () => {
  it("puts gangs first, each whole, and the soonest time-out on top", () => {
    const rows = [
      row("late", 90),
      row("soon", 10),
      row("b-1", 80, { gang: gang("b") }),
      row("a-2", 200, { gang: gang("a") }),
      row("a-1", 30, { gang: gang("a") }),
    ];
    expect(ordered(rows).map((one) => one.name)).toEqual(["a-1", "a-2", "b-1", "soon", "late"]);
  });

  it("compares time left, not moments of different clocks", () => {
    const other = row("other-run", 3_600, { run: "r2", now: at(3_595) });
    expect(ordered([row("here", 60), other]).map((one) => one.name)).toEqual(["other-run", "here"]);
  });
});

it("keeps two gangs of one name in two runs apart, and singles together", () => {
  const rows = ordered([
    row("x", 10, { gang: gang("g") }),
    row("y", 20, { gang: gang("g"), run: "r2" }),
    row("s", 5),
    row("t", 6),
  ]);
  expect(groupsOf(rows).map((group) => group.rows.length)).toEqual([1, 1, 2]);
});

describe("settle", () => {
  it("keeps places, renews what is there, marks what is gone and counts what came", () => {
    const shown = [row("b", 50), row("a", 60), row("c", 70)];
    const latest = [row("new", 1), row("a", 40), row("c", 45)];
    const settled = settle(shown, latest);
    expect(settled.rows.map((one) => one.name)).toEqual(["b", "a", "c"]);
    expect(settled.rows[1]).toBe(latest[1]);
    expect([...settled.gone]).toEqual([keyOf(shown[0] ?? row("", 0))]);
    expect(settled.fresh).toBe(1);
  });
});

it("takes the first time-out of each plugin for a group", () => {
  const both = row("x", 50, {
    waiting_on: [
      { plugin: "Coscheduling", deadline: at(40), total_seconds: 60, asks_person: false },
      { plugin: "ManualApproval", deadline: at(500), total_seconds: 600, asks_person: true },
    ],
  });
  expect(groupWaits([row("y", 450), both]).map((wait) => [wait.plugin, wait.deadline])).toEqual([
    ["ManualApproval", at(450)],
    ["Coscheduling", at(40)],
  ]);
});

it("says the score with what it is worth", () => {
  expect(scoreText(row("x", 1))).toBe("10, +2");
  expect(scoreText(row("x", 1, { ties: 2, margin: 0 }))).toBe("10, 1 of 2 equal");
  expect(scoreText(row("x", 1, { score: null }))).toBe("the only feasible node");
});

it("leaves what happens to a gang to its own line", () => {
  expect(atZero(row("x", 1))).toBe("Rejected, back to Unschedulable");
  expect(atZero(row("x", 1, { gang: gang("g") }))).toBe("with the group");
});
