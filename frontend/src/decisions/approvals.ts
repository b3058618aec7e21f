/**
 * Approvals wait five seconds before they are sent, because binding cannot be undone. Plain TypeScript: the page reads
 * `pending`, the toast shows it, `z` cancels it. Rejections and overrides have a drawer of their own and are sent at once.
 */
import type { CommandOutcome } from "@/live/messages";

export interface DecidedPod {
  namespace: string;
  name: string;
  uid?: string | undefined;
  workload: string;
  tail: string;
  /** The real cluster in which an approval binds it; "" or nothing in a simulated one. */
  binds_in?: string | undefined;
  /** There it is only tried. */
  dry_run?: boolean | undefined;
}

/** The real clusters in which deciding about these pods writes. */
export function realClusters(pods: readonly DecidedPod[]): string[] {
  return [...new Set(pods.filter((pod) => pod.dry_run !== true).map((pod) => pod.binds_in ?? ""))].filter(
    (context) => context !== "",
  );
}

export interface PendingApproval {
  id: number;
  run: string;
  pods: readonly DecidedPod[];
  reason: string;
  sendAt: number;
  /** Its time has come while the server does not answer: it is sent when that does. */
  held?: true;
}

export interface FailedApproval extends PendingApproval {
  message: string;
}

export interface ApprovalEnvironment {
  now: () => number;
  setTimer: (callback: () => void, milliseconds: number) => number;
  clearTimer: (handle: number) => void;
  send: (approval: PendingApproval) => Promise<CommandOutcome | null>;
  sent: (approval: PendingApproval, entry: CommandOutcome | null) => void;
  /** Why nothing can be sent now, or null. */
  refusal: () => string | null;
  refused: (why: string) => void;
  whenReached: (callback: () => void) => void;
}

export const CANCEL_WINDOW = 5_000;

export function podKey(pod: { namespace: string; name: string }): string {
  return `${pod.namespace}/${pod.name}`;
}

export class Approvals {
  private readonly environment: ApprovalEnvironment;
  private readonly timers = new Map<number, number>();
  private readonly watchers = new Set<() => void>();
  private pending: readonly PendingApproval[] = [];
  private failures: readonly FailedApproval[] = [];
  private nextId = 1;

  constructor(environment: ApprovalEnvironment) {
    this.environment = environment;
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };
  readonly getPending = (): readonly PendingApproval[] => this.pending;
  readonly getFailures = (): readonly FailedApproval[] => this.failures;

  /** Sends a failed approval once more, at once: it has had its five seconds. */
  retry(id: number): void {
    const failed = this.failures.find((one) => one.id === id);
    if (failed === undefined) return;
    this.dismiss(id);
    this.send(failed);
  }

  dismiss(id: number): void {
    this.failures = this.failures.filter((one) => one.id !== id);
    this.changed();
  }

  /** Pods that are already about to be approved are left out, so a second press does nothing. */
  approve(run: string, pods: readonly DecidedPod[], reason = ""): void {
    const why = this.environment.refusal();
    if (why !== null) {
      this.environment.refused(why);
      return;
    }
    const known = new Set(this.pending.filter((one) => one.run === run).flatMap((one) => one.pods.map(podKey)));
    const fresh = pods.filter((pod) => !known.has(podKey(pod)));
    if (fresh.length === 0) return;
    const approval = { id: this.nextId++, run, pods: fresh, reason, sendAt: this.environment.now() + CANCEL_WINDOW };
    this.pending = [...this.pending, approval];
    this.timers.set(
      approval.id,
      this.environment.setTimer(() => this.sendWhenReached(approval), CANCEL_WINDOW),
    );
    this.changed();
  }

  /** Cancels one, or the newest. */
  cancel(id?: number): boolean {
    const approval = id === undefined ? this.pending.at(-1) : this.pending.find((one) => one.id === id);
    if (approval === undefined) return false;
    const timer = this.timers.get(approval.id);
    if (timer !== undefined) this.environment.clearTimer(timer);
    this.drop(approval);
    return true;
  }

  /** Milliseconds until this pod's approval is sent, or null. */
  due(run: string, pod: { namespace: string; name: string }): number | null {
    const key = podKey(pod);
    const approval = this.pending.find((one) => one.run === run && one.pods.some((other) => podKey(other) === key));
    return approval?.sendAt ?? null;
  }

  private sendWhenReached(approval: PendingApproval): void {
    if (this.environment.refusal() === null) {
      this.send(approval);
      return;
    }
    this.pending = this.pending.map((one) => (one.id === approval.id ? { ...one, held: true } : one));
    this.changed();
    this.environment.whenReached(() => {
      if (this.pending.some((one) => one.id === approval.id)) this.send(approval);
    });
  }

  private send(approval: PendingApproval): void {
    this.drop(approval);
    this.environment.send(approval).then(
      (entry) => this.environment.sent(approval, entry),
      (error: unknown) => {
        this.failures = [
          ...this.failures,
          { ...approval, message: error instanceof Error ? error.message : String(error) },
        ];
        this.changed();
      },
    );
  }

  private drop(approval: PendingApproval): void {
    this.timers.delete(approval.id);
    this.pending = this.pending.filter((one) => one.id !== approval.id);
    this.changed();
  }

  private changed(): void {
    for (const watcher of this.watchers) watcher();
  }
}
