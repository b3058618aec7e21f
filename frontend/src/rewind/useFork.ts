import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { forkRun } from "@/api/queries";
import { notifyError } from "@/shell/notify";

import { runAt } from "./moment";
import { t } from "./texts";

export interface Forker {
  busy: boolean;
  /**
   * A new run that begins where this one is, or was at `step`; its page is opened. Of a run beside a real cluster first
   * somebody says since when, and what the fork takes of what came to the cluster afterwards.
   */
  fork: (step?: number) => void;
  /** About which step somebody is asked: null is as the run is now. */
  asked: { step: number | null } | null;
  forget: () => void;
}

/** `follows`: the real cluster that the run is beside; "" of all others. */
export function useFork(runKey: string, follows: string): Forker {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<Forker["asked"]>(null);
  const fork = useCallback(
    (step?: number) => {
      const { run, at } = runAt(runKey);
      const position = step ?? at;
      if (follows !== "") {
        setAsked({ step: position });
        return;
      }
      setBusy(true);
      forkRun(run, position === null ? {} : { position })
        .then((made) => navigate({ to: "/runs/$run", params: { run: made.id } }))
        .catch((error: unknown) => notifyError(t("noForkWasMade"), error))
        .finally(() => setBusy(false));
    },
    [runKey, follows, navigate],
  );
  const forget = useCallback(() => setAsked(null), []);
  return { busy, fork, asked, forget };
}
