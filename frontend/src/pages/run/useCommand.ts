import { useCallback, useMemo, useState } from "react";

import { ApiError } from "@/api/client";
import { perform } from "@/live/commands";
import type { CommandInput } from "@/api/types";
import type { CommandOutcome } from "@/live/messages";
import { refusal } from "@/live/reach";
import { notifyError } from "@/shell/notify";

import { t } from "./texts";

const TRIED: Record<CommandInput["type"], string> = {
  get play() {
    return t("theRunDidNotStart");
  },
  get pause() {
    return t("theRunDidNotPause");
  },
  get step() {
    return t("theRunDidNotStep");
  },
  get set_speed() {
    return t("theSpeedWasNotChanged");
  },
  get set_seed() {
    return t("theSeedWasNotChanged");
  },
  get stop() {
    return t("theRunWasNotStopped");
  },
  get try_again() {
    return t("notTriedAgain");
  },
  get pod_add() {
    return t("podNotAdded");
  },
  get pod_delete() {
    return t("thePodWasNotDeleted");
  },
  get node_add() {
    return t("nodeNotAdded");
  },
  get node_delete() {
    return t("theNodeWasNotDeleted");
  },
  get node_cordon() {
    return t("theNodeWasNotCordoned");
  },
  get node_uncordon() {
    return t("theNodeWasNotUncordoned");
  },
  get node_drain() {
    return t("theNodeWasNotDrained");
  },
  get pod_activate() {
    return t("thePodWasNotActivated");
  },
  get wait() {
    return t("noTimePassed");
  },
  get set_configuration() {
    return t("theConfigurationWasNotSwitched");
  },
  get change() {
    return t("theObjectWasNotChanged");
  },
  get decide() {
    return t("notDecided");
  },
  get decide_eviction() {
    return t("notDecided");
  },
  get device_condition() {
    return t("theConditionWasNotSet");
  },
  get breakpoint_set() {
    return t("theBreakpointWasNotSet");
  },
  get breakpoint_remove() {
    return t("theBreakpointWasNotRemoved");
  },
};

export interface Commander {
  /** The type of the command under way, to mark its button. */
  busy: CommandInput["type"] | null;
  /** Sends a command and tells a refusal in a notice; null when it failed. */
  send: (command: CommandInput) => Promise<CommandOutcome | null>;
}

export function useCommand(run: string): Commander {
  const [busy, setBusy] = useState<CommandInput["type"] | null>(null);
  const send = useCallback(
    async (command: CommandInput) => {
      const refused = refusal();
      if (refused !== null) {
        notifyError(TRIED[command.type], new Error(refused));
        return null;
      }
      setBusy(command.type);
      try {
        return await perform(run, command);
      } catch (error) {
        notifyError(TRIED[command.type], error instanceof ApiError ? error : new Error(String(error)));
        return null;
      } finally {
        setBusy(null);
      }
    },
    [run],
  );
  return useMemo(() => ({ busy, send }), [busy, send]);
}
