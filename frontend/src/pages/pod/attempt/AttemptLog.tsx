/** The attempt as kube-scheduler's log has it; read when it is opened. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { attemptLogQuery } from "@/api/podQueries";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";

import { t } from "../texts";
import { copyText } from "../yaml/copyText";
import classes from "./AttemptLog.module.css";

const LEVELS = ["2", "4", "10"] as const;
const FIRST_LINES = 200;
const ALL_LINES = 60_000;

export function AttemptLog({ run, number }: { run: string; number: number }) {
  const [open, setOpen] = useState(false);
  return (
    <details className={classes.log} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("logOfKubeScheduler")}</summary>
      {open ? <Lines run={run} number={number} /> : null}
    </details>
  );
}

function Lines({ run, number }: { run: string; number: number }) {
  const [level, setLevel] = useState<string>("4");
  const [limit, setLimit] = useState(FIRST_LINES);
  const log = useQuery(attemptLogQuery(run, number, Number(level), limit));
  return (
    <>
      <div className={classes.bar}>
        <Segmented
          label={t("logLevel")}
          value={level}
          onChange={(chosen) => {
            setLevel(chosen);
            setLimit(FIRST_LINES);
          }}
          options={LEVELS.map((each) => ({ value: each, label: `-v=${each}` }))}
        />
        {log.data === undefined ? null : (
          <Button size="sm" onClick={() => void copyText(log.data.lines.join("\n"))}>
            {t("copy")}
          </Button>
        )}
      </div>
      {log.data === undefined ? (
        log.error === null ? (
          <Outlines count={6} height={18} label={t("readingTheLog")} />
        ) : (
          <Failed what={t("theLogCouldNotBe")} error={log.error} retry={() => void log.refetch()} />
        )
      ) : (
        <>
          <ScrollRegion className={classes.lines} label={t("logOfKubeScheduler")}>
            <pre>{log.data.lines.join("\n")}</pre>
          </ScrollRegion>
          {log.data.count > log.data.lines.length ? (
            <Button size="sm" onClick={() => setLimit(ALL_LINES)}>
              {t("allLogLines", { count: log.data.count })}
            </Button>
          ) : null}
        </>
      )}
    </>
  );
}
