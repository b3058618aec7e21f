/** On the page of a pod: what became of it in the real cluster, if that is known. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { realPodsQuery, type RealRow } from "@/api/realQueries";
import { Panel } from "@/components/Panel";
import { exact } from "@/format/time";

import classes from "./Real.module.css";
import { t } from "./texts";
import { whyWords } from "./words";

const ALIKE = new Set<RealRow["kind"]>(["same_node", "same_message", "preempted"]);

export function InRealCluster({ run, pod, turn }: { run: string; pod: string; turn: number }) {
  const found = useQuery({ ...realPodsQuery(run, { pod }, 0, 1), queryKey: ["real", run, "pod", pod, turn] });
  const row = found.data?.results[0];
  if (row === undefined) return null;
  return (
    <Panel className={classes.there ?? ""} aria-label={t("onRealCluster")}>
      <b>{t("onRealCluster")}</b>
      <span>
        {outcome(row)} {ALIKE.has(row.kind) ? t("sameThere") : whyWords(row)}
      </span>
      <span className="grow" />
      <Link to="/runs/$run/real" params={{ run }} className="leads">
        {t("seeAll")}
      </Link>
    </Panel>
  );
}

function outcome({ real }: RealRow): string {
  const at = exact(real.at);
  if (real.outcome === "pending") return t("wasPendingThere", { at });
  if (real.outcome === "preempted") return t("wasPreemptedThere", { at });
  return t("wasPlacedThere", { node: real.node ?? "", at });
}
