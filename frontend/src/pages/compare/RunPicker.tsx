/** A run for one side of the comparison, found by cluster, configuration and time. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";

import { type RunFilter, runsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { RunFilters } from "@/components/runs/RunFilters";
import { RunStateWord } from "@/components/runs/RunStateWord";
import { useFocusBack } from "@/components/useFocusBack";
import { day, exact } from "@/format/time";

import classes from "./RunPicker.module.css";
import { t } from "./texts";
import { configurationName } from "./words";

const LIMIT = 20;

interface RunPickerProps {
  side: "a" | "b";
  chosen: string | undefined;
  /** The cluster of the other side: what one most likely looks for. */
  cluster: string | undefined;
  onChoose: (run: Run) => void;
  onClose: () => void;
}

export default function RunPicker({ side, chosen, cluster, onChoose, onClose }: RunPickerProps) {
  useFocusBack();
  const [filter, setFilter] = useState<RunFilter>({ snapshot: cluster });
  const [offset, setOffset] = useState(0);
  const runs = useQuery(runsQuery(offset, LIMIT, filter));
  const narrow = useCallback((part: RunFilter) => {
    setFilter((old) => ({ ...old, ...part }));
    setOffset(0);
  }, []);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("chooseRun", { side: side.toUpperCase() })}
      size={760}
      closeButtonProps={{ "aria-label": t("close") }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}
    >
      <RunFilters value={filter} onChange={narrow} />
      {runs.isPending ? <Outlines count={6} height={36} label={t("readingTheRuns")} /> : null}
      {runs.error === null ? null : (
        <Failed what={t("couldNotListRuns")} error={runs.error} retry={() => void runs.refetch()} />
      )}
      {runs.data?.results.length === 0 ? <Empty>{t("noRunMatches")}</Empty> : null}
      <ul className={classes.list} aria-label={t("runs")}>
        {runs.data?.results.map((run) => (
          <li key={run.id}>
            <button
              type="button"
              className={classes.run}
              aria-current={run.id === chosen ? "true" : undefined}
              onClick={() => onChoose(run)}
            >
              <span className={classes.names}>
                <b className="clip" title={run.configuration.name}>
                  {configurationName(run)}
                </b>
                <em className="clip">
                  {t("runOfCluster", { run: run.number, cluster: run.snapshot.name, seed: run.seed })}
                </em>
              </span>
              <RunStateWord state={run.state} />
              <time className="faint num" dateTime={run.started_at} title={exact(run.started_at)}>
                {day(run.started_at, runs.dataUpdatedAt, true)}
              </time>
            </button>
          </li>
        ))}
      </ul>
      <Pager offset={offset} limit={LIMIT} total={runs.data?.count ?? 0} onChoose={setOffset} />
    </Modal>
  );
}
