/** Deletes the chosen runs; those that stay are named, each with the reason. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { deleteRuns } from "@/api/queries";
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { bytes } from "@/format/number";
import { tellDeleted } from "@/keeping/deletion";

import classes from "./RunsPage.module.css";
import { t } from "./texts";

interface DeleteRunsProps {
  runs: readonly Run[];
  /** What was asked for and is still there. */
  onDeleted: (kept: readonly Run[]) => void;
  onClose: () => void;
}

export default function DeleteRuns({ runs, onDeleted, onClose }: DeleteRunsProps) {
  useFocusBack();
  const queries = useQueryClient();
  const deletion = useMutation({
    mutationFn: () => deleteRuns(runs.map((run) => run.id)),
    onSuccess: ({ deleted, kept }) => {
      if (deleted.length > 0)
        tellDeleted(
          queries,
          t("runsWereDeleted", { count: deleted.length }),
          deleted.map((id) => ({ kind: "run", id })),
        );
      onDeleted(runs.filter((run) => !deleted.includes(run.id)));
      if (kept.length === 0) onClose();
    },
  });
  const kept = deletion.data?.kept ?? [];
  const size = runs.reduce((sum, run) => sum + run.size_bytes, 0);
  const nameOf = (id: string) => runs.find((run) => run.id === id)?.number ?? id;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("deleteRuns", { count: kept.length > 0 ? kept.length : runs.length })}
      size={460}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}
    >
      {kept.length > 0 ? (
        <>
          <p role="alert">{t("theseStay")}</p>
          <ul className={classes.list}>
            {kept.map((one) => (
              <li key={one.id}>
                <b>{nameOf(one.id)}</b> {one.why}
              </li>
            ))}
          </ul>
          <div className={classes.actions}>
            <Button onClick={onClose} data-autofocus>
              {t("close")}
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>{t("theyCanBeBroughtBack", { bytes: bytes(size) })}</p>
          <ul className={classes.list}>
            {runs.map((run) => (
              <li key={run.id}>
                <b>{run.number}</b>{" "}
                {t("nameWithConfiguration", { name: run.snapshot.name, configuration: run.configuration.name })}
              </li>
            ))}
          </ul>
          {deletion.error === null ? null : <Failed what={t("nothingWasDeleted")} error={deletion.error} small />}
          <div className={classes.actions}>
            <Button kind="ghost" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button kind="danger-solid" sends disabled={deletion.isPending} onClick={() => deletion.mutate()}>
              {t("delete")}
            </Button>
          </div>
        </>
      )}
    </Modal>
  );
}
