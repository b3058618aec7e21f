/** Questions about a moment of a run. An answer to a position never changes, so it is kept; forks are made where it was given. */
import { queryOptions } from "@tanstack/react-query";

import { pathOf, request } from "./client";
import { forkRun } from "./queries";
import type { components } from "./schema";
import type { Run } from "./types";

type Schemas = components["schemas"];

export type Analysis = Omit<Schemas["Analysis"], "result">;
export type Remedy = Schemas["Remedy"];
export type Operation = Schemas["Operation"];
export type HelpAnswer = Schemas["WhatWouldHelpResult"];
export type PodsAnswer = Schemas["CapacityPodsResult"];
export type PlacedAgainAnswer = Schemas["PlacedAgainResult"];
export type WhyAnswer = Schemas["WhyPendingResult"];
export type NodeRoom = Schemas["NodeCapacity"];
export type NodesAnswer = Schemas["CapacityNodesResult"];

/** A question's name, what it is asked with, and the shape of its answer. */
export interface Questions {
  what_would_help: { arguments: { namespace: string; name: string }; result: HelpAnswer };
  why_pending: { arguments: { namespace: string; name: string }; result: WhyAnswer };
  placed_again: { arguments: { namespace: string; name: string }; result: PlacedAgainAnswer };
  capacity_pods: {
    arguments: { namespace: string; name: string; limit?: number } | { manifest: string; limit?: number };
    result: PodsAnswer;
  };
  other_weights: {
    arguments: { profile: string; weights: Record<string, number> };
    result: Schemas["OtherWeightsResult"];
  };
  all_nodes: { arguments: { attempt: number }; result: Schemas["AllNodesResult"] };
  debugger: { arguments: Record<string, never>; result: Schemas["DebuggerResult"] };
  capacity_nodes: {
    arguments: { node: string; limit?: number } | { manifest: string; limit?: number };
    result: NodesAnswer;
  };
}
export type QuestionName = keyof Questions;

export interface Question<N extends QuestionName> {
  name: N;
  arguments: Questions[N]["arguments"];
  /** Of a question about an attempt the server knows it. */
  position?: number;
}

export type Answered<N extends QuestionName> = Analysis & { result: Questions[N]["result"] | null };

const KEPT = 600_000;
/** Where the socket is away the answer is looked for this often. */
const LOOK = 2_000;

export const isOpen = (analysis: Pick<Analysis, "status"> | undefined): boolean =>
  analysis?.status === "pending" || analysis?.status === "running";

/** `turn` grows when the question is asked once more after a failure. */
export const askQuery = <N extends QuestionName>(run: string, question: Question<N>, turn: number) =>
  queryOptions({
    queryKey: ["run", run, "asked", question, turn],
    queryFn: ({ signal }) =>
      request<Answered<N>>(pathOf("runs", run, "analyses"), { method: "POST", body: question, signal }),
    staleTime: KEPT,
    retry: false,
  });

/** Who asked may, and operators and editors. */
export const cancelAnalysis = (run: string, id: string) =>
  request<Analysis>(pathOf("runs", run, "analyses", id), { method: "DELETE" });

/** Read again when the socket says `analysis.changed`. */
export const analysisQuery = <N extends QuestionName>(run: string, id: string) =>
  queryOptions({
    queryKey: ["run", run, "analysis", id],
    queryFn: ({ signal }) => request<Answered<N>>(pathOf("runs", run, "analyses", id), { signal }),
    refetchInterval: (query) => (query.state.data === undefined || isOpen(query.state.data) ? LOOK : false),
    staleTime: KEPT,
  });

const LOOK_AT_FORK = 250;
const GIVE_UP_FORK = 60_000;

/**
 * A new run that goes on where this one was at `position`, with the changes made first. Resolves once its engine has played its
 * past, because before that it has no pods to show; of a fork that takes too long the page itself says how it stands.
 */
export async function forkWhenThere(run: string, position: number, changes: Operation[]): Promise<Run> {
  let fork = await forkRun(run, { position, changes: changes.map((one) => ({ ...one })), play: true });
  const until = Date.now() + GIVE_UP_FORK;
  while (!isThere(fork, position) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AT_FORK));
    fork = await request<Run>(pathOf("runs", fork.id));
  }
  return fork;
}

export const isThere = (fork: Pick<Run, "state" | "position" | "nodes" | "pods">, position: number): boolean =>
  fork.state === "parked" || (fork.position >= position && fork.nodes + fork.pods > 0);
