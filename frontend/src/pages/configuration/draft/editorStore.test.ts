import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { CheckRequest, CheckResult, Effective, Problem, VersionDetail } from "@/api/configurationTypes";

import { QUIET } from "./draftStore";
import { type EditorAddress, EditorStore, type View } from "./editorStore";

const effective = {
  profiles: [
    { scheduler_name: "default-scheduler", rows: [{ plugin: "Fit" }, { plugin: "Spread" }] },
    { scheduler_name: "packed", rows: [{ plugin: "Fit" }] },
  ],
} as unknown as Effective;
const version = { number: 3, text: "saved", effective, errors: [] } as unknown as VersionDetail;
const problem = (more: Partial<Problem>): Problem =>
  ({ plugin: null, profile: 0, field: [], line: null, ...more }) as unknown as Problem;

/** An editor whose server says `answer` of every text. */
function open(answer: Partial<CheckResult> = {}, keeps = true) {
  let address: EditorAddress = {};
  const went: (View | undefined)[] = [];
  const focused: string[] = [];
  const leave = vi.fn();
  const check = vi.fn((body: CheckRequest) =>
    Promise.resolve({ text: body.text, effective, errors: [], ...answer } as CheckResult),
  );
  const store = new EditorStore({
    configuration: "c",
    version,
    stored: null,
    check,
    keep: () => keeps,
    outlet: {
      address: () => address,
      go: (change, view) => {
        address = { ...address, ...change };
        went.push(view);
      },
      leave,
      focusField: (id) => focused.push(id),
    },
  });
  return { store, check, went, focused, leave, address: () => address };
}

/** Types a text and has it checked. */
async function typed(store: EditorStore, text: string): Promise<void> {
  store.draft.setText(text);
  await vi.advanceTimersByTimeAsync(QUIET);
}

describe("the editor", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("shows the saved version until a text of its own is checked, then what is said of that", async () => {
    const { store } = open({ errors: [problem({ line: 2 })] });
    expect(store.sight).toMatchObject({ view: "form", profile: 0, examination: { number: 3 } });
    store.draft.setText("other");
    expect(store.sight.examination).toBeNull();
    expect(store.sight.effective).toBe(effective);
    await vi.advanceTimersByTimeAsync(QUIET);
    expect(store.sight.examination?.errors).toHaveLength(1);
    expect(store.get().draft.text).toBe("other");
  });

  it("shows a text that cannot be read as text, with the profiles of the last that could", async () => {
    const { store } = open({ effective: null });
    await typed(store, "{");
    expect(store.sight.view).toBe("yaml");
    expect(store.sight.shown?.scheduler_name).toBe("default-scheduler");
  });

  it("shows the profile of the address, and the first for one that is not there", () => {
    const { store } = open();
    store.showProfile("packed");
    expect(store.sight.profile).toBe(1);
    store.showProfile("gone");
    expect(store.sight.profile).toBe(0);
    store.showProfile("");
    expect(store.sight.shown?.scheduler_name).toBe("default-scheduler");
  });

  it("changes the view once every edit is in the text", async () => {
    const { store, check, address, went } = open();
    store.draft.edit({ type: "setWeight", profile: 0, point: "score", name: "Fit", weight: 2 });
    store.toggleView();
    expect(address().view).toBeUndefined();
    await vi.advanceTimersByTimeAsync(QUIET);
    expect(check).toHaveBeenCalledOnce();
    expect([address().view, went]).toEqual(["yaml", ["yaml"]]);
    store.toggleView();
    await vi.advanceTimersByTimeAsync(0);
    expect([address().view, went]).toEqual([undefined, ["yaml", "form"]]);
  });

  it("steps along the plugins, and stops at both ends", () => {
    const { store, address } = open();
    store.step(-1);
    expect(address().plugin).toBe("Spread");
    store.step(1);
    expect(address().plugin).toBe("Spread");
    store.step(-1);
    store.step(-1);
    expect(address().plugin).toBe("Fit");
  });

  it("has a plugin or a point selected, not both, and closes it before the editor", () => {
    const { store, address, leave } = open();
    store.select("Fit");
    store.selectPoint("Filter");
    expect(address()).toMatchObject({ plugin: undefined, point: "Filter" });
    store.close();
    expect(address().point).toBeUndefined();
    expect(leave).not.toHaveBeenCalled();
    store.close();
    expect(leave).toHaveBeenCalledOnce();
  });

  it("leads to a plugin's field in the form, with its profile", () => {
    const { store, address, focused } = open();
    store.goTo(problem({ plugin: "Fit", profile: 1, field: ["ignoredResources", 0] }));
    expect(address()).toMatchObject({ plugin: "Fit", profile: "packed" });
    expect(focused).toEqual(["arg_ignoredResources_0"]);
  });

  it("leads to the line where there is no field: of a plugin that is not there, and in the text", async () => {
    const { store, address, focused } = open();
    store.goTo(problem({ plugin: "Nope", line: 7 }));
    await vi.advanceTimersByTimeAsync(0);
    expect([address().view, store.get().line]).toEqual(["yaml", { line: 7 }]);
    store.goTo(problem({ plugin: "Fit", line: 9 }));
    expect([store.get().line, focused]).toEqual([{ line: 9 }, []]);
  });

  it("goes through the errors of a text one after the other, and in the form shows them all", async () => {
    const { store, address } = open({ errors: [problem({ line: 2 }), problem({ line: 5 })] });
    store.goToErrors();
    expect(store.get().line).toBeNull();
    await typed(store, "wrong");
    store.select("Fit");
    store.goToErrors();
    expect([address().plugin, store.get().line]).toEqual([undefined, null]);
    await store.show("yaml");
    const lines = [1, 2, 3].map(() => {
      store.goToErrors();
      return store.get().line?.line;
    });
    expect(lines).toEqual([2, 5, 2]);
  });

  it("can be saved with a text that differs and has no errors", async () => {
    const right = open().store;
    expect(right.isSavable).toBe(false);
    await typed(right, "other");
    expect(right.isSavable).toBe(true);
    const wrong = open({ errors: [problem({})] }).store;
    await typed(wrong, "other");
    expect(wrong.isSavable).toBe(false);
  });

  it.each([true, false])("says when this browser keeps no drafts (it does: %s)", async (keeps) => {
    const { store } = open({}, keeps);
    await typed(store, "other");
    expect(store.get().unkept).toBe(!keeps);
  });
});
