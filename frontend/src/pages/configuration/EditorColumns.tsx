import { useMediaQuery } from "@mantine/hooks";
import { Suspense } from "react";

import { Button } from "@/components/Button";
import { Outlines } from "@/components/Outcome";
import { Panel } from "@/components/Panel";
import { later } from "@/parts/later";

import { useEditing } from "./draft/editing";
import type { View } from "./draft/editorStore";
import classes from "./Editor.module.css";
import { FeatureGates } from "./grid/FeatureGates";
import { PluginCards } from "./grid/PluginCards";
import { PluginGrid } from "./grid/PluginGrid";
import { UnknownFields } from "./grid/UnknownFields";
import { PluginPanel } from "./panel/PluginPanel";
import { ProfilePanel } from "./panel/ProfilePanel";
import { Sidebar } from "./sidebar/Sidebar";
import { YamlPanel } from "./text/YamlPanel";
import { t } from "./texts";

const PointPanel = later(() => import("./panel/PointPanel"));

interface EditorColumnsProps {
  view: View;
  goToLine: { line: number } | null;
}

/** Profiles, plugins and what is selected of them side by side; on a phone one under the other. */
export function EditorColumns({ view, goToLine }: EditorColumnsProps) {
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
