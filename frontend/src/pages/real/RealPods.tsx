/** The pods that ended differently, or of one kind: both outcomes, and what made the difference. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { realExportAddress, realPodsQuery, type RealRow, type RealSummary } from "@/api/realQueries";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Downloads } from "@/components/Downloads";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { placeWord } from "@/components/states";
import { useTypedSearch } from "@/components/useTypedSearch";
import { count } from "@/format/number";
import { exact } from "@/format/time";
import classes from "@/pages/compare/Compare.module.css";

import real from "./Real.module.css";
import { t } from "./texts";
import { DIFFERENT, KINDS, whyWords } from "./words";

const route = getRouteApi("/runs/$run/real");
const LIMIT = 50;

export function RealPods({ run, summary }: { run: string; summary: RealSummary }) {
  const { kind, q, offset = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, ask);
  const filter = { kind, q };
  const pods = useQuery(realPodsQuery(run, filter, offset, LIMIT));
  const { counts } = summary;
  const total = pods.data?.count ?? 0;
  const all = DIFFERENT.reduce((sum, one) => sum + counts[one], 0);
  const goTo = (next: number) =>
    void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }), replace: true });
  return (
    <Panel aria-labelledby="beside">
      <PanelHeader id="beside" title={t("pods")}>
        <span className="muted num" role="status">
          {pods.data === undefined ? "" : count(total)}
        </span>
        <span className="grow" />
        <Downloads address={(as) => realExportAddress(run, as, filter)} />
      </PanelHeader>
      <nav className={classes.kinds} aria-label={t("kinds")}>
        <Link
          from="/runs/$run/real"
          to="/runs/$run/real"
          replace
          search={(old) => ({ ...old, kind: undefined, offset: undefined })}
          className={classes.kind}
          aria-current={kind === undefined ? "true" : undefined}
          activeOptions={{ exact: true }}
        >
          {t("allThatDiffer")} <b className="num">{count(all)}</b>
        </Link>
        {KINDS.filter((one) => counts[one] > 0 || one === kind).map((one) => (
          <Link
            key={one}
            from="/runs/$run/real"
            to="/runs/$run/real"
            replace
            search={(old) => ({ ...old, kind: one, offset: undefined })}
            className={classes.kind}
            aria-current={kind === one ? "true" : undefined}
            activeOptions={{ exact: true }}
          >
            {t(`kind.${one}`)} <b className="num">{count(counts[one])}</b>
          </Link>
        ))}
        <span className="grow" />
        <input
          type="search"
          value={text}
          placeholder={t("partOfName")}
          aria-label={t("filterPods")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </nav>
      {pods.isPending ? <Outlines count={6} height={30} label={t("readingPods")} /> : null}
      {pods.error === null ? null : (
        <Failed
          what={t("podsFailed")}
          error={pods.error}
          retryLabel={t("readAgain")}
          retry={() => void pods.refetch()}
        />
      )}
      {pods.data?.results.length === 0 ? (
        <Empty
          action={
            q === undefined ? null : (
              <Button size="sm" onClick={() => setText("")}>
                {t("clear")}
              </Button>
            )
          }
        >
          {q !== undefined ? t("noMatch", { query: q }) : kind === undefined ? t("noneDiffers") : t("noneOfKind")}
        </Empty>
      ) : null}
      {pods.data === undefined || pods.data.results.length === 0 ? null : (
        <ScrollRegion className={classes.scroller} label={t("rows")}>
          <table className={`${classes.table} ${classes.rows}`}>
            <thead>
              <tr>
                <th scope="col">{t("pod")}</th>
                <th scope="col">{t("namespace")}</th>
                <th scope="col">{t("real")}</th>
                <th scope="col">{t("here")}</th>
                <th scope="col">{t("why")}</th>
              </tr>
            </thead>
            <tbody>
              {pods.data.results.map((row) => (
                <Row key={`${row.pod.namespace}/${row.pod.name}`} row={row} run={run} />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      <Pager offset={offset} limit={LIMIT} total={total} onChoose={goTo} />
    </Panel>
  );
}

function Row({ row, run }: { row: RealRow; run: string }) {
  const why = whyWords(row);
  const detailed = row.points.length > 0 || row.reasons.length > 0;
  return (
    <tr>
      <th scope="row">
        <PodName pod={row.pod} />
      </th>
      <td>{row.pod.namespace}</td>
      <td title={`${exact(row.real.at)}: ${row.real.message}`}>
        <There row={row} />
      </td>
      <td>
        <Here row={row} run={run} />
      </td>
      <td className={classes.why}>
        {!detailed ? (
          why
        ) : (
          <details>
            <summary>{why}</summary>
            {row.points.length > 0 ? <Points row={row} /> : null}
            {row.reasons.length > 0 ? <Reasons row={row} /> : null}
          </details>
        )}
      </td>
    </tr>
  );
}

function There({ row: { real: there } }: { row: RealRow }) {
  if (there.outcome === "pending") return <>{t("pending")}</>;
  if (there.outcome === "preempted")
    return <>{there.node === null ? t("preemptedSomewhere") : t("preempted", { node: there.node })}</>;
  return <span className="mono">{there.node}</span>;
}

/** Where the pod is in this run, linked to it. */
function Here({ row, run }: { row: RealRow; run: string }) {
  const { column, node } = row.run;
  const words = node ?? (column === "deleted" ? t("preemptedSomewhere") : placeWord({ column }));
  return (
    <Link
      to="/runs/$run/pods/$namespace/$name"
      params={{ run, namespace: row.pod.namespace, name: row.pod.name }}
      search={node === null ? {} : { point: "Score" }}
      className={`leads ${node === null ? "" : "mono"}`}
    >
      {words}
    </Link>
  );
}

function Points({ row }: { row: RealRow }) {
  const shown = [...row.points].sort((one, two) => two.own - two.real - (one.own - one.real));
  return (
    <table>
      <caption className="srOnly">{t("points")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("plugin")}</th>
          <th scope="col">{row.run.node}</th>
          <th scope="col">{row.real.node}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => (
          <tr key={one.plugin}>
            <th scope="row">{one.plugin}</th>
            <td>{count(one.own)}</td>
            <td>{count(one.real)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Reasons({ row }: { row: RealRow }) {
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("reason")}</th>
            <th scope="col">{t("nodesThere")}</th>
            <th scope="col">{t("nodesHere")}</th>
          </tr>
        </thead>
        <tbody>
          {row.reasons.map((one) => (
            <tr key={one.reason}>
              <th scope="row">{one.reason}</th>
              <td>{count(one.real)}</td>
              <td>{count(one.run)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={`mono ${real.message}`}>{row.real.message}</p>
    </>
  );
}
