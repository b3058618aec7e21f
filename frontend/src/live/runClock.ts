import type { RunView } from "./runStore";

/**
 * The run's clock in milliseconds at a wall-clock moment. A virtual clock moves only with what the engine does, so it stands
 * still between two deltas; a real-time clock goes on while the run plays.
 */
export function runNow(view: Pick<RunView, "run" | "receivedAt">, wall: number): number {
  if (view.run === null) return wall;
  const now = Date.parse(view.run.clock.now);
  if (view.run.clock.mode !== "real" || view.run.state === "paused" || !isMoving(view.run.state)) return now;
  return now + Math.max(0, wall - view.receivedAt);
}

export function isMoving(state: string): boolean {
  return state === "playing" || state === "waiting_for_person";
}
