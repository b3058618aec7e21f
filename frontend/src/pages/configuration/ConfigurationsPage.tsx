/** All configurations: people's own first, then what comes with the product; a new one from a preset or a file. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { configurationListQuery, createConfiguration, deleteConfiguration, presetsQuery } from "@/api/configurationQueries";
import type { ConfigurationSummary, Preset } from "@/api/configurationTypes";
import { ApiError } from "@/api/client";
import { useMe } from "@/api/useMe";
import { Button, IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { counted } from "@/format/number";
import { day, exact } from "@/format/time";
import { notify, notifyError } from "@/shell/notify";
import { useTitle } from "@/shell/useTitle";

import classes from "./ConfigurationsPage.module.css";
import { hasDraft, writeDraft } from "./drafts";
import { ImportButton } from "./EditorHeader";
import { freeName, who } from "./words";

const route = getRouteApi("/configurations");

export function ConfigurationsPage() {
  useTitle("Configurations");
  const { me, edits } = useMe();
  const list = useQuery(configurationListQuery());
  const rows = list.data?.results ?? [];
  const own = rows.filter((row) => !row.builtin);
  const builtin = rows.filter((row) => row.builtin);
  return (
    <Page className={classes.page ?? ""}>
      <header className={classes.head}><h1>Configurations</h1><span className="muted">KubeSchedulerConfiguration files, every saved version kept</span></header>
      <div className={classes.grid}>
        <div className={classes.lists}>
          <Panel aria-labelledby="own">
            <PanelHeader title="Yours" id="own" />
            {list.isPending ? <Outlines count={3} height={44} label="Reading the configurations" /> : null}
            {list.error === null ? null : <Failed what="Could not list configurations." error={list.error} retry={() => void list.refetch()} />}
            {list.data !== undefined && own.length === 0 ? <Empty>Start from Default, Bin-pack, Spread or No scoring.</Empty> : null}
            <Rows rows={own} me={me?.username} now={list.dataUpdatedAt} edits={edits} />
          </Panel>
          {builtin.length === 0 ? null : (
            <Panel aria-labelledby="builtin">
              <PanelHeader title="Built in" id="builtin"><span className="faint">read-only, made to be copied</span></PanelHeader>
              <Rows rows={builtin} me={me?.username} now={list.dataUpdatedAt} edits={false} />
            </Panel>
          )}
        </div>
        {edits ? <NewConfiguration taken={rows.map((row) => row.name)} /> : null}
      </div>
    </Page>
  );
}

function Rows({ rows, me, now, edits }: { rows: readonly ConfigurationSummary[]; me: string | undefined; now: number; edits: boolean }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<string | null>(null);
  const remove = useMutation({
    mutationFn: (row: ConfigurationSummary) => deleteConfiguration(row.id),
    onSuccess: async (_, row) => {
      writeDraft(row.id, null);
      notify({ title: `${row.name} was deleted.` });
      await client.invalidateQueries({ queryKey: ["configurations"] });
    },
    onError: (error, row) => notifyError(`${row.name} was not deleted.`, error),
    onSettled: () => setAsking(null),
  });
  return (
    <ul className={classes.rows}>
      {rows.map((row) => (
        <li key={row.id}>
          <Link to="/configurations/$configuration" params={{ configuration: row.id }} className={classes.row}>
            <span className={classes.name}><b>{row.name}</b>{hasDraft(row.id) && !row.builtin ? <Chip kind="warn">unsaved draft</Chip> : null}
              <em>{row.description === "" ? row.latest.comment : row.description}</em></span>
            {row.builtin ? null : <span className={`${classes.when} num`} title={exact(row.latest.created_at)}>{who(row.latest.author, me)}, {day(row.latest.created_at, now)}</span>}
            <span className={classes.versions}>{row.builtin ? <Chip>built-in</Chip> : <Chip title={counted(row.versions_count, "version")}>v{row.latest.number}</Chip>}</span>
          </Link>
          {!edits ? null : asking === row.id ? (
            <span className={classes.asking}>
              <Button size="sm" kind="danger" disabled={remove.isPending} onClick={() => remove.mutate(row)}>Delete {counted(row.versions_count, "version")}</Button>
              <Button size="sm" kind="ghost" onClick={() => setAsking(null)}>Keep</Button>
            </span>
          ) : <IconButton icon="trash" iconSize={14} label={`Delete ${row.name}`} onClick={() => setAsking(row.id)} />}
        </li>
      ))}
    </ul>
  );
}

interface Imported {
  name: string;
  text: string;
}

function NewConfiguration({ taken }: { taken: readonly string[] }) {
  const { preset: wanted } = route.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const presets = useQuery(presetsQuery);
  const [chosen, setChosen] = useState<string | null>(wanted ?? null);
  const [file, setFile] = useState<Imported | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const preset = presets.data?.find((one) => one.name === chosen) ?? presets.data?.[0];
  const name = typed ?? freeName(file === null ? `My ${preset?.title.toLowerCase() ?? "configuration"}` : file.name.replace(/\.(ya?ml|json)$/i, ""), taken);
  const create = useMutation({
    mutationFn: () => createConfiguration(file === null
      ? { name: name.trim(), preset: preset?.name ?? "", comment: `Started from ${preset?.title ?? ""}` }
      : { name: name.trim(), text: file.text, comment: `Imported from ${file.name}` }),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["configurations"] });
      await navigate({ to: "/configurations/$configuration", params: { configuration: made.id } });
    },
  });
  return (
    <Panel className={classes.fresh ?? ""} aria-labelledby="new">
      <h2 id="new">New configuration</h2>
      <form onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "" && !create.isPending) create.mutate();
      }}>
        <fieldset className={classes.presets} disabled={file !== null}>
          <legend>Start from</legend>
          {presets.isPending ? <Outlines count={4} height={44} label="Reading the presets" /> : null}
          {presets.error === null ? null : <Failed what="Could not list presets." error={presets.error} retry={() => void presets.refetch()} small />}
          {presets.data?.map((one) => <PresetChoice key={one.name} preset={one} checked={file === null && one.name === preset?.name} onChoose={() => setChosen(one.name)} />)}
        </fieldset>
        <div className={classes.file}>
          {file === null ? <><span className="faint">or a KubeSchedulerConfiguration file</span><span className="grow" /><ImportButton onRead={(text, from) => {
            setFile({ text, name: from });
            create.reset();
          }} /></> : <><span className="clip mono">{file.name}</span><span className="grow" /><Button size="sm" kind="ghost" onClick={() => {
            setFile(null);
            create.reset();
          }}>Use a preset instead</Button></>}
        </div>
        <label className={classes.nameField} htmlFor="new-name">Name</label>
        <input id="new-name" value={name} maxLength={200} autoComplete="off" onChange={(event) => setTyped(event.currentTarget.value)} />
        {create.error === null ? null : <CreateError error={create.error} />}
        <Button kind="primary" type="submit" disabled={name.trim() === "" || create.isPending || (file === null && preset === undefined)}>{create.isPending ? "Creating…" : "Create"}</Button>
      </form>
    </Panel>
  );
}

function PresetChoice({ preset, checked, onChoose }: { preset: Preset; checked: boolean; onChoose: () => void }) {
  return (
    <label className={classes.preset}>
      <input type="radio" name="preset" checked={checked} onChange={onChoose} />
      <b>{preset.title}</b>
      <em>{preset.description}</em>
    </label>
  );
}

/** Where in the file it is, when the server knows. */
function CreateError({ error }: { error: Error }) {
  const line = error instanceof ApiError && typeof error.body.line === "number" ? error.body.line : null;
  const errors = error instanceof ApiError && Array.isArray(error.body.errors) ? (error.body.errors as { path: string; message: string; line: number | null }[]) : [];
  return (
    <div className={classes.error}>
      <Failed what="Nothing was created." error={error} small />
      <ul>{errors.slice(0, 5).map((one) => <li key={`${one.path} ${one.message}`}>{one.line === null ? "" : `Line ${one.line}, `}{one.path === "" ? "" : <span className="mono">{one.path}</span>} {one.message}</li>)}</ul>
      {errors.length === 0 && line !== null ? <p>Line {line}</p> : null}
    </div>
  );
}
