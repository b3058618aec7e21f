/** Left: profiles, presets, values of all profiles, versions. */
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";

import { presetsQuery } from "@/api/configurationQueries";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";
import { later } from "@/parts/later";
import { notify } from "@/shell/notify";

import { useEditing } from "../draft/editing";
import { t } from "../texts";
import { freeName, profileNote, shortMessage } from "../words";
import classes from "./Sidebar.module.css";
import { Versions } from "./Versions";

const ExtendersDrawer = later(() => import("./ExtendersDrawer"));

export function Sidebar() {
  const { readOnly } = useEditing();
  return (
    <Panel className={classes.side ?? ""} aria-label={t("profilesAndVersions")}>
      <Profiles />
      {readOnly ? null : <Presets />}
      <AllProfiles />
      <Versions />
    </Panel>
  );
}

function Profiles() {
  const { effective, profile, changes, showProfile, edit, readOnly } = useEditing();
  const [adding, setAdding] = useState<string | null>(null);
  const names = effective.profiles.map((one) => one.scheduler_name);
  const add = () => {
    const name = adding?.trim() ?? "";
    setAdding(null);
    if (name === "") return;
    edit({ type: "addProfile", schedulerName: name, copyOf: profile });
    showProfile(name);
  };
  return (
    <>
      <h2>{t("profiles")}</h2>
      <ul className={classes.list}>
        {effective.profiles.map((one, index) => (
          <li key={`${index} ${one.scheduler_name}`} {...(index === profile ? { "data-on": "" } : {})}>
            <button
              type="button"
              aria-current={index === profile ? "true" : undefined}
              onClick={() => showProfile(one.scheduler_name)}
            >
              <b className="clip">{one.scheduler_name === "" ? t("noName") : one.scheduler_name}</b>
              <em>{profileNote(one, changes)}</em>
            </button>
            {names.length > 1 && index === profile && !readOnly ? (
              <IconButton
                icon="trash"
                iconSize={13}
                label={t("removeTheProfile", { schedulername: one.scheduler_name })}
                onClick={() => {
                  edit({ type: "removeProfile", profile: index });
                  showProfile(names[index === 0 ? 1 : 0] ?? "");
                }}
              />
            ) : null}
          </li>
        ))}
        {readOnly ? null : (
          <li>
            {adding === null ? (
              <button
                type="button"
                className={classes.add}
                onClick={() => setAdding(freeName("second-scheduler", names))}
              >
                <Icon name="plus" size={12} />
                {t("addAProfile")}
              </button>
            ) : (
              <form
                className={classes.adding}
                onSubmit={(event) => {
                  event.preventDefault();
                  add();
                }}
              >
                <input
                  className="mono"
                  // eslint-disable-next-line jsx-a11y/no-autofocus -- the field replaces the button that was pressed
                  autoFocus
                  aria-label={t("schedulerNameOfTheNewProfile")}
                  value={adding}
                  spellCheck={false}
                  onFocus={(event) => event.currentTarget.select()}
                  onChange={(event) => setAdding(event.currentTarget.value)}
                  onBlur={add}
                  onKeyDown={(event) => {
                    if (event.key !== "Escape") return;
                    event.stopPropagation();
                    setAdding(null);
                  }}
                />
                <em>{t("beginsAsACopyOf", { names: names[profile] ?? "" })}</em>
              </form>
            )}
          </li>
        )}
      </ul>
    </>
  );
}

function Presets() {
  const { store } = useEditing();
  const presets = useQuery(presetsQuery);
  if (presets.data === undefined) return null;
  return (
    <>
      <h2>{t("startFrom")}</h2>
      <ul className={classes.presets}>
        {presets.data.map((preset) => (
          <li key={preset.name}>
            <button
              type="button"
              title={preset.description}
              onClick={() => {
                store.setText(preset.text, { undoable: true });
                notify({
                  title: t("theDraftStartsFromNow", { title: preset.title }),
                  text: t("undoBringsBackWhatWas"),
                });
              }}
            >
              {preset.title}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** How many there are; opens their form. */
function Extenders() {
  const { effective, readOnly } = useEditing();
  const [open, setOpen] = useState(false);
  const { extenders } = effective.globals;
  if (readOnly && extenders === 0) return null;
  return (
    <li>
      <span>{t("extenders")}</span>
      <button
        type="button"
        className="num"
        aria-label={t("openExtenders", { extenders })}
        onClick={() => setOpen(true)}
      >
        {extenders}
      </button>
      {open ? (
        <Suspense fallback={null}>
          <ExtendersDrawer onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </li>
  );
}

const GLOBALS = [
  {
    key: "parallelism",
    get label() {
      return t("parallelism");
    },
    field: "parallelism",
  },
  {
    key: "percentage_of_nodes_to_score",
    get label() {
      return t("nodesToScore");
    },
    field: "percentageOfNodesToScore",
  },
  {
    key: "pod_initial_backoff_seconds",
    get label() {
      return t("firstBackoff");
    },
    field: "podInitialBackoffSeconds",
  },
  {
    key: "pod_max_backoff_seconds",
    get label() {
      return t("longestBackoff");
    },
    field: "podMaxBackoffSeconds",
  },
] as const;

type GlobalKey = (typeof GLOBALS)[number]["key"];

function shownValue(key: GlobalKey, value: number): string {
  if (key === "percentage_of_nodes_to_score") return value === 0 ? t("adaptive") : `${value}\u00a0%`;
  return key === "parallelism" ? String(value) : t("seconds", { seconds: value });
}

function AllProfiles() {
  const { effective, examination, edit, readOnly } = useEditing();
  const [editing, setEditing] = useState<GlobalKey | null>(null);
  const commit = (field: string, text: string) => {
    setEditing(null);
    const value = text.trim();
    if (value === "") edit({ type: "removeField", path: [field] });
    else edit({ type: "setField", path: [field], value: Number.isNaN(Number(value)) ? value : Number(value) });
  };
  return (
    <>
      <h2>{t("allProfiles")}</h2>
      <ul className={classes.values}>
        {GLOBALS.map(({ key, label, field }) => {
          const error = examination.errors.find((one) => one.path === field);
          return (
            <li key={key} data-wrong={error === undefined ? undefined : true}>
              <span>{label}</span>
              {editing === key ? (
                <input
                  className="num"
                  inputMode="numeric"
                  // eslint-disable-next-line jsx-a11y/no-autofocus -- the field replaces the value that was pressed
                  autoFocus
                  aria-label={field}
                  defaultValue={String(effective.globals[key])}
                  onFocus={(event) => event.currentTarget.select()}
                  onBlur={(event) => {
                    if (event.currentTarget.value !== String(effective.globals[key]))
                      commit(field, event.currentTarget.value);
                    else setEditing(null);
                  }}
                  onKeyDown={(event) => {
                    if (event.key === "Enter") event.currentTarget.blur();
                    if (event.key === "Escape") {
                      event.stopPropagation();
                      setEditing(null);
                    }
                  }}
                />
              ) : readOnly ? (
                <b className="num">{shownValue(key, effective.globals[key])}</b>
              ) : (
                <button
                  type="button"
                  className="num"
                  title={error?.message ?? t("changeField", { field })}
                  aria-label={t("fieldShownValueChange", {
                    field,
                    shownValue: shownValue(key, effective.globals[key]),
                  })}
                  {...(error === undefined ? {} : { "data-error": "" })}
                  onClick={() => setEditing(key)}
                >
                  {shownValue(key, effective.globals[key])}
                </button>
              )}
              {error === undefined ? null : <em role="status">{shortMessage(error)}</em>}
            </li>
          );
        })}
        <Extenders />
      </ul>
    </>
  );
}
