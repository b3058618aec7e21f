/**
 * Commands to a run. The server keeps a command as a journal row and answers 202; what became of it stands in the
 * journal. `client_id` makes a repeated POST the same command.
 */
import { ApiError, pathOf, request } from "./client";
import { fetchJournalEntry } from "./queries";
import { t } from "./texts";
import type { CommandInput, CommandReceipt, JournalEntry } from "./types";

/** Also where `crypto.randomUUID` is missing: it needs a secure context, and a playground on a LAN address has none. */
export function clientId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const FIRST_WAIT = 120;
const LAST_WAIT = 2_000;
const GIVE_UP = 20_000;
const RETRIES = 3;
const ANSWER_WITHIN = 10_000;

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

function isLost(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Sends one command; a lost answer is tried again with the same `client_id`, so it is never carried out twice. */
export async function sendCommand(run: string, input: CommandInput): Promise<CommandReceipt> {
  const body = { ...input, client_id: clientId() };
  for (let tried = 1; ; tried += 1) {
    try {
      return await request<CommandReceipt>(pathOf("runs", run, "commands"), {
        method: "POST",
        body,
        within: ANSWER_WITHIN,
      });
    } catch (error) {
      if (!isLost(error) || tried >= RETRIES) throw error;
      await sleep(FIRST_WAIT * 2 ** tried);
    }
  }
}

/** Waits until the engine has applied or refused the command; null when it is still pending after 20 seconds. */
export async function outcomeOf(run: string, receipt: CommandReceipt): Promise<JournalEntry | null> {
  const until = Date.now() + GIVE_UP;
  for (let wait = FIRST_WAIT; Date.now() < until; wait = Math.min(LAST_WAIT, wait * 1.5)) {
    await sleep(wait);
    try {
      const entry = await fetchJournalEntry(run, receipt.id);
      if (entry.status !== "pending") return entry;
    } catch (error) {
      // The server has the command: that it is away meanwhile does not undo it.
      if (!isLost(error)) throw error;
    }
  }
  return null;
}

/** Waits for what becomes of a command that was taken; a refusal is an ApiError with the engine's sentence. */
export async function settled(run: string, receipt: CommandReceipt): Promise<JournalEntry | null> {
  const entry = await outcomeOf(run, receipt);
  if (entry?.status === "refused") {
    throw new ApiError(409, { code: "refused", message: entry.text === "" ? t("theRunRefusedThis") : entry.text });
  }
  return entry;
}

/** Sends and waits. */
export async function perform(run: string, input: CommandInput): Promise<JournalEntry | null> {
  return settled(run, await sendCommand(run, input));
}
