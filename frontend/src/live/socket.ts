/**
 * One WebSocket per browser, with subscriptions inside it. Plain TypeScript; the clock, the timers and the socket are
 * passed in, so tests drive it without a network.
 *
 *   connecting ──hello──▶ live ──closed, or no answer to a ping──▶ reconnecting ──15 s without a connection──▶ stale
 *        ▲                                                            │                                        │
 *        └───────────────────── delay with jitter ───────────────────┴────────────────────────────────────────┘
 */
import { type Language, language } from "@/languages/language";

import { reconnectDelay } from "./backoff";
import { type ClientMessage, parseServerMessage, type ServerMessage } from "./messages";

export type Connection =
  | { state: "connecting" }
  | { state: "live"; lastMessageAt: number }
  | { state: "reconnecting"; attempt: number; retryAt: number; since: number }
  | { state: "stale"; attempt: number; retryAt: number; since: number };

export interface SocketLike {
  readyState: number;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  send: (data: string) => void;
  close: () => void;
}

export interface LiveEnvironment {
  open: () => SocketLike;
  now: () => number;
  random: () => number;
  /** What the server says is said in it. */
  language: () => Language;
  setTimer: (callback: () => void, milliseconds: number) => number;
  clearTimer: (handle: number) => void;
}

const OPEN = 1;
const PING_EVERY = 10_000;
const PONG_WITHIN = 5_000;
/** A frozen server takes a connection and says nothing. One that cannot serve us closes it before it has said hello. */
const OPEN_WITHIN = 5_000;
const STALE_AFTER = 15_000;
/** Close codes of the server that mean "sign in again": trying on would not help. */
const REFUSED = new Set([4401, 4403]);

type MessageListener = (message: ServerMessage) => void;

export class LiveSocket {
  private readonly environment: LiveEnvironment;
  private readonly runs = new Map<string, number>();
  private readonly listeners = new Set<MessageListener>();
  private readonly watchers = new Set<() => void>();
  private connection: Connection = { state: "connecting" };
  private socket: SocketLike | null = null;
  private attempt = 0;
  private lostAt: number | null = null;
  private lastMessageAt = 0;
  private pingId = 0;
  private pingTimer: number | null = null;
  private pongTimer: number | null = null;
  private retryTimer: number | null = null;
  private openTimer: number | null = null;
  private started = false;

  constructor(environment: LiveEnvironment) {
    this.environment = environment;
  }

  start(): void {
    if (this.started) return;
    this.started = true;
    this.connect();
  }

  stop(): void {
    this.started = false;
    this.clearTimers();
    this.detach();
  }

  /** For useSyncExternalStore. */
  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };

  readonly getConnection = (): Connection => this.connection;

  get lastMessage(): number {
    return this.lastMessageAt;
  }

  onMessage(listener: MessageListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Counts its callers: two pages may follow one run, and the last one to leave unsubscribes. */
  follow(run: string): () => void {
    const before = this.runs.get(run) ?? 0;
    this.runs.set(run, before + 1);
    if (before === 0) this.send({ type: "subscribe", run, language: this.environment.language() });
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const count = (this.runs.get(run) ?? 1) - 1;
      if (count > 0) {
        this.runs.set(run, count);
        return;
      }
      this.runs.delete(run);
      this.send({ type: "unsubscribe", run });
    };
  }

  isFollowed(run: string): boolean {
    return this.runs.has(run);
  }

  /** Asks for a fresh `subscribed` with the current seq, after a gap. */
  refollow(run: string): void {
    if (this.runs.has(run)) this.send({ type: "subscribe", run, language: this.environment.language() });
  }

  retryNow(): void {
    if (this.connection.state !== "reconnecting" && this.connection.state !== "stale") return;
    this.clearTimers();
    this.connect();
  }

  /** The session is another one: the server is about to close what the old one opened. */
  reopen(): void {
    if (!this.started) return;
    this.clearTimers();
    this.become({ state: "connecting" });
    this.connect();
  }

  /** The window was hidden, the machine slept or changed its network: timers may be late, so the server is asked at once. */
  look(): void {
    if (this.connection.state === "live" && this.pongTimer === null) this.ping();
    else this.retryNow();
  }

  private send(message: ClientMessage): void {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(message));
  }

  private connect(): void {
    this.detach();
    const socket = this.environment.open();
    this.socket = socket;
    this.openTimer = this.environment.setTimer(() => this.lost(1006), OPEN_WITHIN);
    socket.onopen = () => {
      for (const run of this.runs.keys()) this.send({ type: "subscribe", run, language: this.environment.language() });
    };
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") return;
      this.heard();
      const message = parseServerMessage(event.data);
      if (message === null) return;
      if (message.type === "pong") this.ponged(message.id);
      for (const listener of this.listeners) listener(message);
    };
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event.code);
    };
  }

  private detach(): void {
    const old = this.socket;
    this.socket = null;
    if (old === null) return;
    old.onopen = old.onclose = old.onmessage = null;
    old.close();
  }

  private heard(): void {
    this.lastMessageAt = this.environment.now();
    if (this.connection.state === "live") return;
    if (this.openTimer !== null) this.environment.clearTimer(this.openTimer);
    this.openTimer = null;
    this.attempt = 0;
    this.lostAt = null;
    this.schedulePing();
    this.become({ state: "live", lastMessageAt: this.lastMessageAt });
  }

  private lost(code: number): void {
    this.clearTimers();
    this.detach();
    if (!this.started) return;
    const now = this.environment.now();
    this.lostAt ??= this.lastMessageAt || now;
    this.attempt += 1;
    const delay = (REFUSED.has(code) ? 30 : reconnectDelay(this.attempt, this.environment.random)) * 1000;
    const state = now - this.lostAt >= STALE_AFTER || REFUSED.has(code) ? "stale" : "reconnecting";
    this.become({ state, attempt: this.attempt, retryAt: now + delay, since: this.lostAt });
    this.retryTimer = this.environment.setTimer(() => {
      this.retryTimer = null;
      this.connect();
    }, delay);
  }

  private schedulePing(): void {
    this.pingTimer = this.environment.setTimer(() => this.ping(), PING_EVERY);
  }

  private ping(): void {
    if (this.pingTimer !== null) this.environment.clearTimer(this.pingTimer);
    this.pingTimer = null;
    this.pingId += 1;
    this.send({ type: "ping", id: this.pingId });
    this.pongTimer = this.environment.setTimer(() => this.lost(1006), PONG_WITHIN);
  }

  private ponged(id: number | string): void {
    if (id !== this.pingId) return;
    if (this.pongTimer !== null) this.environment.clearTimer(this.pongTimer);
    this.pongTimer = null;
    this.schedulePing();
  }

  private clearTimers(): void {
    for (const timer of [this.pingTimer, this.pongTimer, this.retryTimer, this.openTimer]) {
      if (timer !== null) this.environment.clearTimer(timer);
    }
    this.pingTimer = this.pongTimer = this.retryTimer = this.openTimer = null;
  }

  private become(next: Connection): void {
    this.connection = next;
    for (const watcher of this.watchers) watcher();
  }
}

export function browserSocket(): LiveSocket {
  return new LiveSocket({
    open: () => {
      const scheme = location.protocol === "https:" ? "wss" : "ws";
      return new WebSocket(`${scheme}://${location.host}/ws/`) as SocketLike;
    },
    now: () => Date.now(),
    random: Math.random,
    language,
    setTimer: (callback, milliseconds) => window.setTimeout(callback, milliseconds),
    clearTimer: (handle) => window.clearTimeout(handle),
  });
}
