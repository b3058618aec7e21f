/**
 * On which terms a run schedules a real cluster. Nobody begins one by accident: it is a dry run unless that is taken
 * back, and the cluster's name is typed.
 */
import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { ApiError } from "@/api/client";
import type { ClusterDetails } from "@/api/clusters";
import { versionQuery } from "@/api/configurationQueries";
import { configurationsQuery } from "@/api/queries";
import { Button } from "@/components/Button";
import { CheckWithHelp } from "@/components/CheckWithHelp";
import { Icon } from "@/components/Icon";
import { LEAST, megabytesIn, MOST } from "@/components/Megabytes";
import { Failed } from "@/components/Outcome";
import { either } from "@/format/lists";

import { DEFAULT_SCHEDULER, labelsIn, limitIn, listed, ownNodes } from "./mayBeScheduled";
import { RealPodsDialog } from "./RealPodsDialog";
import classes from "./ScheduleDialog.module.css";
import { rich, t } from "./texts";
import { useSchedule } from "./useFollow";

type Field =
  | "configuration_version"
  | "scheduler_names"
  | "namespaces"
  | "bindings_per_minute"
  | "node_selector"
  | "megabytes"
  | "typed";
const FIELDS: readonly Field[] = [
  "configuration_version",
  "scheduler_names",
  "namespaces",
  "bindings_per_minute",
  "node_selector",
  "megabytes",
  "typed",
];

/** Which field the server speaks of; null where it is of the whole. */
function fieldOf(error: Error | null): Field | null {
  const path = error instanceof ApiError ? (error.body.path ?? "") : "";
  return FIELDS.find((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`)) ?? null;
}

/** Of a value that has another form than it must, the server's sentence begins with the field's name. */
function sentenceOf(error: Error | null): string | undefined {
  const path = error instanceof ApiError ? error.body.path : undefined;
  return path !== undefined && error?.message.startsWith(`${path}: `) === true
    ? error.message.slice(path.length + 2)
    : error?.message;
}

export default function ScheduleDialog({ cluster, onClose }: { cluster: ClusterDetails; onClose: () => void }) {
  return (
    <RealPodsDialog onClose={onClose}>
      <Form cluster={cluster} onClose={onClose} />
    </RealPodsDialog>
  );
}

/** What somebody filled in, and what is wrong with it: found here, or by the server. */
function useTerms(cluster: ClusterDetails) {
  const configurations = useQuery(configurationsQuery());
  const known = configurations.data?.results ?? [];
  const [chosen, setChosen] = useState("");
  const configuration = known.find((one) => one.id === chosen) ?? known.find((one) => !one.builtin) ?? known[0];
  const version = useQuery({
    ...versionQuery(configuration?.id ?? "", configuration?.latest.number ?? 0),
    enabled: configuration !== undefined,
  });
  const [namespaces, setNamespaces] = useState("");
  const [limit, setLimit] = useState("");
  const [labels, setLabels] = useState("");
  const [kept, setKept] = useState(String(cluster.follow_megabytes));
  const [dryRun, setDryRun] = useState(true);
  const [typed, setTyped] = useState("");
  const [refused, setRefused] = useState<Partial<Record<Field, string>>>({});
  const schedule = useSchedule(cluster.name);

  const profiles = version.data?.effective?.profiles ?? [];
  const names = [...new Set(profiles.map((one) => one.scheduler_name))];
  const told = fieldOf(schedule.error);
  const isTyped = typed.trim() === cluster.name;
  const isReady = isTyped && configuration !== undefined && names.length > 0 && !schedule.isPending;
  const forget = (field: Field) => {
    setRefused((old) => ({ ...old, [field]: undefined }));
    if (told === field) schedule.reset();
  };
  /** The answer: the id of the field that has to be mended first. */
  const submit = (): string | null => {
    const perMinute = limitIn(limit);
    const selector = labelsIn(labels);
    const megabytes = megabytesIn(kept);
    setRefused({
      ...(perMinute === null ? { bindings_per_minute: t("aWholeNumber") } : {}),
      ...(selector === null ? { node_selector: t("labelsOfNodes") } : {}),
      ...(megabytes === null ? { megabytes: t("megabytesPlease", { least: LEAST, most: MOST }) } : {}),
      ...(isTyped ? {} : { typed: t("anotherNameTyped", { name: cluster.name }) }),
    });
    if (perMinute === null) return "limit";
    if (selector === null) return "labels";
    if (megabytes === null) return "megabytes";
    if (!isTyped) return "typed";
    if (!isReady) return null;
    schedule.mutate({
      typed: typed.trim(),
      configuration_version: configuration.latest.id,
      scheduler_names: names,
      namespaces: listed(namespaces),
      bindings_per_minute: perMinute,
      node_selector: selector,
      dry_run: dryRun,
      megabytes,
    });
    return null;
  };
  return {
    known,
    configuration,
    version,
    profiles,
    names,
    values: { namespaces, limit, labels, kept, dryRun, typed },
    choose: (id: string) => {
      setChosen(id);
      forget("configuration_version");
      forget("scheduler_names");
    },
    setNamespaces: (text: string) => {
      setNamespaces(text);
      forget("namespaces");
    },
    setLimit: (text: string) => {
      setLimit(text);
      forget("bindings_per_minute");
    },
    setLabels: (text: string) => {
      setLabels(text);
      forget("node_selector");
    },
    setKept: (text: string) => {
      setKept(text);
      forget("megabytes");
    },
    setTyped: (text: string) => {
      setTyped(text);
      forget("typed");
    },
    setDryRun,
    errorAt: (field: Field) => refused[field] ?? (told === field ? sentenceOf(schedule.error) : undefined),
    /** Of nothing that is filled in. */
    unread: configurations.error ?? version.error,
    other: told === null ? schedule.error : null,
    isBeginning: schedule.isPending,
    isReady,
    submit,
  };
}

type Terms = ReturnType<typeof useTerms>;

function Form({ cluster, onClose }: { cluster: ClusterDetails; onClose: () => void }) {
  const terms = useTerms(cluster);
  const { dryRun, typed } = terms.values;
  const wrongName = terms.errorAt("typed");
  return (
    <form
      className={classes.form}
      autoComplete="off"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const wrong = terms.submit();
        if (wrong !== null) event.currentTarget.querySelector<HTMLElement>(`#${wrong}`)?.focus();
      }}
    >
      <div className={classes.body}>
        <Modal.Title className={classes.title ?? ""}>{t("startSchedulingIn", { context: cluster.name })}</Modal.Title>
        <p className="muted">{t("fromThenOn")}</p>
        <div className={classes.terms}>
          <Pods terms={terms} />
          <Limits terms={terms} />
          <Nodes terms={terms} />
          <Kept terms={terms} />
        </div>
        <div className={classes.warning}>
          <Icon name="warning" size={16} />
          <p>
            <b>{t("twoSchedulers")}</b> {t("keepThemApart")}
          </p>
        </div>
        <div className={classes.dryRun}>
          <CheckWithHelp label={t("dryRun")} help={t("whatADryRunIs")} checked={dryRun} onChecked={terms.setDryRun} />
        </div>
        <label className={classes.label} htmlFor="typed">
          {rich("typeTheName", { name: <code className="mono">{cluster.name}</code> })}
        </label>
        <input
          id="typed"
          className={`${classes.typed} mono`}
          value={typed}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          aria-invalid={wrongName !== undefined}
          aria-describedby="typed-help"
          onChange={(event) => terms.setTyped(event.currentTarget.value)}
        />
        <Said id="typed-help" error={wrongName} />
        {terms.unread === null ? null : <Failed what={t("noConfigurations")} error={terms.unread} small />}
        {terms.other === null ? null : <Failed what={t("notScheduled")} error={terms.other} small />}
      </div>
      <div className={classes.foot}>
        <span className="faint" role="status">
          {terms.isBeginning ? t("readingToSchedule", { context: cluster.name }) : ""}
        </span>
        <span className="grow" />
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind="primary" type="submit" sends aria-disabled={!terms.isReady} disabled={terms.isBeginning}>
          {terms.isBeginning ? t("readingToFollow") : dryRun ? t("startDryRun") : t("startScheduling")}
        </Button>
      </div>
    </form>
  );
}

/** The configuration, and whose pods it schedules: every schedulerName of it, which the server asks to be named. */
function Pods({ terms }: { terms: Terms }) {
  const { known, configuration, version, names, errorAt } = terms;
  return (
    <>
      <Term label={t("configuration")} id="with" error={errorAt("configuration_version")}>
        <select
          id="with"
          data-autofocus
          value={configuration?.id ?? ""}
          aria-describedby="with-help"
          onChange={(event) => terms.choose(event.currentTarget.value)}
        >
          {known.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      </Term>
      <Term label={t("pods")} error={errorAt("scheduler_names")}>
        {version.data === undefined ? (
          <p className="faint">{t("readingTheConfiguration")}</p>
        ) : names.length === 0 ? (
          <p>{t("configurationCannotBePlayed")}</p>
        ) : (
          <p>{rich("withSchedulerName", { names: <code className="mono">{either(names)}</code> })}</p>
        )}
        {names.includes(DEFAULT_SCHEDULER) ? (
          <p className={classes.help}>{t("sharesTheLease", { name: DEFAULT_SCHEDULER })}</p>
        ) : null}
      </Term>
    </>
  );
}

function Limits({ terms }: { terms: Terms }) {
  const { values, errorAt } = terms;
  return (
    <>
      <Term label={t("namespaces")} id="namespaces" error={errorAt("namespaces")} help={t("separatedByCommas")}>
        <input
          id="namespaces"
          className="mono"
          value={values.namespaces}
          placeholder={t("allOfThem")}
          spellCheck={false}
          autoCapitalize="none"
          aria-invalid={errorAt("namespaces") !== undefined}
          aria-describedby="namespaces-help"
          onChange={(event) => terms.setNamespaces(event.currentTarget.value)}
        />
      </Term>
      <Term label={t("bindingsAMinute")} id="limit" error={errorAt("bindings_per_minute")} help={t("asManyAsThereAre")}>
        <input
          id="limit"
          className="num"
          inputMode="numeric"
          value={values.limit}
          placeholder={t("noLimit")}
          aria-invalid={errorAt("bindings_per_minute") !== undefined}
          aria-describedby="limit-help"
          onChange={(event) => terms.setLimit(event.currentTarget.value)}
        />
      </Term>
    </>
  );
}

/** To which nodes the configuration keeps, profile by profile. */
function Nodes({ terms }: { terms: Terms }) {
  const { profiles, values, errorAt } = terms;
  return (
    <Term label={t("nodes")} id="labels" error={errorAt("node_selector")} help={t("howToKeepToNodes")}>
      <input
        id="labels"
        className="mono"
        value={values.labels}
        placeholder={t("allOfThem")}
        spellCheck={false}
        autoCapitalize="none"
        aria-invalid={errorAt("node_selector") !== undefined}
        aria-describedby="labels-help"
        onChange={(event) => terms.setLabels(event.currentTarget.value)}
      />
      {profiles.map((profile) => {
        const own = ownNodes(profile);
        return own.length === 0 ? null : (
          <p key={profile.scheduler_name}>
            {rich("onlyNodes", { nodes: <code className="mono">{either(own)}</code> })}
          </p>
        );
      })}
    </Term>
  );
}

function Kept({ terms }: { terms: Terms }) {
  const error = terms.errorAt("megabytes");
  return (
    <Term label={t("megabytesKept")} id="megabytes" error={error} help={t("thenItsOldestPartGoes")}>
      <input
        id="megabytes"
        className="num"
        inputMode="numeric"
        value={terms.values.kept}
        aria-invalid={error !== undefined}
        aria-describedby="megabytes-help"
        onChange={(event) => terms.setKept(event.currentTarget.value)}
      />
    </Term>
  );
}

interface TermProps {
  label: string;
  /** Of the field; without one there is nothing to fill in. */
  id?: string;
  error?: string | undefined;
  help?: string;
  children: ReactNode;
}

function Term({ label, id, error, help, children }: TermProps) {
  return (
    <div className={classes.term}>
      {id === undefined ? <span>{label}</span> : <label htmlFor={id}>{label}</label>}
      <div>
        {children}
        <Said id={id === undefined ? undefined : `${id}-help`} error={error} help={help} />
      </div>
    </div>
  );
}

interface SaidProps {
  id: string | undefined;
  error: string | undefined;
  help?: string | undefined;
}

/** What is said under a field: what is wrong with it, else how it is filled in. */
function Said({ id, error, help }: SaidProps) {
  return (
    <p
      id={id}
      className={error === undefined ? classes.help : classes.wrong}
      role={error === undefined ? undefined : "alert"}
    >
      {error ?? help}
    </p>
  );
}
