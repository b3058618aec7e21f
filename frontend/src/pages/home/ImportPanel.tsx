/** Drop, paste or choose a cluster; look at what is in it; leave parts out; only then is anything stored. */
import "@mantine/core/styles/Loader.layer.css";
import "@mantine/core/styles/LoadingOverlay.layer.css";
import "@mantine/dropzone/styles.layer.css";

import { Dropzone } from "@mantine/dropzone";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { request, type Upload, upload } from "@/api/client";
import type { Import, Snapshot } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Panel, PanelHeader } from "@/components/Panel";
import { bytes } from "@/format/number";

import classes from "./ImportPanel.module.css";
import { ImportPreview } from "./ImportPreview";

const route = getRouteApi("/");
const LARGEST = 512 * 1024 * 1024;

interface Sending {
  name: string;
  sent: number;
  total: number;
  /** Only an upload can be cancelled; a pasted text is one short request. */
  cancel?: () => void;
}

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
    const started: Upload = upload("/imports/", file, (sent, total) => setSending({ name: file.name, sent, total, cancel: () => started.abort() }));
    void began(file.name, file.size, started.promise);
  };
  const sendText = () => void began("the pasted text", pasted.length, request("/imports/", { method: "POST", body: { text: pasted } }));

  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="import">
      <PanelHeader id="import" title="Import a cluster">
        <span className="grow" />
        {edits ? <Button kind="ghost" size="sm" aria-expanded={pasting} onClick={() => setPasting(!pasting)}>{pasting ? "File" : "Paste"}</Button> : null}
      </PanelHeader>
      {me !== undefined && !edits ? <p className={classes.note}>Your role can look and run, but not import.</p> : null}
      {edits && pasting ? (
        <form className={classes.paste} onSubmit={(event) => {
          event.preventDefault();
          sendText();
        }}>
          <label htmlFor="pasted" className="srOnly">YAML or JSON of a cluster</label>
          <textarea id="pasted" className="mono" rows={8} value={pasted} spellCheck={false} placeholder={"apiVersion: v1\nkind: Node\n…"}
            onChange={(event) => setPasted(event.currentTarget.value)} />
          <Button type="submit" size="sm" disabled={pasted.trim() === "" || sending !== null}>Read it</Button>
        </form>
      ) : null}
      {edits && !pasting ? (
        <Dropzone className={classes.drop ?? ""} onDrop={(files) => files[0] && sendFile(files[0])} multiple={false} maxSize={LARGEST}
          openRef={openFile} disabled={sending !== null} aria-label="Drop a file here or choose one"
          onReject={(files) => setError(new Error(`${files[0]?.file.name ?? "The file"} is larger than 512 MB.`))}>
          <div className={classes.dropInside}>
            <Icon name="upload" size={18} />
            <p>
              <b>Drop a file here</b> or choose one<br />
              <span className="faint">kubectl get -o json or yaml, List, several documents, kube-scheduler-simulator's export; up to 512 MB</span>
            </p>
          </div>
        </Dropzone>
      ) : null}
      {sending === null ? null : (
        <div className={classes.sending} role="status">
          <span>Reading {sending.name}, <span className="num">{bytes(sending.sent)} of {bytes(sending.total)}</span></span>
          <progress max={sending.total} value={sending.sent} aria-label={`Upload of ${sending.name}`} />
          {sending.cancel === undefined ? null : <Button size="sm" kind="ghost" onClick={sending.cancel}>Cancel</Button>}
        </div>
      )}
      {error === null ? null : (
        <div className={classes.error} role="alert">
          <p><b>Nothing was imported.</b> {error.message}</p>
          <Button size="sm" onClick={() => (pasting ? setError(null) : openFile.current?.())}>{pasting ? "Change the text" : "Choose another file"}</Button>
        </div>
      )}
      {importId === undefined || !edits ? null : (
        <ImportPreview key={importId} id={importId} onDiscarded={() => show(undefined)} onChooseAnother={() => openFile.current?.()}
          onImported={(snapshot, run) => {
            show(undefined);
            if (run) onRun(snapshot);
          }} />
      )}
    </Panel>
  );
}
