/** One configuration in view: the draft of its newest version, or an older or built-in one to read. */
import { useMediaQuery } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { ApiError } from "@/api/client";
import {
  checkText,
  configurationListQuery,
  createConfiguration,
  pluginsQuery,
  versionQuery,
} from "@/api/configurationQueries";
import type { ConfigurationSummary, Effective, Examination, Problem, VersionDetail } from "@/api/configurationTypes";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { useKeys } from "@/keys/useKeys";
import { later } from "@/parts/later";
import { notify, notifyError } from "@/shell/notify";

import { readDraft, writeDraft } from "./draft/drafts";
import { DraftStore } from "./draft/draftStore";
import { type Editing, EditingContext, useEditing } from "./draft/editing";
import classes from "./Editor.module.css";
import { FeatureGates } from "./grid/FeatureGates";
import { PluginCards } from "./grid/PluginCards";
import { PluginGrid } from "./grid/PluginGrid";
import { UnknownFields } from "./grid/UnknownFields";
import { EditorHeader, type View } from "./header/EditorHeader";
import { PluginPanel } from "./panel/PluginPanel";
import { ProfilePanel } from "./panel/ProfilePanel";
import { Sidebar } from "./sidebar/Sidebar";
import { YamlPanel } from "./text/YamlPanel";
import { t } from "./texts";
import { freeName } from "./words";

const PointPanel = later(() => import("./panel/PointPanel"));
const SaveDrawer = later(() => import("./header/SaveDrawer"));
const RunWith = later(() => import("./header/RunWith"));
const route = getRouteApi("/configurations/$configuration");
const FIELD_APPEARS_WITHIN = 2_000;

interface EditorProps {
  configuration: ConfigurationSummary;
  version: VersionDetail;
  /** An older version, or a built-in configuration: nothing can be changed. */
  viewed: number | null;
}

export function Editor({ configuration, version, viewed }: EditorProps) {
  const { id } = configuration;
  const { edits: mayEdit } = useMe();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const readOnly = viewed !== null || configuration.builtin || !mayEdit;
  const [unkept, setUnkept] = useState(false);
  const [store] = useState(
    () =>
      new DraftStore({
        configuration: id,
        base: version.number,
        savedText: version.text,
        check: checkText,
        stored: viewed === null && !configuration.builtin ? readDraft(id) : null,
        keep: (draft) => setUnkept(!writeDraft(id, draft)),
      }),
  );
  const state = useSyncExternalStore(store.watch, store.get);
  const [saving, setSaving] = useState(false);
  const [running, setRunning] = useState<{ version: string; number: number } | null>(null);
  const plugins = useQuery(pluginsQuery);
  const saved = useQuery({
    ...versionQuery(id, state.base),
    placeholderData: (old: VersionDetail | undefined) => old ?? version,
  }).data;

  useEffect(() => {
    if (store.dirty || viewed === null) store.start();
    return () => store.stop();
  }, [store, viewed]);

  const examination = state.result ?? (state.text === version.text ? version : null);
  const effective = examination?.effective ?? state.readable?.effective ?? version.effective;
  const catalogue = useMemo(() => new Map((plugins.data ?? []).map((plugin) => [plugin.name, plugin])), [plugins.data]);
  const view: View =
    search.view === "yaml" || (examination !== null && examination.effective === null) ? "yaml" : "form";
  const profile = Math.max(0, effective?.profiles.findIndex((one) => one.scheduler_name === search.profile) ?? 0);
  const shown = effective?.profiles[profile];

  const setView = (wanted: View) => {
    void store
      .settled()
      .then(() =>
        navigate({ search: (old) => ({ ...old, view: wanted === "yaml" ? wanted : undefined }), replace: true }),
      );
  };
  const select = (plugin: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, plugin, point: undefined }), replace: true, resetScroll: false });
  const { goToLine, goTo, onErrors } = useProblems({ examination, effective, view, setView, select });
  const copy = useCopy(configuration, version);
  const useAsDraft = () => {
    writeDraft(id, { text: version.text, base: configuration.latest.number });
    void navigate({ search: ({ version: _, ...old }) => old });
  };
  const canSave = !readOnly && store.dirty && state.failure === null && examination?.errors.length === 0;
  useEditorKeys({
    names: shown?.rows.map((row) => row.plugin) ?? [],
    view,
    setView,
    select,
    save: () => {
      if (canSave) setSaving(true);
    },
  });

  if (examination === null || effective === null || shown === undefined) {
    return <NothingToShow store={store} failure={state.failure} checked={examination !== null} readOnly={readOnly} />;
  }
  const editing: Editing = {
    store,
    state,
    examination,
    effective,
    profile,
    shown,
    plugins: catalogue,
    readOnly,
    saved,
    select,
    goTo,
    savedProfile: saved?.effective?.profiles.find((one) => one.scheduler_name === shown.scheduler_name),
    changes: store.dirty ? (state.result?.comparison?.changes ?? []) : [],
    selected: { plugin: search.plugin, point: search.point },
    selectPoint: (point) =>
      void navigate({ search: (old) => ({ ...old, point, plugin: undefined }), replace: true, resetScroll: false }),
    showProfile: (name) =>
      void navigate({
        search: (old) => ({ ...old, profile: name === "" ? undefined : name }),
        replace: true,
        resetScroll: false,
      }),
    edit: (...edits) => {
      if (!readOnly && edits.length > 0) store.edit(...edits);
    },
  };
  const refused = state.failure instanceof ApiError && state.failure.status >= 400 && state.failure.status < 500;
  return (
    <EditingContext value={editing}>
      <Page>
        <EditorHeader
          configuration={configuration}
          viewed={viewed}
          view={view}
          onView={setView}
          onErrors={onErrors}
          onSave={() => setSaving(true)}
          onRun={() =>
            setRunning({
              version: viewed === null ? (saved?.id ?? version.id) : version.id,
              number: viewed ?? state.base,
            })
          }
          onCopy={configuration.builtin && mayEdit ? () => void copy() : null}
          onUseAsDraft={viewed !== null && !configuration.builtin && mayEdit ? useAsDraft : null}
        />
        {state.failure === null ? null : (
          <Panel className={classes.failure ?? ""}>
            <Failed
              what={refused ? t("thatChangeWasNotMade") : t("couldNotBeCheckedYour")}
              error={state.failure}
              retry={() => store.start()}
              {...(refused ? { retryLabel: t("allRight") } : {})}
            />
          </Panel>
        )}
        {unkept ? (
          <p className={classes.unkept} role="status">
            {t("thisBrowserKeepsNoDrafts")}
          </p>
        ) : null}
        <Columns view={view} goToLine={goToLine} />
        <Suspense fallback={null}>
          {saving ? (
            <SaveDrawer
              configuration={id}
              onClose={() => setSaving(false)}
              onRun={(made) => setRunning({ version: made, number: store.get().base })}
            />
          ) : null}
          {running === null ? null : (
            <RunWith
              name={configuration.name}
              version={running.version}
              number={running.number}
              onClose={() => setRunning(null)}
            />
          )}
        </Suspense>
      </Page>
    </EditingContext>
  );
}

interface NothingToShowProps {
  store: DraftStore;
  failure: Error | null;
  checked: boolean;
  readOnly: boolean;
}

/** Before the text is examined, when it could not be, and when nothing in it can be shown. */
function NothingToShow({ store, failure, checked, readOnly }: NothingToShowProps) {
  if (checked)
    return (
      <Page>
        <Panel>
          <Empty action={<Button onClick={() => store.discard()}>{t("discardTheDraft")}</Button>}>
            {t("thisVersionCannotBeShown")}
          </Empty>
        </Panel>
      </Page>
    );
  if (failure === null)
    return (
      <Page>
        <Outlines count={12} height={30} label={t("checkingTheDraft")} />
      </Page>
    );
  return (
    <Page>
      <Panel className={classes.failure ?? ""}>
        <Failed
          alone
          what={t("couldNotBeCheckedYour")}
          error={failure}
          retry={() => store.start()}
          more={
            store.dirty && !readOnly ? (
              <Button size="sm" onClick={() => store.discard()}>
                {t("discardTheDraft")}
              </Button>
            ) : null
          }
        />
      </Panel>
    </Page>
  );
}

interface ColumnsProps {
  view: View;
  goToLine: { line: number } | null;
}

/** Profiles, plugins and what is selected of them side by side; on a phone one under the other. */
function Columns({ view, goToLine }: ColumnsProps) {
  const phone = useMediaQuery("(max-width: 640px)", undefined, { getInitialValueInEffect: false });
  const { examination, selected, select } = useEditing();
  const chosen = selected.plugin !== undefined || selected.point !== undefined;
  const panel =
    selected.point !== undefined ? (
      <Suspense
        fallback={
          <Panel>
            <Outlines count={6} height={30} label={t("readingTheOrder")} />
          </Panel>
        }
      >
        <PointPanel point={selected.point} />
      </Suspense>
    ) : selected.plugin !== undefined ? (
      <PluginPanel name={selected.plugin} />
    ) : (
      <ProfilePanel />
    );
  return (
    <div className={classes.columns} data-view={view}>
      {phone ? null : <Sidebar />}
      {view === "yaml" ? (
        <YamlPanel goTo={goToLine} />
      ) : phone ? (
        chosen ? (
          <div>
            <Button kind="ghost" icon="chevronLeft" onClick={() => select(undefined)}>
              {t("allPlugins")}
            </Button>
            {panel}
          </div>
        ) : (
          <>
            <PluginCards />
            {panel}
            <FeatureGates />
          </>
        )
      ) : (
        <>
          <div className={classes.middle}>
            <PluginGrid />
            {examination.unknown_fields.length > 0 ? (
              <Panel>
                <UnknownFields />
              </Panel>
            ) : null}
            <FeatureGates />
          </div>
          {panel}
        </>
      )}
      {phone && !(chosen && view === "form") ? <Sidebar /> : null}
    </div>
  );
}

interface Problems {
  examination: Examination | null;
  effective: Effective | null;
  view: View;
  setView: (wanted: View) => void;
  select: (plugin: string | undefined) => void;
}

/** Leads to where a problem is: the plugin's field in the form, or the line of the text. */
function useProblems({ examination, effective, view, setView, select }: Problems) {
  const navigate = route.useNavigate();
  const [goToLine, setGoToLine] = useState<{ line: number } | null>(null);
  const goTo = (problem: Problem) => {
    const named =
      problem.plugin !== null &&
      effective?.profiles[problem.profile ?? 0]?.rows.some((row) => row.plugin === problem.plugin) === true;
    if (named && view === "form") {
      void navigate({
        search: (old) => ({
          ...old,
          plugin: problem.plugin ?? undefined,
          point: undefined,
          profile: effective.profiles[problem.profile ?? 0]?.scheduler_name,
        }),
        replace: true,
        resetScroll: false,
      });
      focusField(["arg", ...problem.field].join("_"));
      return;
    }
    setGoToLine({ line: problem.line ?? 1 });
    setView("yaml");
  };
  const onErrors = () => {
    const [first, ...others] = examination?.errors ?? [];
    if (first === undefined) return;
    if (view === "form" && others.length > 0) {
      select(undefined);
      return;
    }
    const after = (examination?.errors ?? []).find((error) => (error.line ?? 0) > (goToLine?.line ?? 0));
    goTo(view === "yaml" ? (after ?? first) : first);
  };
  return { goToLine, goTo, onErrors };
}

interface Keys {
  /** Of the plugins, as they are listed. */
  names: readonly string[];
  view: View;
  setView: (wanted: View) => void;
  select: (plugin: string | undefined) => void;
  save: () => void;
}

function useEditorKeys({ names, view, setView, select, save }: Keys): void {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const step = (by: number) => {
    const at = search.plugin === undefined ? (by > 0 ? -1 : names.length) : names.indexOf(search.plugin);
    const next = names[at + by];
    if (next !== undefined) select(next);
  };
  useKeys([
    {
      keys: "y",
      label: t("formOrYAML"),
      group: t("configuration"),
      run: () => setView(view === "yaml" ? "form" : "yaml"),
    },
    { keys: "j", label: t("nextPlugin"), group: t("configuration"), run: () => step(1) },
    { keys: "k", label: t("previousPlugin"), group: t("configuration"), run: () => step(-1) },
    {
      keys: "Ctrl+s",
      label: t("save"),
      group: t("configuration"),
      everywhere: true,
      run: save,
    },
    {
      keys: "Escape",
      label: t("closeWhatIsSelected"),
      group: t("configuration"),
      run: () => {
        if (search.plugin !== undefined || search.point !== undefined) select(undefined);
        else void navigate({ to: "/configurations" });
      },
    },
  ]);
}

/** Makes a copy of the version in view and opens it. */
function useCopy(configuration: ConfigurationSummary, version: VersionDetail): () => Promise<void> {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  return async () => {
    try {
      const taken = (await client.query(configurationListQuery(200))).results.map((one) => one.name);
      const made = await createConfiguration({
        name: freeName(t("nameCopy", { name: configuration.name }), taken),
        text: version.text,
        description: "",
        comment: t("copyOfV", { name: configuration.name, number: version.number }),
      });
      await client.invalidateQueries({ queryKey: ["configurations"] });
      notify({ kind: "ok", title: t("isYoursToEdit", { name: made.name }) });
      await navigate({ to: "/configurations/$configuration", params: { configuration: made.id } });
    } catch (error) {
      notifyError(t("noCopyWasMade"), error);
    }
  };
}

/** The form is fetched and drawn after the plugin is chosen, so the field appears a moment later. */
function focusField(id: string): void {
  const until = Date.now() + FIELD_APPEARS_WITHIN;
  const look = () => {
    const field = document.getElementById(id);
    if (field !== null) field.focus();
    else if (Date.now() < until) window.setTimeout(look, 50);
  };
  look();
}
