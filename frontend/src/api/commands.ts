/**
 * Commands to a run. The server keeps a command as a journal row and answers 202; what becomes of it is heard of in
 * src/live/commands.ts. `client_id` makes a repeated POST the same command.
 */
import { ApiError, pathOf, request } from "./client";
import type { CommandInput, CommandReceipt } from "./types";

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
const RETRIES = 3;
const ANSWER_WITHIN = 10_000;

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Whether an error says nothing about what was sent: the server did not answer. */
export function isLost(error: unknown): boolean {
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
