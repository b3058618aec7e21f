/**
 * "What if we had used the other configuration since 09:00": a fork of a run beside a real cluster, from a step or a time,
 * with another configuration or its own, and with what came to the cluster afterwards or without.
 */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { configurationsQuery, forkRun, stepAtQuery, stepQuery } from "@/api/queries";
import { Button } from "@/components/Button";
import { CheckWithHelp } from "@/components/CheckWithHelp";
import { Failed } from "@/components/Outcome";
import dialog from "@/components/runs/StartDialog.module.css";
import { useFocusBack } from "@/components/useFocusBack";
import { count } from "@/format/number";
import { exact, isoOfLocal, localMoment } from "@/format/time";

import classes from "./ForkDialog.module.css";
import { t } from "./texts";

interface ForkDialogProps {
  run: string;
  /** Its cluster's. */
  cluster: string;
  /** Where it is looked at; null: as it is now. */
  step: number | null;
  onClose: () => void;
}

export default function ForkDialog({ run, cluster, step, onClose }: ForkDialogProps) {
  useFocusBack();
  const navigate = useNavigate();
  const configurations = useQuery(configurationsQuery());
  const noted = useQuery({ ...stepQuery(run, step ?? 0), enabled: step !== null });
  const [version, setVersion] = useState("");
  const [arrivals, setArrivals] = useState(true);
  /** What somebody wrote; null: the step's own time stands. */
  const [since, setSince] = useState<string | null>(null);
  const wished = since === null ? null : isoOfLocal(since);
  const found = useQuery({ ...stepAtQuery(run, wished ?? ""), enabled: wished !== null });
  const taken = wished === null ? undefined : found.data?.at;
  const isNow = step === null && wished === null;
  const fork = useMutation({
    mutationFn: () =>
      forkRun(run, {
        ...(wished !== null ? { at: wished } : step !== null ? { position: step } : {}),
        arrivals: arrivals && !isNow,
        ...(version === "" ? {} : { configuration_version: version }),
      }),
    onSuccess: (made) => {
      onClose();
      return navigate({ to: "/runs/$run", params: { run: made.id } });
    },
  });
  const at = wished === null ? noted.data?.step?.clock : (taken?.clock ?? undefined);
  const own = noted.data?.step?.clock;
  const shown = since ?? (own === undefined ? "" : localMoment(own));
  const isWrong = since !== null && since !== "" && (wished === null || found.error !== null);
  return (
    <Modal
      opened
      onClose={onClose}
      title={step === null ? t("forkOf") : t("forkAtStep", { step: count(step) })}
      size={480}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{
        content: dialog.content ?? "",
        header: dialog.header ?? "",
        title: dialog.title ?? "",
        overlay: dialog.scrim ?? "",
      }}
    >
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!fork.isPending && !isWrong) fork.mutate();
        }}
      >
        <p className="muted">
          {at === undefined ? t("whatAForkIs", { cluster }) : t("whatAForkIsAt", { cluster, time: exact(at) })}
        </p>
        <label className={classes.choice}>
          {t("configuration")}
          <select data-autofocus value={version} onChange={(event) => setVersion(event.currentTarget.value)}>
            <option value="">{t("asItWas")}</option>
            {configurations.data?.results.map((one) => (
              <option key={one.id} value={one.latest.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <div>
          <label className={classes.choice}>
            {t("since")}
            <input
              type="datetime-local"
              step={1}
              value={shown}
              aria-invalid={isWrong}
              aria-describedby="since-help"
              onChange={(event) => setSince(event.currentTarget.value)}
            />
          </label>
          <p id="since-help" className={`${classes.takes ?? ""} faint`} role={isWrong ? "alert" : "status"}>
            {isWrong
              ? (found.error?.message ?? t("aTimePlease"))
              : taken !== null && taken !== undefined
                ? t("takesStep", { step: count(taken.position), time: exact(taken.clock) })
                : isNow
                  ? t("asItIsNow")
                  : t("inYourTime")}
          </p>
        </div>
        {isNow ? null : (
          <CheckWithHelp
            label={t("takeWhatCame", { cluster })}
            help={arrivals ? t("whatComes") : t("whatDoesNotCome")}
            checked={arrivals}
            onChecked={setArrivals}
          />
        )}
        {configurations.error === null ? null : (
          <Failed what={t("noConfigurations")} error={configurations.error} small />
        )}
        {fork.error === null ? null : <Failed what={t("noForkWasMade")} error={fork.error} small />}
        <div className={classes.foot}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            sends
            disabled={fork.isPending || isWrong || (wished !== null && found.isPending)}
          >
            {fork.isPending ? t("makingAFork") : t("fork")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
