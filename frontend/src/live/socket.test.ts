import { beforeEach, describe, expect, it } from "vitest";

import { reconnectDelay } from "./backoff";
import type { ServerMessage } from "./messages";
import { LiveSocket, type SocketLike } from "./socket";

class FakeSocket implements SocketLike {
  readyState = 0;
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  sent: unknown[] = [];
  closed = false;
  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }
  close(): void {
    this.closed = true;
  }
  /** And the server says hello, which is heard with the rest. */
  opens(): void {
    this.accepts();
    this.hears({ type: "hello", version: "0.1.0", protocol: 1 });
  }
  accepts(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  hears(message: object | string): void {
    this.onmessage?.({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
  drops(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

/** Time that moves when the test says so. */
class World {
  now = 1_000_000;
  sockets: FakeSocket[] = [];
  private timers: { id: number; at: number; callback: () => void }[] = [];
  private nextId = 1;
  readonly live = new LiveSocket({
    open: () => {
      const socket = new FakeSocket();
      this.sockets.push(socket);
      return socket;
    },
    now: () => this.now,
    random: () => 0.5,
    language: () => "uk",
    setTimer: (callback, milliseconds) => {
      this.timers.push({ id: this.nextId, at: this.now + milliseconds, callback });
      return this.nextId++;
    },
    clearTimer: (handle) => {
      this.timers = this.timers.filter((timer) => timer.id !== handle);
    },
  });
  get socket(): FakeSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error("no socket was opened");
    return last;
  }
  pass(milliseconds: number): void {
    const until = this.now + milliseconds;
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.now = next.at;
      next.callback();
    }
    this.now = until;
  }
}

describe("the delay before a reconnect", () => {
  it("doubles up to fifteen seconds", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => reconnectDelay(attempt, () => 0.5))).toEqual([
      0.5, 1, 2, 4, 8, 15, 15,
    ]);
  });
  it("is spread by thirty per cent either way", () => {
    expect(reconnectDelay(3, () => 0)).toBeCloseTo(1.4);
    expect(reconnectDelay(3, () => 1)).toBeCloseTo(2.6);
  });
});

describe("the socket", () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    world.live.start();
  });

  it("is live once the server said hello, and subscribes to what is followed", () => {
    world.live.follow("run-1");
    expect(world.live.getConnection().state).toBe("connecting");
    world.socket.opens();
    expect(world.live.getConnection().state).toBe("live");
    expect(world.socket.sent).toEqual([{ type: "subscribe", run: "run-1", language: "uk" }]);
  });

  it("unsubscribes with the last follower only, and once", () => {
    world.socket.opens();
    const first = world.live.follow("run-1");
    const second = world.live.follow("run-1");
    first();
    first();
    expect(world.socket.sent).toEqual([{ type: "subscribe", run: "run-1", language: "uk" }]);
    second();
    expect(world.socket.sent.at(-1)).toEqual({ type: "unsubscribe", run: "run-1" });
  });

  it("tries again with growing delays, and subscribes again", () => {
    world.live.follow("run-1");
    world.socket.opens();
    world.socket.drops();
    expect(world.live.getConnection()).toMatchObject({ state: "reconnecting", attempt: 1, retryAt: world.now + 500 });
    world.pass(500);
    expect(world.sockets).toHaveLength(2);
    world.socket.drops();
    expect(world.live.getConnection()).toMatchObject({ state: "reconnecting", attempt: 2, retryAt: world.now + 1000 });
    world.pass(1000);
    world.socket.opens();
    expect(world.live.getConnection().state).toBe("live");
    expect(world.socket.sent).toEqual([{ type: "subscribe", run: "run-1", language: "uk" }]);
  });

  it("says stale, since the last thing it heard, after fifteen seconds without a connection", () => {
    world.socket.opens();
    const heard = world.now;
    world.pass(3_000);
    world.socket.drops();
    for (let tries = 0; tries < 5; tries += 1) {
      world.pass(20_000);
      world.socket.drops();
    }
    expect(world.live.getConnection()).toMatchObject({ state: "stale", since: heard });
  });

  it("gives a connection up that does not answer a ping", () => {
    world.socket.opens();
    const silent = world.socket;
    world.pass(10_000);
    expect(silent.sent).toEqual([{ type: "ping", id: 1 }]);
    world.pass(5_000);
    expect(silent.closed).toBe(true);
    expect(world.live.getConnection().state).not.toBe("live");
  });

  it("keeps a connection that answers", () => {
    world.socket.opens();
    for (let id = 1; id <= 3; id += 1) {
      world.pass(10_000);
      world.socket.hears({ type: "pong", id });
    }
    expect(world.sockets).toHaveLength(1);
    expect(world.live.getConnection().state).toBe("live");
  });

  it("drops nonsense and unknown messages, and passes known ones on", () => {
    const got: ServerMessage[] = [];
    world.socket.opens();
    world.live.onMessage((message) => got.push(message));
    world.socket.hears("{ not json");
    world.socket.hears({ type: "from.the.future" });
    world.socket.hears("null");
    world.socket.hears({ type: "waiting.count", count: 3, person: 1 });
    expect(got).toEqual([{ type: "waiting.count", count: 3, person: 1 }]);
  });

  it("waits longer and longer for a server that takes the connection and closes it", () => {
    const waits: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      world.socket.accepts();
      expect(world.live.getConnection().state).not.toBe("live");
      world.socket.drops(1013);
      const now = world.live.getConnection();
      waits.push(now.state === "reconnecting" ? now.retryAt - world.now : 0);
      world.pass(waits[tries] ?? 0);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000]);
  });

  it("gives up a server that takes the connection and never says hello", () => {
    world.socket.accepts();
    const silent = world.socket;
    world.pass(5_000);
    expect(silent.closed).toBe(true);
    expect(world.live.getConnection().state).toBe("reconnecting");
  });

  it("does not hammer a server that refuses it", () => {
    world.socket.drops(4401);
    expect(world.live.getConnection()).toMatchObject({ state: "stale", retryAt: world.now + 30_000 });
  });

  it("connects at once when asked to", () => {
    world.socket.opens();
    world.socket.drops();
    world.live.retryNow();
    expect(world.sockets).toHaveLength(2);
    world.socket.opens();
    world.pass(9_000);
    expect(world.sockets).toHaveLength(2);
  });

  it("opens another one for another session, before the old one is closed or after", () => {
    world.socket.opens();
    world.live.reopen();
    expect(world.sockets).toHaveLength(2);
    world.socket.opens();
    expect(world.live.getConnection().state).toBe("live");
    world.socket.drops(4401);
    world.live.reopen();
    world.socket.opens();
    world.pass(9_000);
    expect(world.sockets).toHaveLength(3);
    expect(world.live.getConnection().state).toBe("live");
  });

  it("gives up a server that takes the connection and says nothing, and says stale in the end", () => {
    world.socket.opens();
    const heard = world.now;
    world.pass(15_000);
    expect(world.live.getConnection()).toMatchObject({ state: "stale", since: heard });
    world.pass(30_000);
    expect(world.sockets.length).toBeGreaterThan(4);
    world.live.retryNow();
    world.socket.opens();
    expect(world.live.getConnection().state).toBe("live");
  });

  it("asks at once when somebody looks again", () => {
    world.socket.opens();
    world.pass(1_000);
    world.live.look();
    world.live.look();
    expect(world.socket.sent).toEqual([{ type: "ping", id: 1 }]);
    world.pass(5_000);
    expect(world.live.getConnection().state).toBe("reconnecting");
    world.live.look();
    expect(world.sockets).toHaveLength(2);
    world.socket.opens();
    world.pass(1_000);
    world.live.look();
    world.socket.hears({ type: "pong", id: 2 });
    world.pass(9_000);
    expect(world.live.getConnection().state).toBe("live");
  });

  it("stays away once it is stopped", () => {
    world.socket.opens();
    world.live.stop();
    world.pass(60_000);
    expect(world.sockets).toHaveLength(1);
  });
});
