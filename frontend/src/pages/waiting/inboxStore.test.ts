import { beforeEach, describe, expect, it, vi } from "vitest";

import type { WaitingRow } from "@/api/waitingTypes";
import { at, waitingRow as row } from "@/testing/waitingRow";

import { groupKeyOf, keyOf } from "./inbox";
import { InboxStore } from "./inboxStore";

const approve = vi.fn<(run: string, pods: readonly WaitingRow[]) => void>();
const nobodyAsked = vi.fn<(plugins: readonly string[]) => void>();
const gang = { name: "g", have: 2, need: 3 };
const byItself = (name: string, more: Partial<WaitingRow> = {}) =>
  row(name, 40, {
    decidable: false,
    waiting_on: [{ plugin: "Coscheduling", deadline: at(40), total_seconds: 60, asks_person: false }],
    ...more,
  });
const names = (rows: readonly WaitingRow[]) => rows.map((one) => one.name);
const everything = () => true;

describe("the inbox", () => {
  let store: InboxStore;
  beforeEach(() => {
    approve.mockReset();
    nobodyAsked.mockReset();
    store = new InboxStore({ approve, nobodyAsked });
  });
  const shown = () => store.get().groups.flatMap((group) => names(group.rows));

  it("follows the server while nobody reads it", () => {
    store.receive([row("late", 90), row("soon", 10)], "");
    store.receive([row("new", 1), row("late", 80)], "");
    expect(shown()).toEqual(["new", "late"]);
    expect(store.get().fresh).toBe(0);
  });

  it.each([
    ["the pointer is in it", (on: boolean) => store.setReading("pointer", on)],
    ["the focus is in it", (on: boolean) => store.setReading("focus", on)],
    ["its order is held", () => store.toggleOrderHeld()],
  ])("keeps its places while %s, and takes what came when it ends", (_, read) => {
    store.receive([row("a", 10), row("b", 20)], "");
    read(true);
    store.receive([row("c", 1), row("b", 5)], "");
    const view = store.get();
    expect(shown()).toEqual(["a", "b"]);
    expect([names(view.present), [...view.gone], view.fresh]).toEqual([["b"], [keyOf(row("a", 0))], 1]);
    read(false);
    expect(shown()).toEqual(["c", "b"]);
    expect(store.get().gone.size).toBe(0);
  });

  it("stays as it is until pointer and focus have left it", () => {
    store.receive([row("a", 10)], "");
    store.setReading("pointer", true);
    store.setReading("focus", true);
    store.receive([row("b", 10)], "");
    store.setReading("pointer", false);
    expect(shown()).toEqual(["a"]);
    store.setReading("focus", false);
    expect(shown()).toEqual(["b"]);
  });

  it("is a new list with another filter, and where it was empty", () => {
    store.toggleOrderHeld();
    store.receive([], "");
    store.receive([row("a", 10)], "");
    expect(shown()).toEqual(["a"]);
    store.receive([row("b", 10)], "q=b");
    expect([shown(), store.get().gone.size]).toEqual([["b"], 0]);
  });

  it("forgets no mark of a pod that comes back, and counts only those that wait", () => {
    const [a, b] = [row("a", 10), row("b", 20)];
    store.receive([a, b], "");
    store.mark([a, b], true);
    store.receive([b], "");
    expect(names(store.get().marked)).toEqual(["b"]);
    store.receive([a, b], "");
    store.mark([b], false);
    expect(names(store.get().marked)).toEqual(["a"]);
  });

  it("is gone along line by line, a gang being one of them, and past rows that are folded", () => {
    const members = [row("m-1", 10, { gang }), row("m-2", 20, { gang })];
    const single = row("single", 30);
    store.receive([...members, single], "");
    const group = groupKeyOf(members[0] ?? single);
    const hidden = keyOf(members[1] ?? single);
    const isSeen = (key: string) => key !== hidden;
    expect(store.movePointer(-1, isSeen)).toBe(group);
    expect(names(store.pointed())).toEqual(["m-1", "m-2"]);
    expect(store.movePointer(1, isSeen)).toBe(keyOf(members[0] ?? single));
    expect(store.movePointer(1, isSeen)).toBe(keyOf(single));
    expect(store.movePointer(1, isSeen)).toBe(keyOf(single));
    store.toggleMarks();
    expect(names(store.targets())).toEqual(["single"]);
    store.movePointer(-9, everything);
    store.toggleMarks();
    expect(names(store.targets())).toEqual(["m-1", "m-2", "single"]);
    store.toggleMarks();
    expect(names(store.get().marked)).toEqual(["single"]);
  });

  it("decides about nothing where nothing is pointed at", () => {
    store.receive([row("a", 10)], "");
    expect(store.movePointer(1, () => false)).toBeNull();
    store.approve(store.targets());
    store.ask("reject", store.targets());
    expect(approve).not.toHaveBeenCalled();
    expect(store.get().asking).toBeNull();
  });

  it("approves run by run those that ask a person, and clears the marks", () => {
    const rows = [row("a", 10), row("b", 20, { run: "r2" }), byItself("c")];
    store.receive(rows, "");
    store.mark(rows, true);
    store.approve(store.targets());
    expect(approve.mock.calls.map(([run, pods]) => [run, names(pods)])).toEqual([
      ["r1", ["a"]],
      ["r2", ["b"]],
    ]);
    expect(store.get().marked).toEqual([]);
  });

  it("says that nobody is asked, and keeps the marks", () => {
    const only = byItself("c");
    store.receive([only], "");
    store.mark([only], true);
    store.approve(store.targets());
    expect(nobodyAsked).toHaveBeenCalledExactlyOnceWith(["Coscheduling"]);
    expect(approve).not.toHaveBeenCalled();
    expect(names(store.get().marked)).toEqual(["c"]);
  });

  it("asks for a reason with the plugin that rejects, or with the one that would be overridden", () => {
    const waits = [
      { plugin: "Coscheduling", deadline: at(40), total_seconds: 60, asks_person: false },
      { plugin: "ManualApproval", deadline: at(90), total_seconds: 600, asks_person: true },
    ];
    const both = row("a", 0, { waiting_on: waits });
    store.receive([both], "");
    store.ask("reject", [both]);
    expect(store.get().asking).toMatchObject({ kind: "reject", run: "r1", plugin: "ManualApproval" });
    store.ask("override", [both]);
    expect(store.get().asking).toMatchObject({ plugin: "Coscheduling", pods: [{ letsGo: "Coscheduling" }] });
    store.ask("reject", [both, byItself("c")]);
    expect(store.get().asking?.plugin).toBeUndefined();
    store.closeAsking();
    expect(store.get().asking).toBeNull();
  });
});
