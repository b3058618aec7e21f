/** All configurations: people's own first, then what comes with the product; a new one from a preset or a file. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "@/api/client";
import {
  configurationListQuery,
  createConfiguration,
  deleteConfiguration,
  olderQuery,
  presetsQuery,
} from "@/api/configurationQueries";
import type { ConfigurationSummary, Preset } from "@/api/configurationTypes";
import { useMe } from "@/api/useMe";
import { Button, ButtonLink, IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { day, exact } from "@/format/time";
import { tellDeleted } from "@/keeping/deletion";
import { notifyError } from "@/shell/notify";
import { useTitle } from "@/shell/useTitle";

import { OlderNotice, PasteButton } from "../convert/OlderNotice";
import { hasDraft, writeDraft } from "../draft/drafts";
import { ImportButton } from "../header/EditorHeader";
import { t } from "../texts";
import { freeName, who } from "../words";
import classes from "./ConfigurationsPage.module.css";

const route = getRouteApi("/configurations");

export function ConfigurationsPage() {
  useTitle(t("configurations"));
  const { me, edits } = useMe();
  const list = useQuery(configurationListQuery());
  const rows = list.data?.results ?? [];
  const own = rows.filter((row) => !row.builtin);
  const builtin = rows.filter((row) => row.builtin);
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("configurations")}</h1>
        <span className="muted">{t("kubeSchedulerConfigurationFilesEverySavedVersion")}</span>
        {edits ? (
          <>
            <span className="grow" />
            <ButtonLink to="/deleted" size="sm" kind="ghost" icon="trash">
              {t("recentlyDeleted")}
            </ButtonLink>
          </>
        ) : null}
      </header>
      <div className={classes.grid}>
        <div className={classes.lists}>
          <Panel aria-labelledby="own">
            <PanelHeader title={t("yours")} id="own" />
            {list.isPending ? <Outlines count={3} height={44} label={t("readingTheConfigurations")} /> : null}
            {list.error === null ? null : (
              <Failed what={t("couldNotListConfigurations")} error={list.error} retry={() => void list.refetch()} />
            )}
            {list.data !== undefined && own.length === 0 ? <Empty>{t("startFromDefaultBinPack")}</Empty> : null}
            <Rows rows={own} me={me?.username} now={list.dataUpdatedAt} edits={edits} />
          </Panel>
          {builtin.length === 0 ? null : (
            <Panel aria-labelledby="builtin">
              <PanelHeader title={t("builtIn")} id="builtin">
                <span className="faint">{t("readOnlyMadeToBe")}</span>
              </PanelHeader>
              <Rows rows={builtin} me={me?.username} now={list.dataUpdatedAt} edits={false} />
            </Panel>
          )}
        </div>
        {edits ? <NewConfiguration taken={rows.map((row) => row.name)} /> : null}
      </div>
    </Page>
  );
}

function Rows({
  rows,
  me,
  now,
  edits,
}: {
  rows: readonly ConfigurationSummary[];
  me: string | undefined;
  now: number;
  edits: boolean;
}) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<string | null>(null);
  const remove = useMutation({
    mutationFn: (row: ConfigurationSummary) => deleteConfiguration(row.id),
    onSuccess: async (_, row) => {
      writeDraft(row.id, null);
      tellDeleted(client, t("wasDeleted", { name: row.name }), [{ kind: "configuration", id: row.id }]);
      await client.invalidateQueries({ queryKey: ["configurations"] });
    },
    onError: (error, row) => notifyError(t("wasNotDeleted", { name: row.name }), error),
    onSettled: () => setAsking(null),
  });
  return (
    <ul className={classes.rows}>
      {rows.map((row) => (
        <li key={row.id}>
          <Link to="/configurations/$configuration" params={{ configuration: row.id }} className={classes.row}>
            <span className={classes.name}>
              <b>{row.name}</b>
              {hasDraft(row.id) && !row.builtin ? <Chip kind="warn">{t("unsavedDraft")}</Chip> : null}
              <em>{row.description === "" ? row.latest.comment : row.description}</em>
            </span>
            {row.builtin ? null : (
              <span className={`${classes.when} num`} title={exact(row.latest.created_at)}>
                {who(row.latest.author, me)}, {day(row.latest.created_at, now)}
              </span>
            )}
            <span className={classes.versions}>
              {row.builtin ? (
                <Chip>{t("builtInChip")}</Chip>
              ) : (
                <Chip title={t("nVersions", { count: row.versions_count })}>
                  {t("vNumber", { number: row.latest.number })}
                </Chip>
              )}
            </span>
          </Link>
          {!edits ? null : asking === row.id ? (
            <span className={classes.asking}>
              <Button size="sm" kind="danger" sends disabled={remove.isPending} onClick={() => remove.mutate(row)}>
                {t("deleteVersions", { count: row.versions_count })}
              </Button>
              <Button size="sm" kind="ghost" onClick={() => setAsking(null)}>
                {t("keep")}
              </Button>
            </span>
          ) : (
            <IconButton
              icon="trash"
              iconSize={14}
              label={t("deleteName", { name: row.name })}
              onClick={() => setAsking(row.id)}
            />
          )}
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
  const older = useQuery({ ...olderQuery(file?.text ?? ""), enabled: file !== null });
  const preset = presets.data?.find((one) => one.name === chosen) ?? presets.data?.[0];
  const name =
    typed ??
    freeName(
      file === null
        ? t("myToLowerCase", { toLowerCase: preset?.title.toLowerCase() ?? t("presetWithoutName") })
        : file.name.replace(/\.(ya?ml|json)$/i, ""),
      taken,
    );
  const create = useMutation({
    mutationFn: () =>
      createConfiguration(
        file === null
          ? { name: name.trim(), preset: preset?.name ?? "", comment: t("startedFrom", { title: preset?.title ?? "" }) }
          : { name: name.trim(), text: file.text, comment: t("importedFrom", { name: file.name }) },
      ),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["configurations"] });
      await navigate({ to: "/configurations/$configuration", params: { configuration: made.id } });
    },
  });
  return (
    <Panel className={classes.fresh ?? ""} aria-labelledby="new">
      <h2 id="new">{t("newConfiguration")}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "" && !create.isPending) create.mutate();
        }}
      >
        <fieldset className={classes.presets} disabled={file !== null}>
          <legend>{t("startFrom")}</legend>
          {presets.isPending ? <Outlines count={4} height={44} label={t("readingThePresets")} /> : null}
          {presets.error === null ? null : (
            <Failed what={t("couldNotListPresets")} error={presets.error} retry={() => void presets.refetch()} small />
          )}
          {presets.data?.map((one) => (
            <PresetChoice
              key={one.name}
              preset={one}
              checked={file === null && one.name === preset?.name}
              onChoose={() => setChosen(one.name)}
            />
          ))}
        </fieldset>
        <div className={classes.file}>
          {file === null ? (
            <>
              <span className="faint">{t("orAKubeSchedulerConfigurationFile")}</span>
              <span className="grow" />
              <ImportButton
                onRead={(text, from) => {
                  setFile({ text, name: from });
                  create.reset();
                }}
              />
              <PasteButton
                onUse={(text) => {
                  setFile({ text, name: t("convertedFile") });
                  create.reset();
                }}
              />
            </>
          ) : (
            <>
              <span className="clip mono">{file.name}</span>
              <span className="grow" />
              <Button
                size="sm"
                kind="ghost"
                onClick={() => {
                  setFile(null);
                  create.reset();
                }}
              >
                {t("useAPresetInstead")}
              </Button>
            </>
          )}
        </div>
        {file !== null && older.data === true ? (
          <OlderNotice
            text={file.text}
            onUse={(text) => {
              setFile({ text, name: file.name });
              create.reset();
            }}
          />
        ) : null}
        <label className={classes.nameField} htmlFor="new-name">
          {t("name")}
        </label>
        <input
          id="new-name"
          value={name}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {create.error === null ? null : <CreateError error={create.error} />}
        <Button
          kind="primary"
          type="submit"
          sends
          disabled={name.trim() === "" || create.isPending || (file === null && preset === undefined)}
        >
          {create.isPending ? t("creating") : t("create")}
        </Button>
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
  const errors =
    error instanceof ApiError && Array.isArray(error.body.errors)
      ? (error.body.errors as { path: string; message: string; line: number | null }[])
      : [];
  return (
    <div className={classes.error}>
      <Failed what={t("nothingWasCreated")} error={error} small />
      <ul>
        {errors.slice(0, 5).map((one) => (
          <li key={`${one.path} ${one.message}`}>
            {one.line === null ? "" : t("problemLineBefore", { line: one.line })}
            {one.path === "" ? "" : <span className="mono">{one.path}</span>} {one.message}
          </li>
        ))}
      </ul>
      {errors.length === 0 && line !== null ? <p>{t("problemLineAlone", { line })}</p> : null}
    </div>
  );
}
