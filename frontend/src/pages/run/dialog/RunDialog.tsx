/** One drawer for what needs more than a click: manifests, another configuration, a seed, the end of a run. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError, pathOf, request } from "@/api/client";
import { sendCommand } from "@/api/commands";
import { settled } from "@/live/commands";
import { configurationsQuery } from "@/api/queries";
import type { CommandInput, Run } from "@/api/types";
import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Failed } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { clauses } from "@/format/lists";
import { bytes } from "@/format/number";
import { tellDeleted } from "@/keeping/deletion";
import { notify } from "@/shell/notify";

import { t } from "../texts";
import type { Commander } from "../useCommand";
import { NODE_EXAMPLE, POD_EXAMPLE } from "./manifests";
import classes from "./RunDialog.module.css";

export type RunDialogKind = "pod_add" | "node_add" | "set_configuration" | "set_seed" | "stop" | "delete";

const TITLES: Record<RunDialogKind, string> = {
  get pod_add() {
    return t("addAPod");
  },
  get node_add() {
    return t("addANode");
  },
  get set_configuration() {
    return t("switchTheConfiguration");
  },
  get set_seed() {
    return t("changeTheSeed");
  },
  get stop() {
    return t("stopTheRun");
  },
  get delete() {
    return t("deleteTheRun");
  },
};
const DO: Record<RunDialogKind, string> = {
  get pod_add() {
    return t("addThePod");
  },
  get node_add() {
    return t("addTheNode");
  },
  get set_configuration() {
    return t("switch");
  },
  get set_seed() {
    return t("change");
  },
  get stop() {
    return t("stopForGood");
  },
  get delete() {
    return t("deleteTheRun");
  },
};

/** Manifests that were typed and not sent: a drawer that was closed by mistake has them again. */
const drafts = new Map<string, string>();

interface RunDialogProps {
  kind: RunDialogKind;
  run: Run;
  commander: Commander;
  onClose: () => void;
}

export function RunDialog({ kind, run, onClose }: RunDialogProps) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={480}
      transitionProps={{ duration: 160 }}
      classNames={{ content: drawer.content ?? "", overlay: drawer.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <Form kind={kind} run={run} onClose={onClose} />
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Form({ kind, run, onClose }: Omit<RunDialogProps, "commander">) {
  const example = kind === "node_add" ? NODE_EXAMPLE : POD_EXAMPLE;
  const [manifest, setText] = useState(drafts.get(`${kind} ${run.id}`) ?? example);
  const setManifest = (text: string) => {
    if (text.trim() === "") drafts.delete(`${kind} ${run.id}`);
    else drafts.set(`${kind} ${run.id}`, text);
    setText(text);
  };
  const [version, setVersion] = useState(run.configuration.version_id);
  const [seed, setSeed] = useState(String(run.seed));
  const [sending, setSending] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const command = (): CommandInput | null => {
    if (kind === "pod_add" || kind === "node_add") return manifest.trim() === "" ? null : { type: kind, manifest };
    if (kind === "set_configuration") return version === run.configuration.version_id ? null : { type: kind, version };
    if (kind === "set_seed") return /^\d{1,15}$/.test(seed) ? { type: kind, seed: Number(seed) } : null;
    return { type: "stop" };
  };
  const ready = command();
  const grave = kind === "stop" || kind === "delete";
  const send = async () => {
    if (ready === null) return;
    setSending(true);
    setError(null);
    try {
      if (kind === "delete") {
        await request(pathOf("runs", run.id), { method: "DELETE" });
        await navigate({ to: "/runs" });
        tellDeleted(queries, t("runWasDeleted", { number: run.number }), [{ kind: "run", id: run.id }]);
      } else {
        const receipt = await sendCommand(run.id, ready);
        await settled(run.id, receipt);
        if (receipt.warnings.length > 0) notify({ title: t("fieldsAreIgnored"), text: receipt.warnings.join(" ") });
      }
      drafts.delete(`${kind} ${run.id}`);
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSending(false);
    }
  };
  return (
    <form
      className={drawer.form}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <header className={drawer.header}>
        <Drawer.Title className={drawer.title ?? ""}>{TITLES[kind]}</Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label={t("close")} />
      </header>
      <div className={drawer.body}>
        {kind === "pod_add" || kind === "node_add" ? (
          <Manifest kind={kind} value={manifest} onChange={setManifest} error={error} />
        ) : null}
        {kind === "set_configuration" ? (
          <Configurations value={version} onChange={setVersion} current={run.configuration.version_id} />
        ) : null}
        {kind === "set_seed" ? (
          <>
            <label htmlFor="new-seed" className={drawer.label}>
              {t("seed")}
            </label>
            <input
              id="new-seed"
              className={`${drawer.field} num`}
              inputMode="numeric"
              value={seed}
              data-autofocus
              onChange={(event) => setSeed(event.currentTarget.value.trim())}
            />
            <p className={drawer.help}>{t("choosesAmongNodesWithEqual")}</p>
          </>
        ) : null}
        {kind === "stop" ? <p>{t("theRunKeepsEverythingThat")}</p> : null}
        {kind === "delete" ? (
          <p>{t("canBeBroughtBack", { number: run.number, bytes: bytes(run.size_bytes) })}</p>
        ) : null}
        {error === null ? null : <Failed what={WHAT[kind]} error={error} />}
      </div>
      <footer className={drawer.footer}>
        <span className="grow" />
        <Button kind="ghost" onClick={onClose}>
          {t("cancel")}
        </Button>
        <Button type="submit" sends kind={grave ? "danger-solid" : "primary"} disabled={ready === null || sending}>
          {sending ? t("sending") : DO[kind]}
        </Button>
      </footer>
    </form>
  );
}

const WHAT: Record<RunDialogKind, string> = {
  get pod_add() {
    return t("podNotAddedTextKept");
  },
  get node_add() {
    return t("nodeNotAddedTextKept");
  },
  get set_configuration() {
    return t("theConfigurationWasNotSwitched");
  },
  get set_seed() {
    return t("theSeedWasNotChanged");
  },
  get stop() {
    return t("theRunWasNotStopped");
  },
  get delete() {
    return t("theRunWasNotDeleted");
  },
};

function Manifest({
  kind,
  value,
  onChange,
  error,
}: {
  kind: "pod_add" | "node_add";
  value: string;
  onChange: (value: string) => void;
  error: Error | null;
}) {
  const { line, column } = error instanceof ApiError ? error.body : {};
  return (
    <>
      <label htmlFor="manifest" className={drawer.label}>
        {kind === "pod_add" ? t("pod") : t("node")} <span className="faint">{t("oneObjectYAMLOrJSON")}</span>
      </label>
      <textarea
        id="manifest"
        className={`${classes.manifest} mono`}
        rows={22}
        spellCheck={false}
        value={value}
        data-autofocus
        aria-invalid={error !== null}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <p className={drawer.help}>
        {line === undefined ? (
          t("addedAtTheRunsPresent")
        ) : (
          <b>
            {column === undefined ? t("lookAtManifestLine", { line }) : t("lookAtManifestColumn", { line, column })}
          </b>
        )}
      </p>
    </>
  );
}

function Configurations({
  value,
  onChange,
  current,
}: {
  value: string;
  onChange: (version: string) => void;
  current: string;
}) {
  const configurations = useQuery(configurationsQuery());
  return (
    <>
      <label htmlFor="version" className={drawer.label}>
        {t("configuration")}
      </label>
      <select
        id="version"
        className={drawer.field}
        value={value}
        data-autofocus
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {configurations.data?.results.some((one) => one.latest.id === current) ? null : (
          <option value={current}>{t("thePresentOne")}</option>
        )}
        {configurations.data?.results.map((one) => (
          <option key={one.id} value={one.latest.id}>
            {clauses([
              `${one.name} ${one.builtin ? t("builtIn") : `v${one.latest.number}`}`,
              ...(one.latest.id === current ? [t("inUse")] : []),
            ])}
          </option>
        ))}
      </select>
      {configurations.error === null ? null : (
        <Failed
          what={t("couldNotListConfigurations")}
          error={configurations.error}
          retry={() => void configurations.refetch()}
        />
      )}
      <p className={drawer.help}>{t("inForceFromTheNext")}</p>
    </>
  );
}
