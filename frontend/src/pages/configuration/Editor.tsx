/** One configuration in view: the draft of its newest version, or an older or built-in one to read. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useMemo, useSyncExternalStore } from "react";

import { ApiError } from "@/api/client";
import { pluginsQuery, versionQuery } from "@/api/configurationQueries";
import type { ConfigurationSummary, VersionDetail } from "@/api/configurationTypes";
import { useMe } from "@/api/useMe";
import { Failed } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { later } from "@/parts/later";

import { writeDraft } from "./draft/drafts";
import { type Editing, EditingContext } from "./draft/editing";
import { sightOf } from "./draft/editorStore";
import classes from "./Editor.module.css";
import { EditorColumns } from "./EditorColumns";
import { EditorHeader } from "./header/EditorHeader";
import { NothingToShow } from "./NothingToShow";
import { t } from "./texts";
import { useCopy } from "./useCopy";
import { useChecks, useEditorKeys, useEditorStore } from "./useEditorStore";

const SaveDrawer = later(() => import("./header/SaveDrawer"));
const RunWith = later(() => import("./header/RunWith"));
const route = getRouteApi("/configurations/$configuration");

interface EditorProps {
  configuration: ConfigurationSummary;
  version: VersionDetail;
  /** An older version, or a built-in configuration: nothing can be changed. */
  viewed: number | null;
}

export function Editor({ configuration, version, viewed }: EditorProps) {
  const { id, builtin } = configuration;
  const { edits: mayEdit } = useMe();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const readOnly = viewed !== null || builtin || !mayEdit;
  const store = useEditorStore(id, version, viewed === null && !builtin);
  const { draft, unkept, saving, running, line } = useSyncExternalStore(store.watch, store.get);
  useChecks(store, viewed);
  useEditorKeys(store, !readOnly);
  const plugins = useQuery(pluginsQuery).data;
  const catalogue = useMemo(() => new Map((plugins ?? []).map((plugin) => [plugin.name, plugin])), [plugins]);
  const saved = useQuery({
    ...versionQuery(id, draft.base),
    placeholderData: (old: VersionDetail | undefined) => old ?? version,
  }).data;
  const copy = useCopy(configuration, version);
  const useAsDraft = () => {
    writeDraft(id, { text: version.text, base: configuration.latest.number });
    void navigate({ search: ({ version: _, ...old }) => old });
  };

  const { view, examination, effective, profile, shown } = sightOf(draft, store.version, search);
  if (examination === null || effective === null || shown === undefined) {
    const checked = examination !== null;
    return <NothingToShow store={store.draft} failure={draft.failure} checked={checked} readOnly={readOnly} />;
  }
  const editing: Editing = {
    store: store.draft,
    state: draft,
    examination,
    effective,
    profile,
    shown,
    plugins: catalogue,
    readOnly,
    saved,
    select: (plugin) => store.select(plugin),
    goTo: (problem) => store.goTo(problem),
    savedProfile: saved?.effective?.profiles.find((one) => one.scheduler_name === shown.scheduler_name),
    changes: store.draft.dirty ? (draft.result?.comparison?.changes ?? []) : [],
    selected: { plugin: search.plugin, point: search.point },
    selectPoint: (point) => store.selectPoint(point),
    showProfile: (name) => store.showProfile(name),
    edit: (...edits) => {
      if (!readOnly && edits.length > 0) store.draft.edit(...edits);
    },
  };
  const newest = { version: saved?.id ?? version.id, number: draft.base };
  return (
    <EditingContext value={editing}>
      <Page>
        <EditorHeader
          configuration={configuration}
          viewed={viewed}
          view={view}
          onView={(wanted) => void store.show(wanted)}
          onErrors={() => store.goToErrors()}
          onSave={() => store.setSaving(true)}
          onRun={() => store.setRunning(viewed === null ? newest : { version: version.id, number: viewed })}
          onCopy={builtin && mayEdit ? () => void copy() : null}
          onUseAsDraft={viewed !== null && !builtin && mayEdit ? useAsDraft : null}
        />
        {draft.failure === null ? null : <Unchecked failure={draft.failure} retry={() => store.draft.start()} />}
        {unkept ? (
          <p className={classes.unkept} role="status">
            {t("thisBrowserKeepsNoDrafts")}
          </p>
        ) : null}
        <EditorColumns view={view} goToLine={line} />
        <Suspense fallback={null}>
          {saving ? (
            <SaveDrawer
              configuration={id}
              onClose={() => store.setSaving(false)}
              onRun={(made) => store.setRunning({ version: made, number: store.draft.get().base })}
            />
          ) : null}
          {running === null ? null : (
            <RunWith {...running} name={configuration.name} onClose={() => store.setRunning(null)} />
          )}
        </Suspense>
      </Page>
    </EditingContext>
  );
}

/** The server refused a change, or could not be asked. */
function Unchecked({ failure, retry }: { failure: Error; retry: () => void }) {
  const refused = failure instanceof ApiError && failure.status >= 400 && failure.status < 500;
  return (
    <Panel className={classes.failure ?? ""}>
      <Failed
        what={refused ? t("thatChangeWasNotMade") : t("couldNotBeCheckedYour")}
        error={failure}
        retry={retry}
        {...(refused ? { retryLabel: t("allRight") } : {})}
      />
    </Panel>
  );
}
