/** The store of an editor, with the address and the page it works on. */
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { checkText } from "@/api/configurationQueries";
import type { VersionDetail } from "@/api/configurationTypes";
import { configurationSearch } from "@/app/search";
import { useKeys } from "@/keys/useKeys";

import { readDraft, writeDraft } from "./draft/drafts";
import { EditorStore } from "./draft/editorStore";
import { t } from "./texts";

const route = getRouteApi("/configurations/$configuration");
const FIELD_APPEARS_WITHIN = 2_000;

/** `editable`: the newest version of a configuration of one's own, of which this browser may have a draft. */
export function useEditorStore(configuration: string, version: VersionDetail, editable: boolean): EditorStore {
  const router = useRouter();
  const navigate = route.useNavigate();
  const [store] = useState(
    () =>
      new EditorStore({
        configuration,
        version,
        stored: editable ? readDraft(configuration) : null,
        check: checkText,
        keep: (draft) => writeDraft(configuration, draft),
        outlet: {
          address: () => configurationSearch(router.state.location.search),
          go: (change, view) =>
            void navigate({ search: (old) => ({ ...old, ...change }), replace: true, resetScroll: view !== undefined }),
          leave: () => void navigate({ to: "/configurations" }),
          focusField,
        },
      }),
  );
  return store;
}

/** The draft is checked while it is in view; a version that is only read needs no check. */
export function useChecks(store: EditorStore, viewed: number | null): void {
  useEffect(() => {
    if (store.draft.dirty || viewed === null) store.draft.start();
    return () => store.draft.stop();
  }, [store, viewed]);
}

export function useEditorKeys(store: EditorStore, mayChange: boolean): void {
  const group = t("configuration");
  const save = () => {
    if (mayChange && store.isSavable) store.setSaving(true);
  };
  useKeys([
    { keys: "y", label: t("formOrYAML"), group, run: () => store.toggleView() },
    { keys: "j", label: t("nextPlugin"), group, run: () => store.step(1) },
    { keys: "k", label: t("previousPlugin"), group, run: () => store.step(-1) },
    { keys: "Ctrl+s", label: t("save"), group, everywhere: true, run: save },
    { keys: "Escape", label: t("closeWhatIsSelected"), group, run: () => store.close() },
  ]);
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
