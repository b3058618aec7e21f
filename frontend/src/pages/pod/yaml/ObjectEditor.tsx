/** An object of a run as text that can be changed: checked by the server, each complaint at its line, nothing typed is lost. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, Suspense, useState } from "react";

import { ApiError } from "@/api/client";
import { sendCommand } from "@/api/commands";
import { type ObjectRef, yamlQuery } from "@/api/podQueries";
import type { ObjectYaml } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { settled } from "@/live/commands";
import { refusal } from "@/live/reach";
import { later } from "@/parts/later";
import { notify } from "@/shell/notify";

import { t } from "../texts";
import { dropDraft, keepDraft, type ObjectDraft } from "./drafts";
import { marksOf, NO_MARKS } from "./marks";
import { objectLabel } from "./objects";
import classes from "./YamlDrawer.module.css";

const YamlEditor = later(() => import("@/pages/configuration/text/YamlEditor"));

interface ObjectEditorProps {
  run: string;
  object: ObjectRef;
  /** What is typed so far, or the object as it was read. */
  draft: ObjectDraft;
  onDone: () => void;
}

export function ObjectEditor({ run, object, draft, onDone }: ObjectEditorProps) {
  const queries = useQueryClient();
  const [begun, setBegun] = useState(draft);
  const [text, setText] = useState(draft.text);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [newer, setNewer] = useState<ObjectYaml | null>(null);
  const [goTo, setGoTo] = useState({ line: firstOwnLine(draft.text) });
  const changed = text !== begun.read;
  const type = (next: string) => {
    keepDraft(run, object, { ...begun, text: next });
    setText(next);
  };
  const drop = () => {
    dropDraft(run, object);
    onDone();
  };
  const beginAgain = ({ yaml, version }: ObjectYaml) => {
    dropDraft(run, object);
    setBegun({ read: yaml, text: yaml, version });
    setText(yaml);
    setError(null);
    setNewer(null);
  };
  const send = async (over: boolean) => {
    const away = refusal();
    if (away !== null) {
      setError(new Error(away));
      return;
    }
    setSending(true);
    setError(null);
    setNewer(null);
    try {
      const expected = over ? {} : { resource_version: begun.version };
      const receipt = await sendCommand(run, {
        type: "change",
        verb: "replace",
        manifest: text,
        ...object,
        ...expected,
      });
      await settled(run, receipt);
      dropDraft(run, object);
      notify({
        kind: "ok",
        title: t(receipt.kept ? "changeIsKept" : "objectWasChanged", { objectLabel: objectLabel(object) }),
      });
      if (receipt.warnings.length > 0) notify({ title: t("fieldsOfItAreIgnored"), text: receipt.warnings.join(" ") });
      void queries.invalidateQueries({ queryKey: ["run", run] });
      onDone();
    } catch (failure) {
      const told = failure instanceof Error ? failure : new Error(String(failure));
      setError(told);
      const line = marksOf(told)[0]?.line ?? null;
      if (line !== null) setGoTo({ line });
      if (told instanceof ApiError && told.body.code === "refused") {
        const now = await queries.query(yamlQuery(run, object)).catch(() => null);
        if (now !== null && now.version !== begun.version) setNewer(now);
      }
      setSending(false);
    }
  };
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        void send(false);
      }}
    >
      <Suspense fallback={<Outlines count={10} height={20} label={t("openingTheEditor")} />}>
        <YamlEditor
          text={text}
          label={t("yAMLOf", { objectLabel: objectLabel(object) })}
          problems={marksOf(error)}
          warnings={NO_MARKS}
          readOnly={sending}
          goTo={goTo}
          onChange={type}
        />
      </Suspense>
      <p className={classes.help}>{t("changedAtTheRunsPresent")}</p>
      {error === null ? null : (
        <div className={classes.failed}>
          <Failed
            small
            what={t("objectNotChangedTextKept")}
            error={error}
            more={newerChoices(newer, send, beginAgain)}
          />
        </div>
      )}
      <footer className={classes.footer}>
        <span className="grow" />
        <Button kind="ghost" onClick={drop}>
          {t(changed ? "dropMyChanges" : "cancelEditing")}
        </Button>
        <Button type="submit" sends kind="primary" disabled={!changed || sending}>
          {t(sending ? "sendingTheObject" : "applyTheChange")}
        </Button>
      </footer>
    </form>
  );
}

/** Somebody or something has changed it since it was read: whose text counts is for the person to say. */
function newerChoices(
  newer: ObjectYaml | null,
  send: (over: boolean) => Promise<void>,
  beginAgain: (now: ObjectYaml) => void,
): ReactNode {
  if (newer === null) return null;
  return (
    <span className={classes.choices}>
      <Button size="sm" sends onClick={() => void send(true)}>
        {t("applyMineOverIt")}
      </Button>
      <Button size="sm" onClick={() => beginAgain(newer)}>
        {t("beginWithItAsItIs")}
      </Button>
    </span>
  );
}

/** Below what every object has. */
function firstOwnLine(text: string): number {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => /^(?!apiVersion|kind|metadata)\w+:/.test(line));
  return at < 0 ? 1 : at + 1;
}
