/** What a run is made of: a cluster, a configuration, a seed, a clock. Prefilled, so that Enter starts it. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { request } from "@/api/client";
import { configurationsQuery } from "@/api/queries";
import type { Configuration, Run, Snapshot } from "@/api/types";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";

import classes from "./StartRun.module.css";
import { t } from "./texts";

const LAST = "playground-last-configuration";
const APPROVALS = {
  get hold() { return t("theVirtualClockStopsBefore"); },
  get timeout() { return t("theClockGoesOnWhat"); },
  get auto() { return t("everyWaitThatAsksA"); },
} as const;

/** The sample's own configuration, then the one of the last run, then the first that is not built in. */
function preset(configurations: readonly Configuration[], snapshot: Snapshot): string {
  const own = configurations.find((one) => snapshot.configuration_slug !== "" && one.slug === snapshot.configuration_slug);
  if (own !== undefined) return own.id;
  let last: string | null = null;
  try {
    last = localStorage.getItem(LAST);
  } catch {
    last = null;
  }
  const found = configurations.find((one) => one.id === last) ?? configurations.find((one) => !one.builtin) ?? configurations[0];
  return found?.id ?? "";
}

export default function StartRun({ snapshot, onClose }: { snapshot: Snapshot; onClose: () => void }) {
  const configurations = useQuery(configurationsQuery());
  return (
    <Modal opened onClose={onClose} title={t("runName", { name: snapshot.name })} size={460} closeButtonProps={{ "aria-label": t("close") }}
      classNames={{ content: classes.content ?? "", header: classes.header ?? "", title: classes.title ?? "", overlay: classes.scrim ?? "" }}>
      <p className={classes.facts}>{t("nodesTheSnapshotItselfIs", { count: snapshot.counts.nodes, pods: t("nPods", { count: snapshot.counts.pods }) })}</p>
      {configurations.isPending ? <Outlines count={3} height={30} label={t("readingTheConfigurations")} /> : null}
      {configurations.error === null ? null
        : <Failed what={t("couldNotListConfigurations")} error={configurations.error} retry={() => void configurations.refetch()} />}
      {configurations.data === undefined ? null
        : <Form snapshot={snapshot} configurations={configurations.data.results} onClose={onClose} />}
    </Modal>
  );
}

function Form({ snapshot, configurations, onClose }: { snapshot: Snapshot; configurations: readonly Configuration[]; onClose: () => void }) {
  const navigate = useNavigate();
  const [configuration, setConfiguration] = useState(() => preset(configurations, snapshot));
  const [seed, setSeed] = useState("7");
  const [clock, setClock] = useState<"virtual" | "real">("virtual");
  const [approvals, setApprovals] = useState<keyof typeof APPROVALS>("hold");
  const chosen = configurations.find((one) => one.id === configuration);
  const validSeed = /^\d{1,9}$/.test(seed);
  const start = useMutation({
    mutationFn: () =>
      request<Run>("/runs/", {
        method: "POST",
        body: { snapshot: snapshot.id, configuration_version: chosen?.latest.id, seed: Number(seed), clock, approvals, paused: true },
      }),
    onSuccess: (run) => {
      try {
        localStorage.setItem(LAST, configuration);
      } catch {
        // Without storage the next dialog starts from the first configuration.
      }
      void navigate({ to: "/runs/$run", params: { run: run.id } });
    },
  });
  return (
    <form className={classes.form} onSubmit={(event) => {
      event.preventDefault();
      if (chosen !== undefined && validSeed) start.mutate();
    }}>
      <label htmlFor="configuration">{t("configuration")}</label>
      <select id="configuration" value={configuration} onChange={(event) => setConfiguration(event.currentTarget.value)}>
        {configurations.map((one) => <option key={one.id} value={one.id}>{one.name} {one.builtin ? t("builtIn2") : `v${one.latest.number}`}</option>)}
      </select>
      <label htmlFor="seed">{t("seed")}</label>
      <div>
        <input id="seed" className="num" inputMode="numeric" value={seed} aria-invalid={!validSeed} aria-describedby="seed-help"
          onChange={(event) => setSeed(event.currentTarget.value.trim())} />
        <p id="seed-help" className={classes.help}>{validSeed ? t("choosesAmongEqualNodesThe") : t("aWholeNumberPlease")}</p>
      </div>
      <span id="clock-label">{t("clock")}</span>
      <div>
        <Segmented label={t("clock")} value={clock} onChange={setClock} options={[{ value: "virtual", label: t("virtual") }, { value: "real", label: t("realTime") }]} />
        <p className={classes.help}>{clock === "virtual" ? t("waitsTakeNoTimeThe") : t("aSecondIsASecond")}</p>
      </div>
      <span id="approvals-label">{t("approvals")}</span>
      <div>
        <Segmented label={t("approvals")} value={approvals} onChange={setApprovals}
          options={[{ value: "hold", label: t("hold") }, { value: "timeout", label: t("timeOut") }, { value: "auto", label: t("automatic") }]} />
        <p className={classes.help}>{APPROVALS[approvals]}</p>
      </div>
      {start.error === null ? null : <div className={classes.wide}><Failed what={t("theRunWasNotStarted")} error={start.error} small /></div>}
      <div className={`${classes.wide} ${classes.actions}`}>
        <Button kind="ghost" onClick={onClose}>{t("cancel")}</Button>
        <Button kind="primary" type="submit" icon="play" data-autofocus disabled={chosen === undefined || !validSeed || start.isPending}>{t("startTheRun")}</Button>
      </div>
    </form>
  );
}
