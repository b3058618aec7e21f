/** "Run with this": a saved version on one of the clusters. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { snapshotsQuery } from "@/api/queries";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { RunForm } from "@/components/runs/RunForm";
import dialog from "@/components/runs/StartDialog.module.css";
import { useFocusBack } from "@/components/useFocusBack";

import { t } from "../texts";
import classes from "./RunWith.module.css";

interface RunWithProps {
  name: string;
  version: string;
  number: number;
  onClose: () => void;
}

export default function RunWith({ name, version, number, onClose }: RunWithProps) {
  useFocusBack();
  const snapshots = useQuery(snapshotsQuery());
  const [chosen, setChosen] = useState<string | null>(null);
  const list = snapshots.data?.results ?? [];
  const snapshot = chosen ?? list[0]?.id;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("runWithV", { name, number })}
      size={460}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{
        content: dialog.content ?? "",
        header: dialog.header ?? "",
        title: dialog.title ?? "",
        overlay: dialog.scrim ?? "",
      }}
    >
      {snapshots.isPending ? <Outlines count={3} height={36} label={t("readingTheClusters")} /> : null}
      {snapshots.error === null ? null : (
        <Failed what={t("couldNotListClusters")} error={snapshots.error} retry={() => void snapshots.refetch()} small />
      )}
      {snapshots.data !== undefined && list.length === 0 ? <Empty small>{t("thereIsNoClusterYet")}</Empty> : null}
      <RunForm snapshot={snapshot} version={version} choosesFirst onClose={onClose}>
        <fieldset className={classes.clusters}>
          <legend>{t("cluster")}</legend>
          {list.map((one, index) => (
            <label key={one.id}>
              <input
                type="radio"
                name="cluster"
                checked={one.id === snapshot}
                onChange={() => setChosen(one.id)}
                {...(index === 0 ? { "data-autofocus": "" } : {})}
              />
              <b className="clip">{one.name}</b>
              <span className="faint num">
                {t("nNodes", { count: one.counts.nodes })}, {t("nPods", { count: one.counts.pods })}
              </span>
            </label>
          ))}
        </fieldset>
      </RunForm>
    </Modal>
  );
}
