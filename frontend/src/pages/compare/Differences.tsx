/** The pods that went different ways, and why: the plugin that made the difference, with the points of both nodes in both runs. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import {
  type Comparison,
  type DifferenceKind,
  differencesQuery,
  exportAddress,
  type PodDifference,
  type Swing,
} from "@/api/compareQueries";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Downloads } from "@/components/Downloads";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { placeWord } from "@/components/states";
import { useTypedSearch } from "@/components/useTypedSearch";
import { sentences } from "@/format/lists";
import { count } from "@/format/number";
import { looksOf } from "@/pages/pod/score/pluginColours";

import classes from "./Compare.module.css";
import { SideName } from "./SideName";
import { t } from "./texts";
import { causeWords, KIND_WORDS, type Names, signed } from "./words";

const route = getRouteApi("/compare");
const LIMIT = 50;
export const KINDS: readonly DifferenceKind[] = [
  "elsewhere",
  "only_a",
  "only_b",
  "neither",
  "gated",
  "missing_a",
  "missing_b",
  "same",
];

export function Differences({
  a,
  b,
  comparison,
  names,
}: {
  a: string;
  b: string;
  comparison: Comparison;
  names: Names;
}) {
  const { kind, q, offset = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, ask);
  const filter = { kind, q };
  const pods = useQuery(differencesQuery(a, b, filter, offset, LIMIT));
  const { counts } = comparison;
  const total = pods.data?.count ?? 0;
  const all = counts.elsewhere + counts.only_a + counts.only_b + counts.missing_a + counts.missing_b;
  const goTo = (next: number) =>
    void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }), replace: true });
  return (
    <Panel aria-labelledby="differences">
      <PanelHeader id="differences" title={t("podsThatDiffer")}>
        <span className="muted num" role="status">
          {pods.data === undefined ? "" : count(total)}
        </span>
        <span className="grow" />
        <Downloads address={(as) => exportAddress(a, b, as, filter)} />
      </PanelHeader>
      <nav className={classes.kinds} aria-label={t("kindsOfDifference")}>
        <Link
          from="/compare"
          to="/compare"
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
            from="/compare"
            to="/compare"
            search={(old) => ({ ...old, kind: one, offset: undefined })}
            className={classes.kind}
            aria-current={kind === one ? "true" : undefined}
            activeOptions={{ exact: true }}
          >
            {KIND_WORDS[one](names)} <b className="num">{count(counts[one])}</b>
          </Link>
        ))}
        <span className="grow" />
        <input
          type="search"
          value={text}
          placeholder={t("aPartOfNamespaceName")}
          aria-label={t("filterPods")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </nav>
      {pods.isPending ? <Outlines count={6} height={30} label={t("readingThePodsThatDiffer")} /> : null}
      {pods.error === null ? null : (
        <Failed
          what={t("thePodsThatDifferCould")}
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
                {t("clearTheFilter")}
              </Button>
            )
          }
        >
          {q === undefined ? t("noPodWentAnotherWay") : t("noSuchPodMatches", { q })}
        </Empty>
      ) : null}
      {pods.data === undefined || pods.data.results.length === 0 ? null : (
        <ScrollRegion className={classes.scroller} label={t("rowsOfPodsThatDiffer")}>
          <table className={`${classes.table} ${classes.rows}`}>
            <thead>
              <tr>
                <th scope="col">{t("pod")}</th>
                <th scope="col">{t("namespace")}</th>
                <th scope="col">
                  <SideName name={names.a} />
                </th>
                <th scope="col">
                  <SideName name={names.b} />
                </th>
                <th scope="col">{t("why")}</th>
              </tr>
            </thead>
            <tbody>
              {pods.data.results.map((row) => (
                <Row key={`${row.pod.namespace}/${row.pod.name}`} row={row} a={a} b={b} names={names} />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      <Pager offset={offset} limit={LIMIT} total={total} onChoose={goTo} />
    </Panel>
  );
}

function Row({ row, a, b, names }: { row: PodDifference; a: string; b: string; names: Names }) {
  return (
    <tr>
      <th scope="row">
        <PodName pod={row.pod} />
      </th>
      <td>{row.pod.namespace}</td>
      <td data-run={names.a}>
        <Place run={a} row={row} side="a" name={names.a} />
      </td>
      <td data-run={names.b}>
        <Place run={b} row={row} side="b" name={names.b} />
      </td>
      <td className={classes.why}>
        {row.points.length === 0 ? (
          <Causes row={row} names={names} />
        ) : (
          <details>
            <summary>
              <Causes row={row} names={names} />
            </summary>
            <Points points={row.points} names={names} row={row} />
          </details>
        )}
      </td>
    </tr>
  );
}

function Causes({ row, names }: { row: PodDifference; names: Names }) {
  return <>{sentences(row.causes.map((cause) => causeWords(cause, row, names)))}</>;
}

/** Where the pod is in one run, linked to the pod there. */
function Place({ run, row, side, name }: { run: string; row: PodDifference; side: "a" | "b"; name: string }) {
  const place = row[side];
  if (place === null) return <span className="faint">{t("noSuchPod")}</span>;
  const { column } = place;
  const words = place.node ?? placeWord({ column });
  return (
    <Link
      to="/runs/$run/pods/$namespace/$name"
      params={{ run, namespace: row.pod.namespace, name: row.pod.name }}
      search={place.node === null ? {} : { point: "Score" }}
      className={`leads ${place.node === null ? "" : "mono"}`}
      title={t("nameInName2", { name: row.pod.name, name2: name })}
    >
      {words}
    </Link>
  );
}

function Points({ points, names, row }: { points: readonly Swing[]; names: Names; row: PodDifference }) {
  const looks = new Map(
    looksOf(points.map((one) => ({ name: one.plugin, weight: 1, equal_for_all: false }))).map((look) => [
      look.name,
      look,
    ]),
  );
  const shown = [...points].sort((one, two) => two.swing - one.swing);
  return (
    <table>
      <caption className="srOnly">{t("weightedPointsOfBothNodes")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("plugin")}</th>
          <th scope="col">{t("nodeInA", { node: row.a?.node ?? "", a: names.a })}</th>
          <th scope="col">{t("nodeInA", { node: row.b?.node ?? "", a: names.a })}</th>
          <th scope="col">{t("nodeInB", { node: row.a?.node ?? "", b: names.b })}</th>
          <th scope="col">{t("nodeInB", { node: row.b?.node ?? "", b: names.b })}</th>
          <th scope="col">{t("movedBy")}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => (
          <tr key={one.plugin}>
            <th scope="row">
              <i
                className={classes.key}
                style={{ background: `var(--pl-${looks.get(one.plugin)?.colour ?? "taint"})` }}
              />
              {one.plugin}
            </th>
            <td>{one.a_own}</td>
            <td>{one.a_other}</td>
            <td>{one.b_other}</td>
            <td>{one.b_own}</td>
            <td>
              <b>{signed(one.swing)}</b>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
