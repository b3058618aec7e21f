/** What the plugins said went to make room: when and why, and a fork that plays it again. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import type { ApiError } from "@/api/client";
import { forkRun } from "@/api/queries";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Outcome";
import { notifyError } from "@/shell/notify";

import { t } from "../texts";

/** The step at which a fork plays again what went; undefined when the error is about something else. */
export function playedAgainAt(error: ApiError): number | undefined {
  const gone = error.body.breakdowns_gone;
  if (typeof gone !== "object" || gone === null || !("position" in gone)) return undefined;
  return typeof gone.position === "number" ? gone.position : undefined;
}

export function WentToMakeRoom({ run, error, position }: { run: string; error: ApiError; position: number }) {
  const { operates } = useMe();
  const navigate = useNavigate();
  const fork = useMutation({
    mutationFn: () => forkRun(run, { position }),
    onSuccess: (made) => void navigate({ to: "/runs/$run", params: { run: made.id } }),
    onError: (refused) => notifyError(t("playAgain"), refused),
  });
  return (
    <Empty
      action={
        operates ? (
          <Button size="sm" icon="fork" sends disabled={fork.isPending} onClick={() => fork.mutate()}>
            {t("playAgain")}
          </Button>
        ) : undefined
      }
    >
      {error.message}
    </Empty>
  );
}
