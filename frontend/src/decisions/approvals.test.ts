import { beforeEach, describe, expect, it, vi } from "vitest";

import { Approvals, CANCEL_WINDOW, type PendingApproval } from "./approvals";

const pod = (name: string) => ({ namespace: "ml", name, workload: "serve", tail: name });

describe("approvals", () => {
  let timers: Map<number, () => void>;
  let outcome: Promise<null>;
  const send = vi.fn<(approval: PendingApproval) => Promise<null>>();
  const sent = vi.fn();
  const refused = vi.fn();
  let away: string | null;
  let waiting: (() => void)[];
  let approvals: Approvals;

  beforeEach(() => {
    timers = new Map();
    let next = 1;
    outcome = Promise.resolve(null);
    away = null;
    waiting = [];
    for (const mock of [send, sent, refused]) mock.mockReset();
    send.mockImplementation(() => outcome);
    approvals = new Approvals({
      now: () => 1000,
      setTimer: (callback) => {
        timers.set(next, callback);
        return next++;
      },
      clearTimer: (handle) => timers.delete(handle),
      send,
      sent,
      refused,
      refusal: () => away,
      whenReached: (callback) => waiting.push(callback),
    });
  });

  const fire = () => {
    for (const [handle, callback] of [...timers]) {
      timers.delete(handle);
      callback();
    }
  };

  it("waits before it sends, and says until when", () => {
    approvals.approve("r", [pod("a"), pod("b")], "fine");
    expect(send).not.toHaveBeenCalled();
    expect(approvals.due("r", pod("a"))).toBe(1000 + CANCEL_WINDOW);
    expect(approvals.due("other", pod("a"))).toBeNull();
    fire();
    expect(send).toHaveBeenCalledOnce();
    expect(send.mock.calls[0]?.[0]).toMatchObject({ run: "r", reason: "fine" });
    expect(approvals.getPending()).toEqual([]);
  });

  it("refuses with a sentence while the server does not answer", () => {
    away = "not now";
    approvals.approve("r", [pod("a")]);
    expect(refused).toHaveBeenCalledExactlyOnceWith("not now");
    expect(approvals.getPending()).toEqual([]);
  });

  it("holds what is due while the server does not answer, and sends it once when it does", () => {
    approvals.approve("r", [pod("a")]);
    approvals.approve("r", [pod("b")]);
    away = "not now";
    fire();
    expect(approvals.getPending().map((one) => one.held)).toEqual([true, true]);
    approvals.cancel();
    away = null;
    for (const callback of waiting) callback();
    expect(send.mock.calls.map(([approval]) => approval.pods[0]?.name)).toEqual(["a"]);
    expect(approvals.getPending()).toEqual([]);
  });

  it("sends nothing that was cancelled", () => {
    approvals.approve("r", [pod("a")]);
    expect(approvals.cancel()).toBe(true);
    fire();
    expect(send).not.toHaveBeenCalled();
    expect(approvals.cancel()).toBe(false);
  });

  it("cancels the newest first", () => {
    approvals.approve("r", [pod("a")]);
    approvals.approve("r", [pod("b")]);
    approvals.cancel();
    expect(approvals.getPending().map((one) => one.pods[0]?.name)).toEqual(["a"]);
  });

  it("does not approve a pod twice", () => {
    approvals.approve("r", [pod("a")]);
    approvals.approve("r", [pod("a"), pod("b")]);
    approvals.approve("r", [pod("a")]);
    expect(approvals.getPending().map((one) => one.pods.map((each) => each.name))).toEqual([["a"], ["b"]]);
  });

  it("keeps a failure until it is tried again or dismissed", async () => {
    outcome = Promise.reject(new Error("no"));
    approvals.approve("r", [pod("a")]);
    fire();
    await Promise.resolve();
    await Promise.resolve();
    expect(approvals.getFailures()).toMatchObject([{ run: "r", message: "no" }]);
    expect(sent).not.toHaveBeenCalled();
    outcome = Promise.resolve(null);
    approvals.retry(approvals.getFailures()[0]?.id ?? 0);
    expect(send).toHaveBeenCalledTimes(2);
    expect(approvals.getFailures()).toEqual([]);
  });
});
