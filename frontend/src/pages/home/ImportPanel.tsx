/** Drop, paste or choose a cluster; look at what is in it; leave parts out; only then is anything stored. */
import "@mantine/core/styles/Loader.layer.css";
import "@mantine/core/styles/LoadingOverlay.layer.css";
import "@mantine/dropzone/styles.layer.css";

import { Dropzone } from "@mantine/dropzone";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type RefObject, Suspense, useRef, useState } from "react";

import { request, type Upload, upload } from "@/api/client";
import type { Import, Snapshot } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { bytes } from "@/format/number";
import { later } from "@/parts/later";

import classes from "./ImportPanel.module.css";
import { pastedFile } from "./importing";
import { rich, t } from "./texts";

const ImportPreview = later(() => import("./ImportPreview"));
const route = getRouteApi("/");
const LARGEST = 512 * 1024 * 1024;

interface Sending {
  name: string;
  sent: number;
  total: number;
  /** Only an upload can be cancelled; a pasted text is one short request. */
  cancel?: () => void;
}

const SAMPLE = "apiVersion: v1\nkind: Node\n…";

export function ImportPanel({ onRun }: { onRun: (snapshot: Snapshot) => void }) {
  const { edits, me } = useMe();
  const { import: importId } = route.useSearch();
  const navigate = useNavigate({ from: "/" });
  const queries = useQueryClient();
  const [pasting, setPasting] = useState(false);
  const [pasted, setPasted] = useState("");
  const [sending, setSending] = useState<Sending | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const openFile = useRef<() => void>(null);
  const textArea = useRef<HTMLTextAreaElement>(null);
  /** What was sent last: where there is something to choose anew. */
  const [sentText, setSentText] = useState(false);

  const show = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, import: id }), replace: true });
  const began = async (name: string, total: number, promise: Promise<unknown>) => {
    setError(null);
    show(undefined);
    setSending({ name, sent: 0, total });
    try {
      const started = (await promise) as Import;
      queries.removeQueries({ queryKey: ["import"] });
      setPasting(false);
      show(started.id);
    } catch (failure) {
      const aborted = failure instanceof DOMException && failure.name === "AbortError";
      if (!aborted) setError(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      setSending(null);
    }
  };
  const sendFile = (file: File) => {
    setSentText(false);
    const started: Upload = upload("/imports/", file, (sent, total) =>
      setSending({ name: file.name, sent, total, cancel: () => started.abort() }),
    );
    void began(file.name, file.size, started.promise);
  };
  const sendText = () => {
    setSentText(true);
    void began(t("thePastedText"), pasted.length, request("/imports/", { method: "POST", body: { text: pasted } }));
  };
  const takeLarge = (text: string): boolean => {
    const file = pastedFile(text, `${t("thePastedText")}.yaml`);
    if (file !== null) sendFile(file);
    return file !== null;
  };
  /** Back to where the file or the text came from; what was said of it is of the past then. */
  const again = () => {
    setError(null);
    show(undefined);
    setPasting(sentText);
    if (sentText) requestAnimationFrame(() => textArea.current?.focus());
    else if (!pasting) openFile.current?.();
  };

  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="import">
      <PanelHeader id="import" title={t("importACluster")}>
        <span className="grow" />
        {edits ? (
          <Button
            kind="ghost"
            size="sm"
            aria-expanded={pasting}
            onClick={() => {
              setError(null);
              setPasting(!pasting);
            }}
          >
            {pasting ? t("file") : t("paste")}
          </Button>
        ) : null}
      </PanelHeader>
      {me !== undefined && !edits ? <p className={classes.note}>{t("yourRoleCanLookAnd")}</p> : null}
      {edits && pasting ? (
        <PasteForm
          field={textArea}
          text={pasted}
          disabled={sending !== null}
          onText={(text) => {
            setError(null);
            setPasted(text);
          }}
          takes={takeLarge}
          onSend={sendText}
        />
      ) : null}
      {edits && !pasting ? (
        <Dropzone
          className={classes.drop ?? ""}
          onDrop={(files) => files[0] && sendFile(files[0])}
          multiple={false}
          maxSize={LARGEST}
          openRef={openFile}
          disabled={sending !== null}
          aria-label={t("dropAFileHereOr")}
          onReject={(files) => {
            setSentText(false);
            show(undefined);
            setError(new Error(t("isLargerThan512MB", { name: files[0]?.file.name ?? t("theFile") })));
          }}
        >
          <div className={classes.dropInside}>
            <Icon name="upload" size={18} />
            <p>
              <b>{t("dropAFileHere")}</b> {t("orChooseOne")}
              <br />
              <span className="faint">{t("kubectlGetOJsonOr")}</span>
            </p>
          </div>
        </Dropzone>
      ) : null}
      {sending === null ? null : <Progress sending={sending} />}
      {error === null ? null : (
        <div className={classes.error} role="alert">
          <p>
            <b>{t("nothingWasImported")}</b> {error.message}
          </p>
          <Button size="sm" onClick={again}>
            {sentText ? t("changeTheText") : t("chooseAnotherFile")}
          </Button>
        </div>
      )}
      {importId === undefined || !edits ? null : (
        <Suspense fallback={<Outlines count={4} height={40} label={t("readingTheImport")} />}>
          <ImportPreview
            key={importId}
            id={importId}
            ofText={sentText}
            onDiscarded={() => {
              setError(null);
              show(undefined);
            }}
            onChooseAnother={again}
            onImported={(snapshot, run) => {
              setError(null);
              setPasted("");
              show(undefined);
              if (run) onRun(snapshot);
            }}
          />
        </Suspense>
      )}
    </Panel>
  );
}

interface PasteFormProps {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  disabled: boolean;
  onText: (text: string) => void;
  /** Whether what comes is too large for a field and was taken as a file. */
  takes: (text: string) => boolean;
  onSend: () => void;
}

function PasteForm({ field, text, disabled, onText, takes, onSend }: PasteFormProps) {
  return (
    <form
      className={classes.paste}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <label htmlFor="pasted" className="srOnly">
        {t("yAMLOrJSONOfA")}
      </label>
      <textarea
        id="pasted"
        className="mono"
        rows={8}
        value={text}
        spellCheck={false}
        placeholder={SAMPLE}
        ref={field}
        onPaste={(event) => {
          if (takes(event.clipboardData.getData("text"))) event.preventDefault();
        }}
        onDrop={(event) => {
          if (takes(event.dataTransfer.getData("text"))) event.preventDefault();
        }}
        onChange={(event) => onText(event.currentTarget.value)}
      />
      <Button type="submit" size="sm" sends disabled={text.trim() === "" || disabled}>
        {t("readIt")}
      </Button>
    </form>
  );
}

function Progress({ sending }: { sending: Sending }) {
  return (
    <div className={classes.sending} role="status">
      <span>
        {rich("readingName", {
          name: sending.name,
          size: (
            <span className="num">
              {t("bytesSentOfTotal", { bytes: bytes(sending.sent), bytes2: bytes(sending.total) })}
            </span>
          ),
        })}
      </span>
      <progress max={sending.total} value={sending.sent} aria-label={t("uploadOf", { name: sending.name })} />
      {sending.cancel === undefined ? null : (
        <Button size="sm" kind="ghost" onClick={sending.cancel}>
          {t("cancel")}
        </Button>
      )}
    </div>
  );
}
