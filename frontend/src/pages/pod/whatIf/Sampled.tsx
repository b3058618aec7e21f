/** What percentageOfNodesToScore left out, and on request who would have won had every node been looked at. */
import { useAnalysis } from "@/analyses/useAnalysis";
import { WithoutExtenders } from "@/analyses/WithoutExtenders";
import type { Attempt } from "@/api/podTypes";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";

import { t } from "./texts";
import classes from "./WhatIf.module.css";

interface SampledProps {
  run: string;
  attempt: Attempt;
  asked: boolean;
  onAsk: () => void;
}

export function Sampled({ run, attempt, asked, onAsk }: SampledProps) {
  const { sampling, number, node } = attempt;
  const { visits } = useMe();
  const [base = run] = run.split("@");
  const tried = useAnalysis(
    base,
    asked && sampling.sampled && node !== null && !visits
      ? { name: "all_nodes", arguments: { attempt: number } }
      : null,
  );
  if (!sampling.sampled) return null;
  const found = tried.result;
  return (
    <div className={classes.sampled}>
      <p>
        <b>{t("checked", { checked: sampling.checked, of: sampling.of })}</b>{" "}
        {found === null
          ? t("sampledWhy")
          : found.node === node
            ? t("wonAsWell", { node: found.node, count: found.total, feasible: found.feasible })
            : t("wouldHaveWon", {
                to: found.node,
                node: node ?? "",
                count: found.total,
                own: found.node_total ?? 0,
                feasible: found.feasible,
              })}
        {found !== null && found.tied > 1 ? ` ${t("tiedAtAll", { count: found.tied })}` : ""}
      </p>
      {found === null ? null : <p className={classes.hint}>{t("howFound")}</p>}
      {found === null ? null : <WithoutExtenders answer={found} className={classes.hint} />}
      {tried.progress === "none" && !visits && node !== null ? (
        <Button size="sm" onClick={onAsk}>
          {t("whoAtAll")}
        </Button>
      ) : null}
      {tried.progress === "failed" ? (
        <Failed small what={t("noAnswer")} error={tried.error} retry={tried.again} />
      ) : null}
      {["asking", "pending", "running"].includes(tried.progress) ? (
        <p className={classes.hint} role="status">
          {t("trying")}
        </p>
      ) : null}
    </div>
  );
}
