/** What a run has beside its cluster and its configuration: seed, clock, approvals. Wherever a run is begun it is this form. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { request } from "@/api/client";
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";
import { t } from "@/components/texts";

import classes from "./RunForm.module.css";

const APPROVALS = {
  get hold() {
    return t("theVirtualClockStopsBefore");
  },
  get timeout() {
    return t("theClockGoesOnWhat");
  },
  get auto() {
    return t("everyWaitThatAsksA");
  },
} as const;

interface RunFormProps {
  /** Undefined as long as none is chosen. */
  snapshot: string | undefined;
  /** Id of the configuration's version; undefined as long as none is chosen. */
  version: string | undefined;
  /** Where the one of the two is chosen that the place does not give. */
  children: ReactNode;
  /** The first field is that choice, else the button has the focus. */
  choosesFirst?: boolean;
  onStarted?: () => void;
  onClose: () => void;
}

export function RunForm({ snapshot, version, children, choosesFirst = false, onStarted, onClose }: RunFormProps) {
  const navigate = useNavigate();
  const [seed, setSeed] = useState("7");
  const [clock, setClock] = useState<"virtual" | "real">("virtual");
  const [approvals, setApprovals] = useState<keyof typeof APPROVALS>("hold");
  const validSeed = /^\d{1,9}$/.test(seed);
  const ready = snapshot !== undefined && version !== undefined && validSeed;
  const start = useMutation({
    mutationFn: () =>
      request<Run>("/runs/", {
        method: "POST",
        body: { snapshot, configuration_version: version, seed: Number(seed), clock, approvals, paused: true },
      }),
    onSuccess: (run) => {
      onStarted?.();
      void navigate({ to: "/runs/$run", params: { run: run.id } });
    },
  });
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) start.mutate();
      }}
    >
      {children}
      <label htmlFor="seed">{t("seed")}</label>
      <div>
        <input
          id="seed"
          className="num"
          inputMode="numeric"
          value={seed}
          aria-invalid={!validSeed}
          aria-describedby="seed-help"
          onChange={(event) => setSeed(event.currentTarget.value.trim())}
        />
        <p id="seed-help" className={classes.help}>
          {validSeed ? t("choosesAmongEqualNodesThe") : t("aWholeNumberPlease")}
        </p>
      </div>
      <span>{t("clock")}</span>
      <div>
        <Segmented
          label={t("clock")}
          value={clock}
          onChange={setClock}
          options={[
            { value: "virtual", label: t("virtual") },
            { value: "real", label: t("realTime") },
          ]}
        />
        <p className={classes.help}>{clock === "virtual" ? t("waitsTakeNoTimeThe") : t("aSecondIsASecond")}</p>
      </div>
      <span>{t("approvals")}</span>
      <div>
        <Segmented
          label={t("approvals")}
          value={approvals}
          onChange={setApprovals}
          options={[
            { value: "hold", label: t("hold") },
            { value: "timeout", label: t("timeOut") },
            { value: "auto", label: t("automatic") },
          ]}
        />
        <p className={classes.help}>{APPROVALS[approvals]}</p>
      </div>
      {start.error === null ? null : (
        <div className={classes.wide}>
          <Failed what={t("theRunWasNotStarted")} error={start.error} small />
        </div>
      )}
      <div className={`${classes.wide} ${classes.actions}`}>
        <Button kind="ghost" onClick={onClose}>
          {t("cancel")}
        </Button>
        <Button
          kind="primary"
          type="submit"
          sends
          icon="play"
          {...(choosesFirst ? {} : { "data-autofocus": true })}
          disabled={!ready || start.isPending}
        >
          {t("startTheRun")}
        </Button>
      </div>
    </form>
  );
}
