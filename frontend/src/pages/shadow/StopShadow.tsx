/** Ends a shadow before its time. What it has judged stays. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { followedQuery } from "@/api/clusters";
import { Button } from "@/components/Button";
import { perform } from "@/live/commands";
import { notifyError } from "@/shell/notify";

import { t } from "./texts";

export function StopShadow({ run }: { run: string }) {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () => perform(run, { type: "stop" }),
    onSuccess: () => queries.invalidateQueries({ queryKey: followedQuery(run).queryKey }),
    onError: (error) => notifyError(t("notStopped"), error),
  });
  return (
    <Button icon="stop" sends disabled={stop.isPending} title={t("whatStopDoes")} onClick={() => stop.mutate()}>
      {t("stopShadow")}
    </Button>
  );
}
