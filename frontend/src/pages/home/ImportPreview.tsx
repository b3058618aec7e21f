import { useDebouncedValue } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, Suspense, useState } from "react";

import { ApiError, pathOf, request } from "@/api/client";
import { importQuery } from "@/api/queries";
import type { Import, Snapshot, SnapshotCounts } from "@/api/types";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Failed, Outlines } from "@/components/Outcome";
import { both } from "@/format/lists";
import { bytes, count } from "@/format/number";
import { seconds } from "@/format/time";
import { later } from "@/parts/later";

import { kindTiles, listedFew } from "./importing";
import classes from "./ImportPreview.module.css";
import { rich, t } from "./texts";

interface ImportPreviewProps {
  id: string;
  /** It was pasted, not chosen. */
  ofText: boolean;
  onDiscarded: () => void;
  onChooseAnother: () => void;
  onImported: (snapshot: Snapshot, run: boolean) => void;
}

const ImportLoad = later(() => import("./ImportLoad"));
const POLL = 400;
const ALL = { exclude_namespaces: "", label_selector: "" };

export default function ImportPreview({ id, ofText, onDiscarded, onChooseAnother, onImported }: ImportPreviewProps) {
  const queries = useQueryClient();
  const [excluded, setExcluded] = useState<readonly string[]>([]);
  const [selector, setSelector] = useState("");
  const [takesConfiguration, setTakesConfiguration] = useState(true);
  const [leavesOut, setLeavesOut] = useState(false);
  const [asked] = useDebouncedValue(selector.trim(), 300);
  const filter = { exclude_namespaces: excluded.join(","), label_selector: asked };
  const preview = useQuery({
    ...importQuery(id, ALL),
    refetchInterval: ({ state }) => (state.data?.state === "reading" ? POLL : false),
  });
  // A selector that is refused takes nothing away of what was read, and least of all the field that it is typed into.
  const narrowed = useQuery({ ...importQuery(id, filter), enabled: preview.data?.state === "ready" });
  const commit = useMutation({
    mutationFn: (_run: boolean) =>
      request<Snapshot>(pathOf("imports", id, "commit"), {
        method: "POST",
        body: {
          exclude_namespaces: excluded,
          label_selector: asked,
          take_configuration: takesConfiguration,
          leave_out_problems: leavesOut,
        },
      }),
    onSuccess: async (snapshot, run) => {
      const changed = [["snapshots"], ["configurations"]];
      await Promise.all(changed.map((queryKey) => queries.invalidateQueries({ queryKey })));
      onImported(snapshot, run);
    },
  });
  const discard = useMutation({
    mutationFn: () => request(pathOf("imports", id), { method: "DELETE" }),
    onSettled: onDiscarded,
  });

  const selectorError =
    narrowed.error instanceof ApiError && narrowed.error.body.path === "label_selector" ? narrowed.error : null;
  if (preview.data === undefined) {
    if (preview.error === null) return <Outlines count={4} height={40} label={t("readingTheImport")} />;
    if (preview.error instanceof ApiError && preview.error.status === 404) return null;
    return <Failed what={t("theImportCouldNotBe")} error={preview.error} retry={() => void preview.refetch()} />;
  }
  const data = preview.data;
  if (data.state === "failed") {
    return (
      <div className={classes.failed} role="alert">
        <p>
          <b>{t("nothingWasImported")}</b> {data.error}
        </p>
        <div className={classes.actions}>
          <Button size="sm" onClick={onChooseAnother}>
            {ofText ? t("changeTheText") : t("chooseAnotherFile")}
          </Button>
          <Button size="sm" kind="ghost" onClick={onDiscarded}>
            {t("dismiss")}
          </Button>
        </div>
      </div>
    );
  }
  if (data.state === "reading" || data.counts === null) {
    return (
      <div className={classes.reading} role="status">
        {data.context === ""
          ? rich("readingFilename", {
              filename: data.filename,
              size: <span className="num">{bytes(data.size_bytes)}</span>,
            })
          : t("readingContext", {
              filename: data.filename,
              kind: data.progress?.kind ?? "…",
              objects: data.progress?.objects ?? 0,
            })}
        <progress
          aria-label={t("readingFile", { filename: data.filename })}
          {...(data.progress === null ? {} : { value: data.progress.done, max: data.progress.of })}
        />
      </div>
    );
  }
  const busy = commit.isPending || discard.isPending;
  // What is imported is what the page says will be.
  const isAsking = selector.trim() !== asked || narrowed.isPlaceholderData;
  const cannot = busy || isAsking || narrowed.error !== null || (data.problem_count > 0 && !leavesOut);
  const { counts } = data;
  const filtered = narrowed.data?.filtered ?? null;
  return (
    <div className={classes.preview}>
      <FileLine read={data} />
      <Kinds counts={counts} />
      <Notes notes={data.notes} />
      {data.problem_count === 0 ? null : <Problems found={data} left={leavesOut} onLeave={setLeavesOut} />}
      {data.warnings.length === 0 ? null : <Warnings said={data.warnings} />}
      <Namespaces counts={counts} excluded={excluded} onExclude={setExcluded} />
      <label className={classes.title} htmlFor="selector">
        {t("labelSelector")}
      </label>
      <input
        id="selector"
        className={`${classes.field} mono`}
        value={selector}
        placeholder={t("appKubernetesIoPartOf")}
        spellCheck={false}
        aria-invalid={selectorError !== null}
        aria-describedby={selectorError === null ? undefined : "selector-error"}
        onChange={(event) => setSelector(event.currentTarget.value)}
      />
      {selectorError === null ? null : (
        <p id="selector-error" className={classes.wrong}>
          <Icon name="warning" size={13} />
          {selectorError.message}
        </p>
      )}
      {data.configuration === "" ? null : (
        <OwnConfiguration
          errors={data.configuration_errors}
          taken={takesConfiguration}
          onTake={setTakesConfiguration}
        />
      )}
      {counts.nodes === 0 ? null : (
        <Suspense>
          <ImportLoad read={data} disabled={busy} />
        </Suspense>
      )}
      <Kept excluded={excluded} selector={asked} filtered={filtered} counts={counts} />
      {narrowed.error === null || selectorError !== null ? null : (
        <Failed what={t("theImportCouldNotBe")} error={narrowed.error} retry={() => void narrowed.refetch()} small />
      )}
      {commit.error === null ? null : <Failed what={t("nothingWasImported")} error={commit.error} small />}
      <div className={classes.actions}>
        <Button kind="ghost" sends disabled={busy} onClick={() => discard.mutate()}>
          {t("discard")}
        </Button>
        <span className="grow" />
        <Button sends disabled={cannot} onClick={() => commit.mutate(false)}>
          {t("import")}
        </Button>
        <Button kind="primary" sends disabled={cannot} onClick={() => commit.mutate(true)}>
          {t("importAndRun")}
        </Button>
      </div>
    </div>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul className={classes.notes}>
      {notes.map((one) => (
        <li key={one}>
          <Icon name="info" size={13} />
          {one}
        </li>
      ))}
    </ul>
  );
}

function Warnings({ said }: { said: readonly string[] }) {
  return (
    <ul className={classes.warnings}>
      {said.map((one) => (
        <li key={one}>
          <Icon name="warning" size={13} />
          {one}
        </li>
      ))}
    </ul>
  );
}

function FileLine({ read }: { read: Import }) {
  return (
    <div className={classes.file}>
      <Icon name="file" size={15} />
      <b className="mono clip" title={read.filename}>
        {read.filename}
      </b>
      <span className="faint num">{bytes(read.size_bytes)}</span>
      <span className="grow" />
      <span className={classes.read}>
        <Icon name="bound" size={13} />
        {t("readIn", { max: seconds(Math.max(0.1, read.seconds ?? 0)) })}
      </span>
    </div>
  );
}

interface NamespacesProps {
  counts: NonNullable<Import["counts"]>;
  excluded: readonly string[];
  onExclude: (excluded: readonly string[]) => void;
}

function Namespaces({ counts, excluded, onExclude }: NamespacesProps) {
  return (
    <>
      <h3 className={classes.title}>
        {t("namespaces")} <span className="faint">{t("podsInEach")}</span>
      </h3>
      <div className={classes.namespaces}>
        {counts.pods_by_namespace.map((one) => {
          const left = excluded.includes(one.name);
          return (
            <button
              key={one.name}
              type="button"
              className={classes.namespace}
              aria-pressed={!left}
              title={left ? t("takeInAgain", { name: one.name }) : t("leaveThePodsOfOut", { name: one.name })}
              onClick={() => onExclude(left ? excluded.filter((name) => name !== one.name) : [...excluded, one.name])}
            >
              <Icon name={left ? "minus" : "bound"} size={12} />
              {one.name}
              <span className="num">{count(one.pods)}</span>
            </button>
          );
        })}
        {counts.empty_namespaces > 0 ? (
          <span className={classes.without}>{t("withoutPods", { emptynamespaces: counts.empty_namespaces })}</span>
        ) : null}
      </div>
    </>
  );
}

/** Objects that cannot be taken, and whether the rest is imported without them. */
function Problems({ found, left, onLeave }: { found: Import; left: boolean; onLeave: (left: boolean) => void }) {
  const unlisted = found.problem_count - found.problems.length;
  return (
    <section className={classes.problems} aria-labelledby="problems">
      <h3 id="problems">{t("objectsCannotBeTaken", { count: found.problem_count })}</h3>
      <ul>
        {found.problems.map((one, index) => (
          <li key={index}>{one.words}</li>
        ))}
        {unlisted > 0 ? <li>{t("andMoreOfThem", { count: unlisted })}</li> : null}
      </ul>
      <label className={classes.own}>
        <input type="checkbox" checked={left} onChange={(event) => onLeave(event.currentTarget.checked)} />
        {t("leaveThemOut", { count: found.problem_count })}
      </label>
    </section>
  );
}

/** The scheduler's configuration that the file came with. */
function OwnConfiguration({
  errors,
  taken,
  onTake,
}: {
  errors: readonly string[];
  taken: boolean;
  onTake: (taken: boolean) => void;
}) {
  if (errors.length > 0) {
    return (
      <>
        <h3 className={classes.title}>{t("itsConfigurationCannotBeUsed")}</h3>
        <Warnings said={errors} />
      </>
    );
  }
  return (
    <label className={classes.own}>
      <input type="checkbox" checked={taken} onChange={(event) => onTake(event.currentTarget.checked)} />
      {t("takeItsSchedulerConfigurationToo")}
    </label>
  );
}

function Kinds({ counts }: { counts: SnapshotCounts }) {
  return (
    <ul className={classes.kinds}>
      {kindTiles(counts).map((tile) => (
        <li key={tile.name} data-used={tile.used}>
          <b className="num">{count(tile.count)}</b>
          <span>{tile.name}</span>
          {tile.detail === undefined ? null : <em>{tile.detail}</em>}
        </li>
      ))}
    </ul>
  );
}

/** What the filters come to, and what happens to the usage of the pods that are left out. */
function Kept({
  excluded,
  selector,
  filtered,
  counts,
}: {
  excluded: readonly string[];
  selector: string;
  filtered: Import["filtered"];
  counts: SnapshotCounts;
}) {
  const filters = [
    excluded.length > 0 ? t("leftOut", { listed: listedFew(excluded) }) : "",
    selector !== "" ? selector : "",
  ].filter(Boolean);
  const nodes = filtered?.nodes ?? counts.nodes;
  const pods = filtered?.pods ?? counts.pods;
  const unnamed = filtered?.unnamed_usage_pods ?? 0;
  // Without filters the notes above say so.
  const made = filters.length > 0 ? (filtered?.made_pods ?? 0) : 0;
  const intro: ReactNode = filters.length === 0 ? t("allOfIt") : t("withFilters", { filters: both(filters) });
  return (
    <div className={classes.kept} role="status">
      <Icon name="info" size={14} />
      <p>
        {intro}{" "}
        <b className="num">
          {t("nNodes", { count: nodes })}, {t("nPods", { count: pods })}
        </b>
        . {made > 0 ? `${t("ofTheseWereMade", { count: made })} ` : ""}
        {unnamed > 0 ? `${t("whatLeftOutPodsUse", { count: unnamed })} ` : ""}
        {t("nothingYouHaveIsChanged")}
      </p>
    </div>
  );
}
