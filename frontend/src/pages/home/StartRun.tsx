/** What a run is made of: a cluster, a configuration, a seed, a clock. Prefilled, so that Enter starts it. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { configurationsQuery } from "@/api/queries";
import type { Configuration, Snapshot } from "@/api/types";
import { Failed, Outlines } from "@/components/Outcome";
import { RunForm } from "@/components/runs/RunForm";
import dialog from "@/components/runs/StartDialog.module.css";
import { useFocusBack } from "@/components/useFocusBack";

import classes from "./StartRun.module.css";
import { t } from "./texts";

const LAST = "playground-last-configuration";

/** The sample's own configuration, then the one of the last run, then the first that is not built in. */
function preset(configurations: readonly Configuration[], snapshot: Snapshot): string {
  const own = configurations.find(
    (one) => snapshot.configuration_slug !== "" && one.slug === snapshot.configuration_slug,
  );
  if (own !== undefined) return own.id;
  let last: string | null = null;
  try {
    last = localStorage.getItem(LAST);
  } catch {
    last = null;
  }
  const found =
    configurations.find((one) => one.id === last) ?? configurations.find((one) => !one.builtin) ?? configurations[0];
  return found?.id ?? "";
}

export default function StartRun({ snapshot, onClose }: { snapshot: Snapshot; onClose: () => void }) {
  useFocusBack();
  const configurations = useQuery(configurationsQuery());
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("runName", { name: snapshot.name })}
      size={460}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{
        content: dialog.content ?? "",
        header: dialog.header ?? "",
        title: dialog.title ?? "",
        overlay: dialog.scrim ?? "",
      }}
    >
      <p className={classes.facts}>
        {t("nodesTheSnapshotItselfIs", {
          count: snapshot.counts.nodes,
          pods: t("nPods", { count: snapshot.counts.pods }),
        })}
      </p>
      {configurations.isPending ? <Outlines count={3} height={30} label={t("readingTheConfigurations")} /> : null}
      {configurations.error === null ? null : (
        <Failed
          what={t("couldNotListConfigurations")}
          error={configurations.error}
          retry={() => void configurations.refetch()}
        />
      )}
      {configurations.data === undefined ? null : (
        <Form snapshot={snapshot} configurations={configurations.data.results} onClose={onClose} />
      )}
    </Modal>
  );
}

function Form({
  snapshot,
  configurations,
  onClose,
}: {
  snapshot: Snapshot;
  configurations: readonly Configuration[];
  onClose: () => void;
}) {
  const [configuration, setConfiguration] = useState(() => preset(configurations, snapshot));
  const keep = () => {
    try {
      localStorage.setItem(LAST, configuration);
    } catch {
      // Without storage the next dialog starts from the first configuration.
    }
  };
  return (
    <RunForm
      snapshot={snapshot.id}
      version={configurations.find((one) => one.id === configuration)?.latest.id}
      onStarted={keep}
      onClose={onClose}
    >
      <label htmlFor="configuration">{t("configuration")}</label>
      <select
        id="configuration"
        value={configuration}
        onChange={(event) => setConfiguration(event.currentTarget.value)}
      >
        {configurations.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name} {one.builtin ? t("builtInInBrackets") : `v${one.latest.number}`}
          </option>
        ))}
      </select>
    </RunForm>
  );
}
