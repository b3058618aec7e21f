/**
 * "What if we had used the other configuration since then": a fork of a run beside a real cluster, with another
 * configuration or its own, and with what came to the cluster afterwards or without.
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

import { configurationsQuery, forkRun, stepQuery } from "@/api/queries";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import dialog from "@/components/runs/StartDialog.module.css";
import { useFocusBack } from "@/components/useFocusBack";
import { count } from "@/format/number";
import { exact } from "@/format/time";

import classes from "./ForkDialog.module.css";
import { t } from "./texts";

interface ForkDialogProps {
  run: string;
  /** Its cluster's. */
  cluster: string;
  step: number;
  onClose: () => void;
}

export default function ForkDialog({ run, cluster, step, onClose }: ForkDialogProps) {
  useFocusBack();
  const navigate = useNavigate();
  const configurations = useQuery(configurationsQuery());
  const noted = useQuery(stepQuery(run, step));
  const [version, setVersion] = useState("");
  const [arrivals, setArrivals] = useState(true);
  const fork = useMutation({
    mutationFn: () =>
      forkRun(run, { position: step, arrivals, ...(version === "" ? {} : { configuration_version: version }) }),
    onSuccess: (made) => {
      onClose();
      return navigate({ to: "/runs/$run", params: { run: made.id } });
    },
  });
  const at = noted.data?.step?.clock;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("forkAtStep", { step: count(step) })}
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
          if (!fork.isPending) fork.mutate();
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
        <div className={classes.check}>
          <input
            id="arrivals"
            type="checkbox"
            checked={arrivals}
            aria-describedby="arrivals-help"
            onChange={(event) => setArrivals(event.currentTarget.checked)}
          />
          <div>
            <label htmlFor="arrivals">{t("takeWhatCame", { cluster })}</label>
            <p id="arrivals-help" className="faint">
              {arrivals ? t("whatComes") : t("whatDoesNotCome")}
            </p>
          </div>
        </div>
        {configurations.error === null ? null : (
          <Failed what={t("noConfigurations")} error={configurations.error} small />
        )}
        {fork.error === null ? null : <Failed what={t("noForkWasMade")} error={fork.error} small />}
        <div className={classes.foot}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" sends disabled={fork.isPending}>
            {fork.isPending ? t("makingAFork") : t("fork")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
