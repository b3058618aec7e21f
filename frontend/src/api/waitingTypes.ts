/** Shapes of the inbox: pods that wait on Permit, and what was decided. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type WaitingRow = Schemas["WaitingRow"];
export type WaitingWindow = Schemas["WaitingWindow"];
export type Decision = Schemas["Decision"];
export type Eviction = Schemas["EvictionRow"];
export type EvictionVictim = Schemas["EvictionVictim"];
export type WaitingKind = "person" | "gang";
