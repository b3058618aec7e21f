import { useCallback, useState } from "react";

import { ApiError } from "@/api/client";
import { perform } from "@/api/commands";
import type { CommandInput, JournalEntry } from "@/api/types";
import { notifyError } from "@/shell/notify";

const TRIED: Record<CommandInput["type"], string> = {
  play: "The run did not start.", pause: "The run did not pause.", step: "The run did not step.", set_speed: "The speed was not changed.",
  set_seed: "The seed was not changed.", stop: "The run was not stopped.", pod_add: "The pod was not added.", pod_delete: "The pod was not deleted.",
  node_add: "The node was not added.", node_delete: "The node was not deleted.", node_cordon: "The node was not cordoned.",
  node_uncordon: "The node was not uncordoned.", node_drain: "The node was not drained.", pod_activate: "The pod was not activated.",
  set_configuration: "The configuration was not switched.", decide: "Not decided.",
  breakpoint_set: "The breakpoint was not set.", breakpoint_remove: "The breakpoint was not removed.",
};

export interface Commander {
  /** The type of the command under way, to mark its button. */
  busy: CommandInput["type"] | null;
  /** Sends a command and tells a refusal in a notice; null when it failed. */
  send: (command: CommandInput) => Promise<JournalEntry | null>;
}

export function useCommand(run: string): Commander {
  const [busy, setBusy] = useState<CommandInput["type"] | null>(null);
  const send = useCallback(async (command: CommandInput) => {
    setBusy(command.type);
    try {
      return await perform(run, command);
    } catch (error) {
      notifyError(TRIED[command.type], error instanceof ApiError ? error : new Error(String(error)));
      return null;
    } finally {
      setBusy(null);
    }
  }, [run]);
  return { busy, send };
}
