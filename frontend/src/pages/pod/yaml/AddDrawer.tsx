/** An object that is added to a run, from a template of its kind. Checked by the server, each complaint at its line; what is typed is kept. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";

import { sendCommand } from "@/api/commands";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { settled } from "@/live/commands";
import { refusal } from "@/live/reach";
import { later } from "@/parts/later";
import { notify } from "@/shell/notify";

import { t } from "../texts";
import { marksOf, NO_MARKS } from "./marks";
import { TEMPLATES, templateOf } from "./templates";
import classes from "./YamlDrawer.module.css";

const YamlEditor = later(() => import("@/pages/configuration/text/YamlEditor"));
/** Texts that were typed and not added, by run and kind. */
const typed = new Map<string, string>();
const TOP = { line: 1 };
/** Where kubectl puts what names none; others may have a quota already, and a second one counts for nothing. */
const NAMESPACE = "default";

interface AddDrawerProps {
  run: string;
  /** Which to begin with; the first where there is no template of it. */
  kind: string | undefined;
  nodes: readonly string[];
  onClose: () => void;
}

export default function AddDrawer({ run, kind: asked, nodes, onClose }: AddDrawerProps) {
  useFocusBack();
  const [kind, setKind] = useState(() => (templateOf(asked ?? "") ?? TEMPLATES[0])?.kind ?? "");
  const [, setTyped] = useState(0);
  const [goTo, setGoTo] = useState(TOP);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const submit = useRef<HTMLButtonElement>(null);
  // A button that is off loses the focus, and Escape would leave the page then.
  useEffect(() => {
    if (error !== null && marksOf(error).length === 0) submit.current?.focus();
  }, [error]);
  const queries = useQueryClient();
  const template = templateOf(kind)?.text({ nodes, namespace: NAMESPACE }) ?? "";
  const key = `${run} ${kind}`;
  const text = typed.get(key) ?? template;
  const type = (next: string) => {
    if (next === template) typed.delete(key);
    else typed.set(key, next);
    setTyped((times) => times + 1);
  };
  const send = async () => {
    const away = refusal();
    if (away !== null) {
      setError(new Error(away));
      return;
    }
    setSending(true);
    setError(null);
    try {
      const receipt = await sendCommand(run, { type: "change", verb: "add", manifest: text });
      await settled(run, receipt);
      typed.delete(key);
      notify({ kind: "ok", title: t(receipt.kept ? "addedLater" : "objectWasAdded", { kind: plain(kind) }) });
      if (receipt.warnings.length > 0) notify({ title: t("fieldsOfItAreIgnored"), text: receipt.warnings.join(" ") });
      void queries.invalidateQueries({ queryKey: ["run", run] });
      onClose();
    } catch (failure) {
      const told = failure instanceof Error ? failure : new Error(String(failure));
      setError(told);
      const line = marksOf(told)[0]?.line ?? null;
      if (line !== null) setGoTo({ line });
      setSending(false);
    }
  };
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={620}
      transitionProps={{ duration: 0 }}
      classNames={{ overlay: classes.scrim ?? "", content: classes.content ?? "", title: classes.title ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <div className={classes.header}>
          <Drawer.Title>{t("addAnObject")}</Drawer.Title>
          <span className="grow" />
          <Drawer.CloseButton aria-label={t("close")} />
        </div>
        <form
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <div className={classes.kinds}>
            <label htmlFor="kind-to-add">{t("kindToAdd")}</label>
            <select
              id="kind-to-add"
              className={classes.select}
              value={kind}
              data-autofocus
              disabled={sending}
              onChange={(event) => {
                setKind(event.currentTarget.value);
                setError(null);
                setGoTo({ line: 1 });
              }}
            >
              {TEMPLATES.map((one) => (
                <option key={one.kind} value={one.kind}>
                  {one.kind}
                </option>
              ))}
            </select>
            <span className="grow" />
            {typed.has(key) ? (
              <Button size="sm" kind="ghost" disabled={sending} onClick={() => type(template)}>
                {t("backToTheTemplate")}
              </Button>
            ) : null}
          </div>
          <Suspense fallback={<Outlines count={10} height={20} label={t("openingTheEditor")} />}>
            <YamlEditor
              key={kind}
              text={text}
              label={t("newObjectsYAML")}
              problems={marksOf(error)}
              warnings={NO_MARKS}
              readOnly={sending}
              goTo={goTo}
              onChange={type}
            />
          </Suspense>
          <p className={classes.help}>{t("addedAtTheRunsPresent")}</p>
          {error === null ? null : (
            <div className={classes.failed}>
              <Failed small what={t("objectNotAddedTextKept")} error={error} />
            </div>
          )}
          <footer className={classes.footer}>
            <span className="grow" />
            <Button kind="ghost" onClick={onClose}>
              {t("cancelAdding")}
            </Button>
            <Button type="submit" ref={submit} sends kind="primary" disabled={text.trim() === "" || sending}>
              {t(sending ? "sendingTheObject" : "addIt")}
            </Button>
          </footer>
        </form>
      </Drawer.Content>
    </Drawer.Root>
  );
}

const plain = (kind: string) => kind.split(".")[0] ?? kind;
