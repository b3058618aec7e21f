/**
 * Every message of the WebSocket, both ways: aliases of the generated types, which come from the server's structs
 * (schedweb/runs/wire/messages.py). `parseServerMessage` is the only way in: what it does not know is dropped, so a newer
 * server cannot break an older page.
 */
import type { components } from "./wire";

type Schemas = components["schemas"];

export type ClientMessage = Schemas["FromBrowser"];
export type ServerMessage = Schemas["ToBrowser"];
export type RunDelta = Schemas["RunDelta"];
/** What became of a command. */
export type CommandOutcome = Schemas["CommandOutcome"];
/** The engine's row number; requested and reserved per resource; pods bound, waiting, in flight. */
export type NodeChange = RunDelta["nodes"][number];

/** A record, so that the compiler asks for a message that is new. */
const KNOWN: Readonly<Record<ServerMessage["type"], true>> = {
  hello: true,
  subscribed: true,
  "run.delta": true,
  "run.resync": true,
  "command.settled": true,
  "waiting.count": true,
  "runs.changed": true,
  "analysis.changed": true,
  "shadow.judged": true,
  pong: true,
  error: true,
};

export function parseServerMessage(text: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const type = (value as { type?: unknown }).type;
  return typeof type === "string" && Object.hasOwn(KNOWN, type) ? (value as ServerMessage) : null;
}
