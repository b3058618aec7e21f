/** The way out of a question that takes too long, or holds the place of another one. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { analysisQuery, cancelAnalysis } from "@/api/analyses";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";

import { t } from "./texts";

interface CancelQuestionProps {
  run: string;
  id: string;
  onCancelled?: () => void;
}

export function CancelQuestion({ run, id, onCancelled }: CancelQuestionProps) {
  const queries = useQueryClient();
  const cancelled = useMutation({
    mutationFn: () => cancelAnalysis(run, id),
    onSuccess: onCancelled,
    onSettled: () => queries.invalidateQueries({ queryKey: analysisQuery(run, id).queryKey }),
  });
  return (
    <>
      <Button size="sm" kind="ghost" sends disabled={cancelled.isPending} onClick={() => cancelled.mutate()}>
        {t("cancel")}
      </Button>
      {cancelled.error === null ? null : <Failed what={t("notCancelled")} error={cancelled.error} small />}
    </>
  );
}
