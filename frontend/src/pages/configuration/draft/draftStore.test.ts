import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "@/api/client";
import type { CheckRequest, CheckResult, Edit } from "@/api/configurationTypes";

import { DraftStore, QUIET, type StoredDraft } from "./draftStore";

interface Question {
  body: CheckRequest;
  signal: AbortSignal;
  answer: (text: string) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

const weight = (value: number, name = "Fit"): Edit => ({
  type: "setWeight",
  profile: 0,
  point: "score",
  name,
  weight: value,
});

function setUp(stored: StoredDraft | null = null) {
  const questions: Question[] = [];
  const kept: (StoredDraft | null)[] = [];
  const store = new DraftStore({
    configuration: "c",
    base: 7,
    savedText: "saved",
    stored,
    keep: (draft) => kept.push(draft),
    check: (body, signal) =>
      new Promise((resolve, reject) => {
        const settle = async () => {
          await vi.advanceTimersByTimeAsync(0);
        };
        questions.push({
          body,
          signal,
          answer: (text) => {
            resolve({ text } as CheckResult);
            return settle();
          },
          fail: (error) => {
            reject(error);
            return settle();
          },
        });
      }),
  });
  return { store, questions, kept };
}

const quiet = () => vi.advanceTimersByTimeAsync(QUIET);

describe("a draft", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is asked about after a moment of quiet, once for many key strokes", async () => {
    const { store, questions } = setUp();
    store.setText("a");
    await vi.advanceTimersByTimeAsync(QUIET - 1);
    store.setText("ab");
    await quiet();
    expect(questions.map((question) => question.body.text)).toEqual(["ab"]);
    expect(store.get().busy).toBe(true);
    await questions[0]?.answer("ab");
    expect(store.get()).toMatchObject({ busy: false, text: "ab", result: { text: "ab" } });
  });

  it("drops an answer to a text that was typed over", async () => {
    const { store, questions } = setUp();
    store.setText("a");
    await quiet();
    store.setText("b");
    await questions[0]?.answer("a, late");
    expect(store.get().text).toBe("b");
    expect(store.get().result).toBeNull();
    await quiet();
    await questions[1]?.answer("b");
    expect(store.get().result?.text).toBe("b");
  });

  it("sends edits one after the other, each for the text that the one before left", async () => {
    const { store, questions } = setUp();
    store.edit(weight(2));
    await quiet();
    store.edit(weight(3, "Other"));
    await quiet();
    expect(questions).toHaveLength(1);
    await questions[0]?.answer("two");
    expect(questions).toHaveLength(2);
    expect(questions[1]?.body).toMatchObject({ text: "two", edits: [weight(3, "Other")], base_version: 7 });
    await questions[1]?.answer("three");
    expect(store.get()).toMatchObject({ text: "three", busy: false });
  });

  it("sends only the last of several values for one place", async () => {
    const { store, questions } = setUp();
    for (const value of [2, 3, 4]) store.edit(weight(value));
    await quiet();
    expect(questions[0]?.body.edits).toEqual([weight(4)]);
  });

  it("keeps its text after every change, and forgets it when it equals what is saved", async () => {
    const { store, questions, kept } = setUp();
    store.edit(weight(2));
    await quiet();
    await questions[0]?.answer("edited");
    store.discard();
    expect(kept).toEqual([{ text: "edited", base: 7 }, null]);
  });

  it("begins where it was left", () => {
    const { store } = setUp({ text: "unsaved", base: 5 });
    expect(store.get()).toMatchObject({ text: "unsaved", base: 5 });
    expect(store.dirty).toBe(true);
  });

  it("keeps edits that nobody answered and sends them with the next try", async () => {
    const { store, questions } = setUp();
    store.edit(weight(2));
    await quiet();
    await questions[0]?.fail(new ApiError(0, { code: "0", message: "The server does not answer." }));
    expect(store.get()).toMatchObject({ failure: { message: "The server does not answer." }, busy: true });
    store.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(questions[1]?.body.edits).toEqual([weight(2)]);
    await questions[1]?.answer("two");
    expect(store.get()).toMatchObject({ failure: null, text: "two", busy: false });
  });

  it("gives up an edit that was refused, and says why", async () => {
    const { store, questions } = setUp();
    store.edit(weight(2));
    await quiet();
    await questions[0]?.fail(new ApiError(400, { code: "invalid", message: "No." }));
    expect(store.get()).toMatchObject({ busy: false, text: "saved", failure: { message: "No." } });
  });

  it("goes back step by step", async () => {
    const { store, questions } = setUp();
    store.edit(weight(2));
    await quiet();
    await questions[0]?.answer("two");
    store.setText("preset", { undoable: true });
    store.undo();
    expect(store.get().text).toBe("two");
    store.undo();
    expect(store.get()).toMatchObject({ text: "saved", canUndo: false });
  });

  it("tells when everything is in the text", async () => {
    const { store, questions } = setUp();
    let done = false;
    store.edit(weight(2));
    void store.settled().then(() => {
      done = true;
    });
    await quiet();
    expect(done).toBe(false);
    await questions[0]?.answer("two");
    expect(done).toBe(true);
  });

  it("goes on from what somebody else saved", async () => {
    const { store, questions, kept } = setUp({ text: "mine", base: 7 });
    store.rebase(8, "theirs", "both");
    expect(store.get()).toMatchObject({ base: 8, text: "both" });
    await vi.advanceTimersByTimeAsync(0);
    expect(questions[0]?.body).toMatchObject({ base_version: 8, text: "both" });
    expect(kept.at(-1)).toEqual({ text: "both", base: 8 });
  });
});
