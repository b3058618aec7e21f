/** What a list of runs is narrowed by: words, cluster, configuration, state, forks. The list of runs and the choice of a run share it. */
import { useQuery } from "@tanstack/react-query";
import { type Ref, useCallback } from "react";

import { configurationsQuery, type RunFilter, snapshotsQuery } from "@/api/queries";
import { RUN_STATES } from "@/api/types";
import { t } from "@/components/texts";
import { useTypedSearch } from "@/components/useTypedSearch";

import classes from "./RunFilters.module.css";
import { stateWord } from "./RunStateWord";

const OFFERED = 200;

interface RunFiltersProps {
  value: RunFilter;
  /** The parts that change; undefined takes a part away. */
  onChange: (part: RunFilter) => void;
  field?: Ref<HTMLInputElement>;
}

export function RunFilters({ value, onChange, field }: RunFiltersProps) {
  const snapshots = useQuery(snapshotsQuery(OFFERED));
  const configurations = useQuery(configurationsQuery(OFFERED));
  const ask = useCallback((q: string | undefined) => onChange({ q }), [onChange]);
  const [text, setText] = useTypedSearch(value.q, ask);
  return (
    <search className={classes.filters}>
      <input
        ref={field}
        type="search"
        value={text}
        placeholder={t("searchRunsBy")}
        aria-label={t("searchRuns")}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Choice
        label={t("cluster")}
        every={t("everyCluster")}
        value={value.snapshot}
        known={snapshots.data?.results.map(({ id, name }) => [id, name])}
        onChange={(snapshot) => onChange({ snapshot })}
      />
      <Choice
        label={t("configuration")}
        every={t("everyConfiguration")}
        value={value.configuration}
        known={configurations.data?.results.map(({ id, name }) => [id, name])}
        onChange={(configuration) => onChange({ configuration })}
      />
      <Choice
        label={t("state")}
        every={t("everyState")}
        value={value.state}
        known={RUN_STATES.map((state) => [state, stateWord(state)])}
        onChange={(state) => onChange({ state: RUN_STATES.find((one) => one === state) })}
      />
      <Choice
        label={t("forks")}
        every={t("forksAndOthers")}
        value={value.fork === undefined ? undefined : String(value.fork)}
        known={[
          ["true", t("onlyForks")],
          ["false", t("noForks")],
        ]}
        onChange={(fork) => onChange({ fork: fork === undefined ? undefined : fork === "true" })}
      />
    </search>
  );
}

interface ChoiceProps {
  label: string;
  /** The words for no choice. */
  every: string;
  value: string | undefined;
  /** Value and words; undefined while they are read. */
  known: readonly (readonly [string, string])[] | undefined;
  onChange: (value: string | undefined) => void;
}

function Choice({ label, every, value, known = [], onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
    >
      <option value="">{every}</option>
      {value === undefined || known.some(([one]) => one === value) ? null : (
        <option value={value}>{t("theOneOfThisAddress")}</option>
      )}
      {known.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}
