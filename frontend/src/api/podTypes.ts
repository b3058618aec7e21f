/** Shapes of the pod page: one attempt, its filter and its scores, and the pod's journey. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Attempt = Schemas["Attempt"];
export type AttemptPoint = Schemas["Point"];
export type PointState = Schemas["PointStateEnum"];
export type PluginVerdict = Schemas["PluginVerdict"];
export type PodAttempt = Schemas["PodAttempt"];
export type FilterAnswer = Schemas["Filter"];
export type FilterGroup = Schemas["FilterGroup"];
export type FilterNode = Schemas["FilterNode"];
export type FilterRow = Schemas["FilterRow"];
export type NodeAmount = Schemas["NodeAmount"];
export type Scores = Schemas["Scores"];
export type ScorePlugin = Schemas["ScorePlugin"];
export type ScoreRow = Schemas["ScoreRow"];
export type ScoreCell = Schemas["ScoreCell"];
export type Journey = Schemas["Journey"];
export type Sampling = Schemas["Sampling"];
export type Preemption = Schemas["Preemption"];
export type PreemptionCandidate = Schemas["Candidate"];
export type NoCandidates = Schemas["NoCandidates"];
export type PreemptionRow = Schemas["PreemptionRow"];
export type Claims = Schemas["Claims"];
export type VolumeClaim = Schemas["VolumeClaim"];
export type DeviceClaim = Schemas["DeviceClaim"];
export type Device = Schemas["Device"];
export type Decisions = Schemas["Decisions"];
export type RunObject = Schemas["RunObject"];
export type RunObjects = Schemas["RunObjectWindow"];
