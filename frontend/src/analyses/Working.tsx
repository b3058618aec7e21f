import { Failed, Outlines } from "@/components/Outcome";

import { CancelQuestion } from "./CancelQuestion";
import { t } from "./texts";
import classes from "./Working.module.css";
import type { AnalysisView, Progress } from "./useAnalysis";

type State = Pick<AnalysisView<"what_would_help">, "run" | "id" | "progress" | "error" | "again">;

const WORDS: Partial<Record<Progress, string>> = {
  get asking() {
    return t("asking");
  },
  get pending() {
    return t("waitsForAWorker");
  },
  get running() {
    return t("tryingItOutOnA");
  },
};

/** What is said until there is an answer; nothing when there is one. */
export function Working({ of, what, failed, lines = 3 }: { of: State; what: string; failed: string; lines?: number }) {
  if (of.progress === "failed") return <Failed what={failed} error={of.error} retry={of.again} />;
  const words = WORDS[of.progress];
  if (words === undefined) return null;
  return (
    <>
      <div className={classes.words}>
        {words}… {of.id === null ? null : <CancelQuestion run={of.run} id={of.id} />}
      </div>
      <Outlines count={lines} height={34} label={t("whatWords", { what, words })} />
    </>
  );
}
