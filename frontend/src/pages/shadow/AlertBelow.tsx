/** Below how many percent of agreement in the last hour the page says so. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { setShadowAlert, type ShadowSummary } from "@/api/shadowQueries";
import { useMe } from "@/api/useMe";
import { Failed } from "@/components/Outcome";

import classes from "./Shadow.module.css";
import { t } from "./texts";

const CHOICES = [50, 75, 80, 85, 90, 95, 98, 99, 100];

export function AlertBelow({ run, summary }: { run: string; summary: ShadowSummary }) {
  const { operates } = useMe();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (below: number | null) => setShadowAlert(run, below),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["shadow", run] }),
  });
  const now = summary.alert_below;
  const known = now === null || CHOICES.includes(now) ? CHOICES : [...CHOICES, now].sort((one, two) => one - two);
  return (
    <>
      <label className={classes.choice}>
        {t("alertBelow")}
        <select
          value={now ?? ""}
          disabled={!operates || change.isPending}
          onChange={(event) =>
            change.mutate(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))
          }
        >
          <option value="">{t("never")}</option>
          {known.map((one) => (
            <option key={one} value={one}>
              {one} %
            </option>
          ))}
        </select>
      </label>
      {change.error === null ? null : <Failed what={t("alertNotSet")} error={change.error} small />}
    </>
  );
}
