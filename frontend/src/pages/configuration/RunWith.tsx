/** "Run with this": a saved version on one of the clusters. */
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
import { snapshotsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";

import classes from "./RunWith.module.css";
import { t } from "./texts";

interface RunWithProps {
  name: string;
  version: string;
  number: number;
  onClose: () => void;
}

export default function RunWith({ name, version, number, onClose }: RunWithProps) {
  const navigate = useNavigate();
  const snapshots = useQuery(snapshotsQuery());
  const [chosen, setChosen] = useState<string | null>(null);
  const [seed, setSeed] = useState("7");
  const [clock, setClock] = useState<"virtual" | "real">("virtual");
  const list = snapshots.data?.results ?? [];
  const snapshot = chosen ?? list[0]?.id ?? "";
  const validSeed = /^\d{1,9}$/.test(seed);
  const start = useMutation({
    mutationFn: () => request<Run>("/runs/", { method: "POST", body: { snapshot, configuration_version: version, seed: Number(seed), clock, approvals: "hold", paused: true } }),
    onSuccess: (run) => void navigate({ to: "/runs/$run", params: { run: run.id } }),
  });
  return (
    <Modal opened onClose={onClose} title={t("runWithV", { name, number })} size={460} closeButtonProps={{ "aria-label": t("close2") }}
      classNames={{ content: classes.content ?? "", header: classes.header ?? "", title: classes.title ?? "", overlay: classes.scrim ?? "" }}>
      <form className={classes.form} onSubmit={(event) => {
        event.preventDefault();
        if (snapshot !== "" && validSeed) start.mutate();
      }}>
        {snapshots.isPending ? <Outlines count={3} height={36} label={t("readingTheClusters")} /> : null}
        {snapshots.error === null ? null : <Failed what={t("couldNotListClusters")} error={snapshots.error} retry={() => void snapshots.refetch()} small />}
        {snapshots.data !== undefined && list.length === 0 ? <Empty small>{t("thereIsNoClusterYet")}</Empty> : null}
        <fieldset className={classes.clusters}>
          <legend>{t("cluster")}</legend>
          {list.map((one, index) => (
            <label key={one.id}>
              <input type="radio" name="cluster" checked={one.id === snapshot} onChange={() => setChosen(one.id)} {...(index === 0 ? { "data-autofocus": "" } : {})} />
              <b className="clip">{one.name}</b>
              <span className="faint num">{t("nNodes", { count: one.counts.nodes })}, {t("nPods", { count: one.counts.pods })}</span>
            </label>
          ))}
        </fieldset>
        <div className={classes.two}>
          <label htmlFor="run-seed">{t("seed")}
            <input id="run-seed" className="num" inputMode="numeric" value={seed} aria-invalid={!validSeed} onChange={(event) => setSeed(event.currentTarget.value.trim())} />
          </label>
          <div><span>{t("clock")}</span><Segmented label={t("clock")} value={clock} onChange={setClock} options={[{ value: "virtual", label: t("virtual") }, { value: "real", label: t("realTime") }]} /></div>
        </div>
        <p className={classes.help}>{validSeed ? t("sameClusterSeedAndConfiguration") : t("theSeedIsAWhole")}</p>
        {start.error === null ? null : <Failed what={t("theRunWasNotStarted")} error={start.error} small />}
        <footer className={classes.actions}>
          <Button kind="ghost" onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" icon="play" disabled={snapshot === "" || !validSeed || start.isPending}>{t("startTheRun")}</Button>
        </footer>
      </form>
    </Modal>
  );
}
