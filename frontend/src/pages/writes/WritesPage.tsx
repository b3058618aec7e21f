/** What a run that schedules a real cluster wrote there: to which object, when, and what became of it. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { runQuery } from "@/api/queries";
import { type ClusterWrite, WRITE_OUTCOMES, writesQuery } from "@/api/scheduling";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { useTypedSearch } from "@/components/useTypedSearch";
import { clauses } from "@/format/lists";
import { count } from "@/format/number";
import { exact, seconds } from "@/format/time";
import compare from "@/pages/compare/Compare.module.css";
import { PagedRows } from "@/pages/compare/PagedRows";
import { runOf } from "@/rewind/moment";
import { Facts } from "@/scheduling/Facts";
import { useTitle } from "@/shell/useTitle";

import { t } from "./texts";
import classes from "./Writes.module.css";

const route = getRouteApi("/runs/$run/writes");
const LIMIT = 50;

export function WritesPage() {
  const { run: key } = route.useParams();
  const id = runOf(key);
  const run = useQuery(runQuery(id));
  useTitle(t("writes"));
  const writes = run.data?.schedules === true;
  return (
    <Page>
      <RunTrail run={id} name={run.data?.snapshot.name}>
        {t("writes")}
      </RunTrail>
      <header className={compare.head}>
        <h1>{writes ? t("title", { context: run.data?.follows ?? "" }) : t("writes")}</h1>
        {writes ? <span className="muted">{t("newestFirst")}</span> : null}
      </header>
      {writes ? (
        <>
          <Facts run={id} />
          <Writes key={id} run={id} />
        </>
      ) : (
        <Panel>
          {run.data !== undefined ? (
            <Empty>{t("noWrites")}</Empty>
          ) : run.error === null ? (
            <Outlines count={6} height={32} label={t("reading")} />
          ) : (
            <Failed what={t("notRead")} error={run.error} retry={() => void run.refetch()} />
          )}
        </Panel>
      )}
    </Page>
  );
}

function Writes({ run }: { run: string }) {
  const { offset = 0, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(filter.q, ask);
  const rows = useQuery(writesQuery(run, filter, offset, LIMIT));
  const total = rows.data?.count ?? 0;
  const isFiltered = filter.outcome !== undefined || filter.q !== undefined;
  return (
    <Panel aria-labelledby="writes">
      <PanelHeader id="writes" title={t("writes")}>
        <span className="muted num" role="status">
          {rows.data === undefined ? "" : count(total)}
        </span>
      </PanelHeader>
      <nav className={compare.kinds} aria-label={t("outcomes")}>
        {[undefined, ...WRITE_OUTCOMES].map((outcome) => (
          <Link
            key={outcome ?? "all"}
            from="/runs/$run/writes"
            to="/runs/$run/writes"
            replace
            search={(old) => ({ ...old, outcome, offset: undefined })}
            className={compare.kind}
            aria-current={filter.outcome === outcome ? "true" : undefined}
            activeOptions={{ exact: true }}
          >
            {t(`outcome.${outcome ?? "all"}`)}
          </Link>
        ))}
        <label className={classes.events}>
          <input
            type="checkbox"
            checked={filter.events === true}
            onChange={(event) => {
              const events = event.currentTarget.checked || undefined;
              void navigate({ search: (old) => ({ ...old, events, offset: undefined }), replace: true });
            }}
          />
          {t("events")}
        </label>
        <span className="grow" />
        <input
          type="search"
          value={text}
          placeholder={t("objectOrNamespace")}
          aria-label={t("filter")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </nav>
      <PagedRows
        rows={rows}
        label={t("rows")}
        heads={[t("object"), t("when"), t("what"), t("became"), t("answer")]}
        row={(row) => <Row key={row.number} row={row} run={run} />}
        offset={offset}
        limit={LIMIT}
        onChoose={(offset) => void navigate({ search: (old) => ({ ...old, offset }), replace: true })}
        words={{ reading: t("reading"), failed: t("notRead"), none: isFiltered ? t("none") : t("nothingYet") }}
      />
    </Panel>
  );
}

const OF_PODS: ReadonlySet<ClusterWrite["purpose"]> = new Set([
  "bind",
  "status",
  "disrupt",
  "evict",
  "event",
  "series",
]);

function Row({ row, run }: { row: ClusterWrite; run: string }) {
  const state = row.result === null ? "waits" : row.result === "done" ? "done" : "not";
  return (
    <tr>
      <th scope="row">
        {OF_PODS.has(row.purpose) ? (
          <Link
            to="/runs/$run/pods/$namespace/$name"
            params={{ run, namespace: row.namespace, name: row.name }}
            className="leads"
          >
            {row.name}
          </Link>
        ) : (
          row.name
        )}
        <div className="muted">{row.namespace}</div>
      </th>
      <td className="num" title={exact(row.stored_at)}>
        {exact(row.stored_at.replace(/\.\d+/, ""))}
      </td>
      <td>{row.node === "" ? t(`purpose.${row.purpose}`) : t("bindTo", { node: row.node })}</td>
      <td>
        <span className={classes.outcome} data-state={state}>
          <i aria-hidden="true" />
          {t(`result.${row.result ?? "none"}`)}
        </span>
        {row.dry_run ? <span className="muted"> {t("dryRun")}</span> : null}
      </td>
      <td className={compare.why}>
        <details>
          <summary>{answerOf(row)}</summary>
          <p className={`${classes.request} mono`}>
            {row.method} {row.path}
          </p>
          <ScrollRegion as="pre" label={t("request")} className={`${classes.body ?? ""} mono`}>
            {JSON.stringify(row.body, null, 2)}
          </ScrollRegion>
        </details>
      </td>
    </tr>
  );
}

/** Status, how long it took, how it was found out, and in whose words. */
function answerOf(row: ClusterWrite): string {
  if (row.answered_at === null) return t("request");
  const took = (Date.parse(row.answered_at) - Date.parse(row.stored_at)) / 1000;
  const told = [
    row.status === 0 ? "" : String(row.status),
    t("after", { seconds: seconds(Math.max(0, took)) }),
    row.tries > 1 ? t("tries", { count: row.tries }) : "",
    row.looked ? t("looked") : "",
    row.bound_to !== "" && row.bound_to !== row.node ? t("boundTo", { node: row.bound_to }) : "",
    row.message,
  ];
  return clauses(told.filter((one) => one !== ""));
}
