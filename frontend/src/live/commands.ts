/** Commands to a run, with what becomes of them. */
import { ApiError } from "@/api/client";
import { isLost, sendCommand } from "@/api/commands";
import { fetchJournalEntry } from "@/api/queries";
import type { CommandInput, CommandReceipt } from "@/api/types";

import { notify } from "@/shell/notify";

import { socket } from "./live";
import type { CommandOutcome } from "./messages";
import { Outcomes } from "./outcomes";
import { t } from "./texts";

const outcomes = new Outcomes({
  follow: (run) => socket.follow(run),
  onMessage: (listener) => void socket.onMessage(listener),
  isFollowed: (run) => socket.isFollowed(run),
  isConnected: () => socket.getConnection().state === "live",
  watch: (callback) => void socket.watch(callback),
  entry: fetchJournalEntry,
  isLost,
  setTimer: (callback, milliseconds) => window.setTimeout(callback, milliseconds),
  clearTimer: (handle) => window.clearTimeout(handle),
});

/**
 * Waits for what becomes of a command that was taken; a refusal is an ApiError with the engine's sentence. Of one that a
 * parked run keeps there is nothing to wait for.
 */
export async function settled(run: string, receipt: CommandReceipt): Promise<CommandOutcome | null> {
  if (receipt.kept) {
    notify({ title: t("keptUntilTried") });
    return null;
  }
  const outcome = await outcomes.of(run, receipt.id);
  if (outcome?.status === "refused") {
    throw new ApiError(409, { code: "refused", message: outcome.text === "" ? t("theRunRefusedThis") : outcome.text });
  }
  return outcome;
}

/** Sends and waits. */
export async function perform(run: string, input: CommandInput): Promise<CommandOutcome | null> {
  return settled(run, await sendCommand(run, input));
}
