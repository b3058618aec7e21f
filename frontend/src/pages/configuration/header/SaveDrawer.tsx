/**
 * Before anything is saved: what it changes in words and in lines, what somebody else saved meanwhile, and a comment. A save
 * that fails keeps the text here and in this browser.
 */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError } from "@/api/client";
import { configurationQuery, saveVersion, versionQuery } from "@/api/configurationQueries";
import type { Meanwhile } from "@/api/configurationTypes";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { exact, wallTime } from "@/format/time";
import { notify } from "@/shell/notify";

import { Changes } from "../changes/Changes";
import { DiffNumbers, DiffView } from "../changes/DiffView";
import { useEditing } from "../draft/editing";
import { rich, t } from "../texts";
import { changesCount, meanwhileSentence } from "../words";
import classes from "./SaveDrawer.module.css";

interface SaveDrawerProps {
  configuration: string;
  onClose: () => void;
  /** The saved version's id, after "Save and run". */
  onRun: (version: string) => void;
}

export default function SaveDrawer(props: SaveDrawerProps) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={props.onClose}
      position="right"
      size={560}
      transitionProps={{ duration: 160 }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <Body {...props} />
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Body({ configuration, onClose, onRun }: SaveDrawerProps) {
  const { store, state, examination, saved } = useEditing();
  const client = useQueryClient();
  const [comment, setComment] = useState("");
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [met, setMet] = useState<Meanwhile | null>(null);
  const meanwhile = state.result?.saved_meanwhile ?? (met !== null && met.number > state.base ? met : null);
  const comparison = state.result?.comparison ?? null;
  const errors = examination.errors.length;
  const same = comparison !== null && comparison.diff.lines.length === 0;
  const blocked =
    errors > 0
      ? t("thereAreErrorsNothingIs")
      : same
        ? t("saveBlockedNothingDiffers")
        : meanwhile !== null
          ? t("chooseFirstWhatToDo")
          : "";
  const save = async (thenRun: boolean) => {
    setSaving(true);
    setError(null);
    try {
      await store.settled();
      const { text, base } = store.get();
      const version = await saveVersion(configuration, { text, base_version: base, comment: comment.trim() });
      client.setQueryData(versionQuery(configuration, version.number).queryKey, version);
      client.setQueryData(configurationQuery(configuration).queryKey, version.configuration);
      store.saved(version.number, text);
      await client.invalidateQueries({ queryKey: ["configurations"] });
      notify({ kind: "ok", title: t("savedAsVersion", { number: version.number }) });
      onClose();
      if (thenRun) onRun(version.id);
    } catch (failure) {
      const known = failure instanceof ApiError && failure.status === 409 && typeof failure.body.number === "number";
      if (known) setMet(failure.body as unknown as Meanwhile);
      else setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSaving(false);
    }
  };
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (blocked === "" && !saving && !state.busy) void save(false);
      }}
    >
      <div className={classes.header}>
        <Drawer.Title className={classes.title ?? ""}>
          {t("saveAsVersion", { number: (meanwhile?.number ?? state.base) + 1 })}
        </Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label={t("close")} />
      </div>
      <div className={classes.body}>
        {comparison === null ? (
          <p className="muted">{t("comparingWithVersion", { base: state.base })}</p>
        ) : (
          <>
            <p className={classes.summary}>
              <Chip>
                {rich("changesCounted", {
                  count: changesCount(comparison.changes),
                  b: (inside) => <b>{inside}</b>,
                })}
              </Chip>
              <DiffNumbers diff={comparison.diff} />
            </p>
            <Changes
              changes={comparison.changes}
              several={
                (saved?.effective?.profiles.length ?? 1) > 1 || (examination.effective?.profiles.length ?? 1) > 1
              }
            />
            <DiffView diff={comparison.diff} label={t("linesThatDifferFromVersion", { base: state.base })} />
          </>
        )}
        {meanwhile === null ? null : (
          <OtherVersion meanwhile={meanwhile} configuration={configuration} onClose={onClose} />
        )}
        <label className={classes.label} htmlFor="what-changed">
          {t("whatChanged")} <span className="faint">{t("optional")}</span>
        </label>
        <input
          id="what-changed"
          value={comment}
          maxLength={300}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setComment(event.currentTarget.value)}
        />
        {error === null ? null : <Failed what={t("notSavedYourTextIs")} error={error} retry={() => void save(false)} />}
      </div>
      <footer className={classes.footer}>
        <span className="faint">{blocked === "" ? t("runsNameTheVersionThey") : blocked}</span>
        <span className="grow" />
        <Button onClick={onClose}>{t("back")}</Button>
        <Button type="submit" sends disabled={blocked !== "" || saving || state.busy}>
          {saving ? t("saving") : t("saveInDrawer")}
        </Button>
        <Button kind="primary" sends disabled={blocked !== "" || saving || state.busy} onClick={() => void save(true)}>
          {t("saveAndRun")}
        </Button>
      </footer>
    </form>
  );
}

function OtherVersion({
  meanwhile,
  configuration,
  onClose,
}: {
  meanwhile: Meanwhile;
  configuration: string;
  onClose: () => void;
}) {
  const { store, state } = useEditing();
  const client = useQueryClient();
  const [looking, setLooking] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const choose = async (which: "both" | "mine" | "theirs") => {
    setFailure(null);
    try {
      const theirs = await client.query(versionQuery(configuration, meanwhile.number));
      const text =
        which === "theirs"
          ? theirs.text
          : which === "both" && meanwhile.merged !== null
            ? meanwhile.merged
            : state.text;
      store.rebase(meanwhile.number, theirs.text, text);
      await client.invalidateQueries({ queryKey: ["configurations", configuration, "versions"] });
      if (which === "theirs") onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const when = wallTime(new Date(meanwhile.when).getTime()).slice(0, 5);
  return (
    <section className={classes.notice} aria-label={t("savedMeanwhile")} role="alert">
      <Icon name="info" size={15} />
      <div>
        <p>
          <b title={exact(meanwhile.when)}>
            {t("savedVAt", {
              which: meanwhile.who === "" ? t("somebody") : meanwhile.who,
              number: meanwhile.number,
              when,
            })}
          </b>{" "}
          {t("afterYouBeganThisDraft", { meanwhileSentence: meanwhileSentence(meanwhile) })}{" "}
          <button type="button" className="leads" aria-expanded={looking} onClick={() => setLooking(!looking)}>
            {looking ? t("closeIt") : t("lookAtIt")}
          </button>
        </p>
        {looking ? (
          <div className={classes.theirs}>
            <Changes changes={meanwhile.changes} several={false} />
            <DiffView diff={meanwhile.diff} label={t("whatVersionChanged", { number: meanwhile.number })} />
          </div>
        ) : null}
        <p className={classes.choices}>
          {meanwhile.merged === null ? null : (
            <Button size="sm" kind="primary" onClick={() => void choose("both")}>
              {t("keepBoth")}
            </Button>
          )}
          <Button
            size="sm"
            onClick={() => void choose("mine")}
            title={t("versionStaysInTheList", { number: meanwhile.number })}
          >
            {t("keepMyText")}
          </Button>
          <Button size="sm" onClick={() => void choose("theirs")} title={t("undoBringsYourTextBack")}>
            {t("loadTheirs")}
          </Button>
        </p>
        {failure === null ? null : (
          <Failed what={t("versionCouldNotBeRead", { number: meanwhile.number })} error={failure} small />
        )}
      </div>
    </section>
  );
}
