import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { forkRun } from "@/api/queries";
import { notifyError } from "@/shell/notify";

import { runAt } from "./moment";
import { t } from "./texts";

export interface Forker {
  busy: boolean;
  /** A new run that begins where this one is, or was at `step`; its page is opened. */
  fork: (step?: number) => void;
}

export function useFork(runKey: string): Forker {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const fork = useCallback(
    (step?: number) => {
      const { run, at } = runAt(runKey);
      const position = step ?? at;
      setBusy(true);
      forkRun(run, position === null ? {} : { position })
        .then((made) => navigate({ to: "/runs/$run", params: { run: made.id } }))
        .catch((error: unknown) => notifyError(t("noForkWasMade"), error))
        .finally(() => setBusy(false));
    },
    [runKey, navigate],
  );
  return { busy, fork };
}
