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
import { type ReactNode, useState } from "react";

import { ApiError } from "@/api/client";
import { configurationQuery, saveVersion, versionQuery } from "@/api/configurationQueries";
import type { Change, Meanwhile } from "@/api/configurationTypes";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { exact, wallTime } from "@/format/time";
import { notify } from "@/shell/notify";

import { DiffNumbers, DiffView } from "./DiffView";
import { useEditing } from "./editing";
import classes from "./SaveDrawer.module.css";
import { changesCount, meanwhileSentence } from "./words";

interface SaveDrawerProps {
  configuration: string;
  onClose: () => void;
  /** The saved version's id, after "Save and run". */
  onRun: (version: string) => void;
}

export default function SaveDrawer(props: SaveDrawerProps) {
  return (
    <Drawer.Root opened onClose={props.onClose} position="right" size={560} transitionProps={{ duration: 160 }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}>
      <Drawer.Overlay />
      <Drawer.Content><Body {...props} /></Drawer.Content>
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
  const blocked = errors > 0 ? "There are errors; nothing is saved until they are mended." : same ? "Nothing differs from the saved version." : meanwhile !== null ? "Choose first what to do with the other version." : "";
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
      notify({ kind: "ok", title: `Saved as version ${version.number}.` });
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
    <form className={classes.form} onSubmit={(event) => {
      event.preventDefault();
      if (blocked === "" && !saving && !state.busy) void save(false);
    }}>
      <div className={classes.header}>
        <Drawer.Title className={classes.title ?? ""}>Save as version {(meanwhile?.number ?? state.base) + 1}</Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label="Close" />
      </div>
      <div className={classes.body}>
        {comparison === null ? <p className="muted">Comparing with version {state.base}…</p> : (
          <>
            <p className={classes.summary}>
              <Chip><b>{changesCount(comparison.changes)}</b>{changesCount(comparison.changes) === 1 ? "change" : "changes"}</Chip>
              <DiffNumbers diff={comparison.diff} />
            </p>
            <Changes changes={comparison.changes} several={(saved?.effective?.profiles.length ?? 1) > 1 || (examination.effective?.profiles.length ?? 1) > 1} />
            <DiffView diff={comparison.diff} label={`Lines that differ from version ${state.base}`} />
          </>
        )}
        {meanwhile === null ? null : <OtherVersion meanwhile={meanwhile} configuration={configuration} onClose={onClose} />}
        <label className={classes.label} htmlFor="what-changed">What changed <span className="faint">optional</span></label>
        <input id="what-changed" value={comment} maxLength={300} autoComplete="off" data-autofocus onChange={(event) => setComment(event.currentTarget.value)} />
        {error === null ? null : <Failed what="Not saved, your text is kept." error={error} retry={() => void save(false)} />}
      </div>
      <footer className={classes.footer}>
        <span className="faint">{blocked === "" ? "Runs name the version they used." : blocked}</span>
        <span className="grow" />
        <Button onClick={onClose}>Back</Button>
        <Button type="submit" disabled={blocked !== "" || saving || state.busy}>{saving ? "Saving…" : "Save"}</Button>
        <Button kind="primary" disabled={blocked !== "" || saving || state.busy} onClick={() => void save(true)}>Save and run</Button>
      </footer>
    </form>
  );
}

export function Changes({ changes, several }: { changes: readonly Change[]; several: boolean }): ReactNode {
  if (changes.length === 0) return <p className={classes.nothing}>Nothing takes another effect: only comments, order of lines or layout differ.</p>;
  return (
    <ul className={classes.changes}>
      {changes.map((change) => (
        <li key={`${change.profile ?? ""} ${change.plugin ?? ""}`}>
          <b>{change.plugin ?? change.profile ?? "All profiles"}</b>
          {several && change.plugin !== null && change.profile !== null ? <span className="faint"> in {change.profile}</span> : null} {change.what.join(", ")}
        </li>
      ))}
    </ul>
  );
}

function OtherVersion({ meanwhile, configuration, onClose }: { meanwhile: Meanwhile; configuration: string; onClose: () => void }) {
  const { store, state } = useEditing();
  const client = useQueryClient();
  const [looking, setLooking] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const choose = async (which: "both" | "mine" | "theirs") => {
    setFailure(null);
    try {
      const theirs = await client.query(versionQuery(configuration, meanwhile.number));
      const text = which === "theirs" ? theirs.text : which === "both" && meanwhile.merged !== null ? meanwhile.merged : state.text;
      store.rebase(meanwhile.number, theirs.text, text);
      await client.invalidateQueries({ queryKey: ["configurations", configuration, "versions"] });
      if (which === "theirs") onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const when = wallTime(new Date(meanwhile.when).getTime()).slice(0, 5);
  return (
    <section className={classes.notice} aria-label="Saved meanwhile" role="alert">
      <Icon name="info" size={15} />
      <div>
        <p><b title={exact(meanwhile.when)}>{meanwhile.who === "" ? "Somebody" : meanwhile.who} saved v{meanwhile.number} at {when},</b> after you began this draft.{" "}
          {meanwhileSentence(meanwhile)} <button type="button" className="leads" aria-expanded={looking} onClick={() => setLooking(!looking)}>{looking ? "Close it" : "Look at it"}</button></p>
        {looking ? <div className={classes.theirs}><Changes changes={meanwhile.changes} several={false} /><DiffView diff={meanwhile.diff} label={`What version ${meanwhile.number} changed`} /></div> : null}
        <p className={classes.choices}>
          {meanwhile.merged === null ? null : <Button size="sm" kind="primary" onClick={() => void choose("both")}>Keep both</Button>}
          <Button size="sm" onClick={() => void choose("mine")} title={`Version ${meanwhile.number} stays in the list; the next one has your text`}>Keep my text</Button>
          <Button size="sm" onClick={() => void choose("theirs")} title="Undo brings your text back">Load theirs</Button>
        </p>
        {failure === null ? null : <Failed what={`Version ${meanwhile.number} could not be read.`} error={failure} small />}
      </div>
    </section>
  );
}
