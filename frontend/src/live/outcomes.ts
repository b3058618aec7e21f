/**
 * What becomes of commands. It is pushed over the socket to whoever follows the run, within the run's deltas; while one
 * is waited for, its run is followed. The server is asked where the push cannot be relied on:
 *
 *   subscribed, a gap in `seq`, a resync     once: what came before is not pushed again
 *   no connection, or no subscription        again and again, at growing intervals
 *   time is up                               once more
 *
 * Plain TypeScript; the socket, the reads and the timers are passed in.
 */
import type { JournalEntry } from "@/api/types";

import type { CommandOutcome, ServerMessage } from "./messages";

export interface OutcomeSource {
  /** Until the answer is called the run's messages come. */
  follow: (run: string) => () => void;
  isFollowed: (run: string) => boolean;
  onMessage: (listener: (message: ServerMessage) => void) => void;
  isConnected: () => boolean;
  /** Calls when that may have changed. */
  watch: (callback: () => void) => void;
  entry: (run: string, id: string) => Promise<JournalEntry>;
  /** Whether an error says nothing about the command: the server did not answer. */
  isLost: (error: unknown) => boolean;
  setTimer: (callback: () => void, milliseconds: number) => number;
  clearTimer: (handle: number) => void;
}

interface Waiting {
  run: string;
  settle: (outcome: CommandOutcome | null) => void;
  fail: (error: unknown) => void;
}

export const GIVE_UP = 20_000;
export const FIRST_POLL = 120;
const LONGEST_POLL = 2_000;
/** A push may come before the answer to the POST that it is about. */
const REMEMBERED = 100;
/** Of these the journal keeps no result: applied is all there is to know. */
const PACING: ReadonlySet<unknown> = new Set([
  "play",
  "pause",
  "step",
  "set_speed",
  "stop",
  "try_again",
  "breakpoint_set",
  "breakpoint_remove",
]);

export class Outcomes {
  private readonly source: OutcomeSource;
  private readonly known = new Map<string, CommandOutcome>();
  private readonly waiting = new Map<string, Waiting>();
  /** Run → the last `seq` heard, while pushes about it come. */
  private readonly heard = new Map<string, number>();
  private polls = false;

  constructor(source: OutcomeSource) {
    this.source = source;
    source.onMessage((message) => this.hear(message));
    source.watch(() => {
      if (source.isConnected()) return;
      this.heard.clear();
      this.keepPolling();
    });
  }

  /** Null when the command is still pending after 20 seconds. Fails when the server refuses to say. */
  of(run: string, id: string): Promise<CommandOutcome | null> {
    const known = this.known.get(id);
    if (known !== undefined) return Promise.resolve(known);
    // Left meanwhile, it may be that nothing is pushed until the server confirms it anew.
    if (!this.source.isFollowed(run)) this.heard.delete(run);
    return new Promise((resolve, reject) => {
      const leave = this.source.follow(run);
      const timer = this.source.setTimer(() => void this.lastLook(run, id), GIVE_UP);
      const end = () => {
        this.waiting.delete(id);
        this.source.clearTimer(timer);
        leave();
      };
      this.waiting.set(id, {
        run,
        settle: (outcome) => {
          end();
          resolve(outcome);
        },
        fail: (error) => {
          end();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      });
      this.keepPolling();
    });
  }

  private hear(message: ServerMessage): void {
    if (message.type === "subscribed") {
      this.heard.set(message.run, message.seq);
      this.askAbout(message.run);
    } else if (message.type === "run.delta") {
      for (const outcome of message.outcomes ?? []) this.settle(outcome);
      const before = this.heard.get(message.run);
      // Not subscribed yet: the confirmation is on its way.
      if (before === undefined) return;
      this.heard.set(message.run, Math.max(before, message.seq));
      if (message.previous > before) this.askAbout(message.run);
    } else if (message.type === "command.settled") {
      this.settle(message.outcome);
    } else if (message.type === "run.resync") {
      this.askAbout(message.run);
    }
  }

  private settle(outcome: CommandOutcome): void {
    this.known.set(outcome.id, outcome);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= REMEMBERED) break;
      this.known.delete(oldest);
    }
    this.waiting.get(outcome.id)?.settle(outcome);
  }

  private askAbout(run: string): void {
    for (const [id, one] of this.waiting) if (one.run === run) void this.ask(run, id);
  }

  private async ask(run: string, id: string): Promise<void> {
    try {
      const outcome = outcomeIn(await this.source.entry(run, id));
      if (outcome !== null) this.settle(outcome);
    } catch (error) {
      // The server has the command: that it is away meanwhile does not undo it.
      if (this.source.isLost(error)) this.keepPolling();
      else this.waiting.get(id)?.fail(error);
    }
  }

  /** At the end: also an entry that is applied and says nothing of a result is better than nothing. */
  private async lastLook(run: string, id: string): Promise<void> {
    let outcome: CommandOutcome | null = null;
    try {
      const entry = await this.source.entry(run, id);
      if (entry.status !== "pending") outcome = asOutcome(entry, entry.status);
    } catch (error) {
      if (!this.source.isLost(error)) {
        this.waiting.get(id)?.fail(error);
        return;
      }
    }
    this.waiting.get(id)?.settle(outcome);
  }

  private isPushed(run: string): boolean {
    return this.source.isConnected() && this.heard.has(run);
  }

  private keepPolling(): void {
    const unpushed = [...this.waiting.values()].some((one) => !this.isPushed(one.run));
    if (!unpushed || this.polls) return;
    this.polls = true;
    this.schedule(FIRST_POLL);
  }

  private schedule(wait: number): void {
    this.source.setTimer(() => {
      const unpushed = [...this.waiting].filter(([, one]) => !this.isPushed(one.run));
      this.polls = unpushed.length > 0;
      for (const [id, one] of unpushed) void this.ask(one.run, id);
      if (this.polls) this.schedule(Math.min(LONGEST_POLL, wait * 1.5));
    }, wait);
  }
}

function outcomeIn(entry: JournalEntry): CommandOutcome | null {
  if (entry.status === "pending") return null;
  // It has its place in the journal, and is done a moment later.
  if (entry.status === "applied" && entry.result === null && !PACING.has(entry.command.type)) return null;
  return asOutcome(entry, entry.status);
}

function asOutcome({ id, text, result }: JournalEntry, status: CommandOutcome["status"]): CommandOutcome {
  return { id, status, text, result };
}
