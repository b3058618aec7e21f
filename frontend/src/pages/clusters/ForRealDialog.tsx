/**
 * Ends a dry run into the real thing, on the same terms. Nobody does so by accident: the cluster's name is typed, and what
 * the credentials may do is asked anew.
 */
import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { runQuery } from "@/api/queries";
import type { Scheduled } from "@/api/scheduling";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { termsOf } from "@/scheduling/words";

import { RealPodsDialog } from "./RealPodsDialog";
import classes from "./ScheduleDialog.module.css";
import { rich, t } from "./texts";
import { useScheduleForReal } from "./useFollow";

interface ForRealDialogProps {
  /** The dry run. */
  run: string;
  scheduled: Scheduled;
  onClose: () => void;
}

export default function ForRealDialog(props: ForRealDialogProps) {
  return (
    <RealPodsDialog onClose={props.onClose}>
      <Form {...props} />
    </RealPodsDialog>
  );
}

function Form({ run, scheduled, onClose }: ForRealDialogProps) {
  const { context } = scheduled;
  const configuration = useQuery(runQuery(run)).data?.configuration;
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  const begin = useScheduleForReal(run);
  const isTyped = typed.trim() === context;
  return (
    <form
      className={classes.form}
      autoComplete="off"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setWrong(!isTyped);
        if (!isTyped) event.currentTarget.querySelector<HTMLElement>("#typed")?.focus();
        else if (!begin.isPending) begin.mutate({ typed: typed.trim() });
      }}
    >
      <div className={classes.body}>
        <Modal.Title className={classes.title ?? ""}>{t("scheduleForRealIn", { context })}</Modal.Title>
        <p className="muted">{t("whatForRealIs")}</p>
        <div className={classes.terms}>
          <div className={classes.term}>
            <span>{t("configuration")}</span>
            <p>
              {configuration === undefined
                ? ""
                : t("versionOf", { name: configuration.name, number: configuration.version })}
            </p>
          </div>
          <div className={classes.term}>
            <span>{t("sameTerms")}</span>
            <div>
              {termsOf(scheduled).map((one) => (
                <p key={one}>{one}</p>
              ))}
            </div>
          </div>
        </div>
        <div className={classes.warning}>
          <Icon name="warning" size={16} />
          <p>
            <b>{t("twoSchedulers")}</b> {t("keepThemApart")}
          </p>
        </div>
        <label className={`${classes.label ?? ""} ${classes.last ?? ""}`} htmlFor="typed">
          {rich("typeTheName", { name: <code className="mono">{context}</code> })}
        </label>
        <input
          id="typed"
          data-autofocus
          className={`${classes.typed} mono`}
          value={typed}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          aria-invalid={isWrong}
          aria-describedby="typed-help"
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setWrong(false);
          }}
        />
        <p id="typed-help" className={isWrong ? classes.wrong : classes.help} role={isWrong ? "alert" : undefined}>
          {isWrong ? t("anotherNameTyped", { name: context }) : ""}
        </p>
        {begin.error === null ? null : <Failed what={t("notScheduled")} error={begin.error} small />}
      </div>
      <div className={classes.foot}>
        <span className="faint" role="status">
          {begin.isPending ? t("readingToSchedule", { context }) : ""}
        </span>
        <span className="grow" />
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind="primary" type="submit" sends aria-disabled={!isTyped} disabled={begin.isPending}>
          {begin.isPending ? t("readingToFollow") : t("scheduleForReal")}
        </Button>
      </div>
    </form>
  );
}
