import { Suspense } from "react";

import { Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { later } from "@/parts/later";
import { notify } from "@/shell/notify";

import { OlderNotice } from "../convert/OlderNotice";
import { useEditing } from "../draft/editing";
import { UnknownFields } from "../grid/UnknownFields";
import { t } from "../texts";
import { yamlNote } from "../words";
import classes from "./Yaml.module.css";

const YamlEditor = later(() => import("./YamlEditor"));

/** The same draft as text. */
export function YamlPanel({ goTo }: { goTo: { line: number } | null }) {
  const { store, state, examination, readOnly } = useEditing();
  const lines = state.text.split("\n").length - (state.text.endsWith("\n") ? 1 : 0);
  const readable = examination.effective !== null;
  const note = yamlNote(examination.errors, readable);
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="yaml-title">
      <PanelHeader title={examination.format === "json" ? "JSON" : "YAML"} id="yaml-title">
        <span className={`${classes.about} faint`}>
          {t(readOnly ? "textReadOnly" : store.dirty ? "textOfDraft" : "textAsSaved", { count: lines })}
        </span>
        <span className="grow" />
        <span className={readable ? "faint" : classes.unreadable} role="status">
          {note}
        </span>
      </PanelHeader>
      {examination.older && !readOnly ? (
        <OlderNotice
          text={state.text}
          onUse={(text) => {
            store.setText(text, { undoable: true });
            notify({ kind: "ok", title: t("theDraftIsV1Now"), text: t("undoBringsBackWhatWas") });
          }}
        />
      ) : null}
      <Suspense fallback={<Outlines count={12} height={19} label={t("openingTheEditor")} />}>
        <YamlEditor
          text={state.text}
          label={t("yAMLOfTheConfiguration")}
          problems={examination.errors}
          warnings={examination.warnings}
          readOnly={readOnly}
          goTo={goTo}
          onChange={(text) => store.setText(text)}
        />
      </Suspense>
      <UnknownFields />
    </Panel>
  );
}
