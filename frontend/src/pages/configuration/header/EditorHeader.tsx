/** Name, version and draft; errors, Form | YAML, the file, Save and Run. */
import "@mantine/core/styles/Popover.layer.css";
import "@mantine/core/styles/Menu.layer.css";

import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { changeConfiguration, checkText, configurationQuery, exportAddress } from "@/api/configurationQueries";
import type { ConfigurationChange, ConfigurationSummary, TextFormat } from "@/api/configurationTypes";
import { Breadcrumbs } from "@/components/Breadcrumbs";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Segmented } from "@/components/Segmented";
import { notify, notifyError } from "@/shell/notify";

import { useEditing } from "../draft/editing";
import type { View } from "../draft/editorStore";
import classes from "../Editor.module.css";
import { t } from "../texts";
import { draftLabel } from "../words";

interface EditorHeaderProps {
  configuration: ConfigurationSummary;
  /** The version in view; null for the draft of the newest. */
  viewed: number | null;
  view: View;
  onView: (view: View) => void;
  onErrors: () => void;
  onSave: () => void;
  onRun: () => void;
  onCopy: (() => void) | null;
  onUseAsDraft: (() => void) | null;
}

export function EditorHeader({
  configuration,
  viewed,
  view,
  onView,
  onErrors,
  onSave,
  onRun,
  onCopy,
  onUseAsDraft,
}: EditorHeaderProps) {
  const { store, state, examination, readOnly } = useEditing();
  const errors = examination.errors.length;
  const readable = examination.effective !== null;
  const dirty = store.dirty;
  const saveOff =
    state.failure !== null
      ? t("couldNotBeCheckedYour")
      : errors > 0
        ? t("thereAreErrors")
        : dirty
          ? undefined
          : t("nothingDiffersFromTheSaved");
  const runOff = !readOnly && dirty ? t("saveTheDraftFirst") : examination.runnable ? undefined : examination.why;
  return (
    <header className={classes.header}>
      <div className={classes.names}>
        <Breadcrumbs>
          <Link to="/configurations">{t("configurations")}</Link>
          <span>{configuration.name}</span>
        </Breadcrumbs>
        <div className={classes.titleRow}>
          <Name configuration={configuration} fixed={readOnly} />
          <Chip>{t("vViewed", { viewed: viewed ?? state.base })}</Chip>
          {configuration.builtin ? (
            <Chip kind="line" title={t("comesWithTheProduct")}>
              {t("builtInReadOnly")}
            </Chip>
          ) : null}
          {configuration.what_if ? (
            <Chip kind="line" title={t("whatIfIsNotListed")}>
              {t("whatIf")}
            </Chip>
          ) : null}
          {viewed !== null && viewed !== configuration.latest.number ? (
            <Chip kind="line">{t("readOnlyTheNewestIs", { number: configuration.latest.number })}</Chip>
          ) : null}
          {dirty && viewed === null ? (
            <span className={classes.draft} role="status">
              {draftLabel(state.result?.comparison, readable)}
            </span>
          ) : null}
        </div>
      </div>
      <span className="grow" />
      <div className={classes.look}>
        {errors === 0 ? null : (
          <button type="button" className={classes.errors} onClick={onErrors}>
            <Icon name="warning" size={14} />
            <span className="leads">{t("nErrors", { count: errors })}</span>
          </button>
        )}
        <Segmented
          size="md"
          label={t("formOrYAML")}
          value={view}
          onChange={onView}
          options={[
            {
              value: "form",
              label: t("form"),
              disabled: !readable,
              ...(readable ? {} : { title: t("theTextCannotBeRead") }),
            },
            { value: "yaml", label: "YAML", title: "y" },
          ]}
        />
      </div>
      <div className={classes.buttons}>
        {readOnly ? null : (
          <ImportButton
            onRead={(text, name) => {
              store.setText(text, { undoable: true });
              notify({ title: t("theDraftIsNow", { name }), text: t("undoBringsBackWhatWas") });
            }}
          />
        )}
        <ExportButton
          id={configuration.id}
          name={configuration.name}
          number={viewed ?? state.base}
          draft={dirty && viewed === null ? state.text : null}
          readable={readable}
        />
        {onCopy === null ? null : (
          <Button kind={configuration.builtin ? "primary" : "default"} sends onClick={onCopy}>
            {t("copyToEdit")}
          </Button>
        )}
        {onUseAsDraft === null ? null : <Button onClick={onUseAsDraft}>{t("useAsDraft")}</Button>}
        {readOnly ? null : (
          <Button onClick={onSave} disabled={saveOff !== undefined} title={saveOff ?? "Ctrl S"}>
            {t("save")}
          </Button>
        )}
        <Button onClick={onRun} disabled={runOff !== undefined} title={runOff}>
          {t("runWithThis")}
        </Button>
      </div>
    </header>
  );
}

/** The name, and a field in its place while it is given another. */
function Name({ configuration, fixed }: { configuration: ConfigurationSummary; fixed: boolean }) {
  const client = useQueryClient();
  const [naming, setNaming] = useState(false);
  const [busy, setBusy] = useState(false);
  const change = async (body: ConfigurationChange, failed: string) => {
    setBusy(true);
    try {
      client.setQueryData(
        configurationQuery(configuration.id).queryKey,
        await changeConfiguration(configuration.id, body),
      );
      await client.invalidateQueries({ queryKey: ["configurations"] });
      setNaming(false);
    } catch (error) {
      notifyError(failed, error);
    }
    setBusy(false);
  };
  const rename = (name: string) => {
    if (name === "" || name === configuration.name) setNaming(false);
    else void change({ name }, t("itKeepsItsName"));
  };
  if (!naming) {
    return (
      <>
        <h1 className="clip" title={configuration.name}>
          {configuration.name}
        </h1>
        {fixed ? null : (
          <Button size="sm" kind="ghost" onClick={() => setNaming(true)}>
            {t("rename")}
          </Button>
        )}
        {fixed || !configuration.what_if ? null : (
          <Button
            size="sm"
            kind="ghost"
            sends
            disabled={busy}
            onClick={() => void change({ keep: true }, t("itIsNotListed"))}
          >
            {t("list")}
          </Button>
        )}
      </>
    );
  }
  return (
    <form
      className={classes.naming}
      onSubmit={(event) => {
        event.preventDefault();
        const value = new FormData(event.currentTarget).get("name");
        rename(typeof value === "string" ? value.trim() : "");
      }}
    >
      <h1 className="srOnly">{configuration.name}</h1>
      <input
        name="name"
        aria-label={t("nameOfTheConfiguration")}
        // eslint-disable-next-line jsx-a11y/no-autofocus -- it stands where the pressed button was
        autoFocus
        autoComplete="off"
        maxLength={100}
        defaultValue={configuration.name}
        onFocus={(event) => event.currentTarget.select()}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          setNaming(false);
        }}
      />
      <Button size="sm" type="submit" sends disabled={busy}>
        {t("rename")}
      </Button>
      <Button size="sm" kind="ghost" onClick={() => setNaming(false)}>
        {t("keep")}
      </Button>
    </form>
  );
}

const LARGEST = 262_144;

export function ImportButton({ onRead }: { onRead: (text: string, name: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".yaml,.yml,.json,application/yaml,application/json"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file === undefined) return;
          if (file.size > LARGEST) {
            notify({
              kind: "error",
              title: t("nothingWasImported"),
              text: t("isLargerThanAConfiguration", { name: file.name }),
            });
            return;
          }
          file.text().then(
            (text) => {
              const refused =
                text.trim() === ""
                  ? t("isEmpty", { name: file.name })
                  : text.includes("\0")
                    ? t("isNoTextFile", { name: file.name })
                    : null;
              if (refused === null) onRead(text, file.name);
              else notify({ kind: "error", title: t("nothingWasImported"), text: refused });
            },
            (error: unknown) => notifyError(t("nothingWasImported"), error),
          );
        }}
      />
      <Button icon="upload" title={t("aKubeSchedulerConfigurationYAMLOrJSON")} onClick={() => input.current?.click()}>
        {t("import")}
      </Button>
    </>
  );
}

interface ExportButtonProps {
  id: string;
  name: string;
  number: number;
  /** The unsaved text; null exports the saved file. */
  draft: string | null;
  readable: boolean;
}

function ExportButton({ id, name, number, draft, readable }: ExportButtonProps) {
  const download = async (format: TextFormat) => {
    try {
      const text = draft === null || !readable ? (draft ?? "") : (await checkText({ text: draft, format })).text;
      const link = document.createElement("a");
      link.href =
        draft === null
          ? exportAddress(id, number, format)
          : URL.createObjectURL(new Blob([text], { type: `application/${format}` }));
      link.download =
        draft === null
          ? ""
          : `${name
              .toLowerCase()
              .replace(/[^a-z0-9]+/g, "-")
              .replace(/^-|-$/g, "")}-draft.${format}`;
      link.click();
      if (draft !== null) URL.revokeObjectURL(link.href);
    } catch (error) {
      notifyError(t("nothingWasExported"), error);
    }
  };
  return (
    <Menu position="bottom-end" shadow="md" withinPortal returnFocus withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button icon="download" aria-label={t("export")}>
          {t("export")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {draft === null
            ? t("kubeSchedulerConfigurationVersion", { number })
            : t("kubeSchedulerConfigurationTheDraft")}
        </Menu.Label>
        <Menu.Item onClick={() => void download("yaml")} leftSection={<Icon name="file" size={14} />}>
          {draft !== null && !readable ? t("exportYamlAsItIs") : "YAML"}
        </Menu.Item>
        <Menu.Item
          disabled={!readable}
          onClick={() => void download("json")}
          leftSection={<Icon name="file" size={14} />}
        >
          {t("jSONWithoutComments")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
