import { beforeEach, describe, expect, it } from "vitest";

import type { JournalEntry } from "@/api/types";

import type { CommandOutcome, RunDelta, ServerMessage } from "./messages";
import { FIRST_POLL, GIVE_UP, Outcomes } from "./outcomes";

const RUN = "run-1";
const LOST = new Error("no answer");

function outcome(id: string, text = ""): CommandOutcome {
  return { id, status: text === "" ? "applied" : "refused", text, result: null };
}

function delta(seq: number, outcomes: CommandOutcome[] = [], previous = seq - 1): ServerMessage {
  return { type: "run.delta", run: RUN, seq, previous, outcomes } as unknown as RunDelta;
}

function entry(status: JournalEntry["status"], type = "pause", result: JournalEntry["result"] = null): JournalEntry {
  return { id: "c", status, text: "", result, command: { type } } as unknown as JournalEntry;
}

class World {
  now = 0;
  connected = true;
  followed = 0;
  asked: string[] = [];
  stored: JournalEntry | Error = entry("pending");
  private timers: { at: number; run: () => void; handle: number }[] = [];
  private handles = 0;
  private listener: (message: ServerMessage) => void = () => undefined;
  private watcher: () => void = () => undefined;
  readonly outcomes = new Outcomes({
    follow: () => {
      this.followed += 1;
      return () => {
        this.followed -= 1;
      };
    },
    isFollowed: () => this.followed > 0,
    onMessage: (listener) => {
      this.listener = listener;
    },
    isConnected: () => this.connected,
    watch: (callback) => {
      this.watcher = callback;
    },
    entry: (_run, id) => {
      this.asked.push(id);
      return this.stored instanceof Error ? Promise.reject(this.stored) : Promise.resolve(this.stored);
    },
    isLost: (error) => error === LOST,
    setTimer: (run, milliseconds) => {
      this.handles += 1;
      this.timers.push({ at: this.now + milliseconds, run, handle: this.handles });
      return this.handles;
    },
    clearTimer: (handle) => {
      this.timers = this.timers.filter((one) => one.handle !== handle);
    },
  });

  hears(message: ServerMessage) {
    this.listener(message);
  }

  connects(connected: boolean) {
    this.connected = connected;
    this.watcher();
  }

  /** In small steps, so that answers come between two timers. */
  async pass(milliseconds: number) {
    for (const end = this.now + milliseconds; this.now < end;) {
      this.now = Math.min(end, this.now + 40);
      const due = this.timers.filter((one) => one.at <= this.now);
      this.timers = this.timers.filter((one) => one.at > this.now);
      for (const one of due) one.run();
      await settle();
    }
  }
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

describe("what becomes of a command", () => {
  let world: World;

  beforeEach(() => {
    world = new World();
  });

  /** Waits for "c" on a run whose pushes come, and has asked once. */
  async function waiting(): Promise<Promise<CommandOutcome | null>> {
    const found = world.outcomes.of(RUN, "c");
    world.hears({ type: "subscribed", run: RUN, seq: 5 });
    await settle();
    expect(world.asked).toEqual(["c"]);
    world.asked = [];
    return found;
  }

  it("is pushed, and nobody asks while it is waited for", async () => {
    const found = waiting();
    await settle();
    await world.pass(5_000);
    expect(world.asked).toEqual([]);
    expect(world.followed).toBe(1);
    world.hears(delta(6, [outcome("other"), outcome("c")]));
    expect(await found).toEqual(outcome("c"));
    expect(world.followed).toBe(0);
  });

  it("may be pushed before anybody waits for it", async () => {
    world.hears(delta(6, [outcome("c")]));
    expect(await world.outcomes.of(RUN, "c")).toEqual(outcome("c"));
    expect(world.asked).toEqual([]);
  });

  it("is a refusal with its sentence, outside of deltas", async () => {
    const found = waiting();
    await settle();
    world.hears({ type: "command.settled", run: RUN, outcome: outcome("c", "Node a already exists.") });
    expect(await found).toMatchObject({ status: "refused", text: "Node a already exists." });
  });

  it("is asked for when the run is followed only then, because what came before is not pushed", async () => {
    world.stored = entry("applied");
    const found = world.outcomes.of(RUN, "c");
    world.hears({ type: "subscribed", run: RUN, seq: 5 });
    expect(await found).toMatchObject({ id: "c", status: "applied" });
    expect(world.asked).toEqual(["c"]);
  });

  it("is asked for after a gap", async () => {
    const found = waiting();
    await settle();
    world.hears(delta(6));
    await settle();
    expect(world.asked).toEqual([]);
    world.stored = entry("applied");
    world.hears(delta(9));
    expect(await found).toMatchObject({ status: "applied" });
    expect(world.asked).toEqual(["c"]);
  });

  it("is asked for when the server tells to resync", async () => {
    const found = waiting();
    await settle();
    world.stored = entry("refused");
    world.hears({ type: "run.resync", run: RUN });
    expect(await found).toMatchObject({ status: "refused" });
  });

  it("is polled for while there is no connection, and not when there is one again", async () => {
    const found = waiting();
    await settle();
    world.connects(false);
    await world.pass(FIRST_POLL);
    expect(world.asked).toEqual(["c"]);
    await world.pass(1_000);
    const polled = world.asked.length;
    expect(polled).toBeGreaterThan(2);
    world.connects(true);
    world.hears({ type: "subscribed", run: RUN, seq: 9 });
    await world.pass(5_000);
    expect(world.asked).toHaveLength(polled + 1);
    world.hears(delta(10, [outcome("c")]));
    expect(await found).toEqual(outcome("c"));
  });

  it("is polled for when the subscription is not confirmed, also of a run that was followed before", async () => {
    const first = waiting();
    await settle();
    world.hears(delta(6, [outcome("c")]));
    await first;
    const found = world.outcomes.of(RUN, "d");
    await world.pass(FIRST_POLL);
    expect(world.asked).toEqual(["d"]);
    world.stored = { ...entry("applied"), id: "d" };
    await world.pass(1_000);
    expect(await found).toMatchObject({ id: "d" });
  });

  it("is polled for until the server answers again", async () => {
    world.connects(false);
    world.stored = LOST;
    const found = world.outcomes.of(RUN, "c");
    await world.pass(2_000);
    world.stored = entry("applied");
    await world.pass(2_000);
    expect(await found).toMatchObject({ status: "applied" });
  });

  it("is not done while the result of what it changes is still to come", async () => {
    world.stored = entry("applied", "node_cordon");
    const found = world.outcomes.of(RUN, "c");
    world.hears({ type: "subscribed", run: RUN, seq: 5 });
    await world.pass(1_000);
    expect(world.followed).toBe(1);
    const result = { text: "cordoned node a" };
    world.hears(delta(6, [{ id: "c", status: "applied", text: "", result }]));
    expect(await found).toMatchObject({ result });
  });

  it("is unknown after 20 seconds, unless a last look finds it", async () => {
    const pending = waiting();
    await settle();
    await world.pass(GIVE_UP);
    expect(await pending).toBeNull();
    expect(world.asked).toEqual(["c"]);
    world.asked = [];
    const late = waiting();
    await settle();
    world.stored = entry("applied", "node_cordon");
    await world.pass(GIVE_UP);
    expect(await late).toMatchObject({ status: "applied" });
  });

  it("fails when the server refuses to say", async () => {
    world.stored = new Error("You may not read this.");
    const found = world.outcomes.of(RUN, "c");
    world.hears({ type: "subscribed", run: RUN, seq: 5 });
    await expect(found).rejects.toThrow("You may not read this.");
    expect(world.followed).toBe(0);
  });
});
