/** What a run's cluster holds besides pods and nodes: claims, volumes, classes, slices, budgets, with their state and YAML. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useRef } from "react";

import { fetchObjects, quotasQuery } from "@/api/podQueries";
import type { RunObject, RunQuotas } from "@/api/podTypes";
import { nextOffset } from "@/api/windows";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { useTypedSearch } from "@/components/useTypedSearch";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { useKeys } from "@/keys/useKeys";
import { useRunStore, useRunView } from "@/live/useLive";
import { kindName, objectLabel, objectOf, objectText } from "@/pages/pod/yaml/objects";
import { later } from "@/parts/later";
import { LookingBack } from "@/rewind/LookingBack";
import { useTitle } from "@/shell/useTitle";

import { t } from "../texts";
import { AddObject } from "./AddObject";
import classes from "./PodsPage.module.css";
import { QuotasPanel } from "./QuotasPanel";

const YamlDrawer = later(() => import("@/pages/pod/yaml/YamlDrawer"));
const route = getRouteApi("/runs/$run/objects");
const LIMIT = 100;

/** Also with its API group behind it. */
const isQuota = (kind: string) => kind.split(".")[0] === "ElasticQuota";

export function ObjectsPage() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/objects" });
  const view = useRunView(useRunStore(run));
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(search.q, ask);
  const field = useRef<HTMLInputElement>(null);
  const filter = { kind: search.kind, q: search.q };
  const objects = useInfiniteQuery({
    queryKey: ["run", run, "objects", filter],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => fetchObjects(run, filter, pageParam, LIMIT, signal),
    getNextPageParam: nextOffset,
  });
  const rows = objects.data?.pages.flatMap((page) => page.results) ?? [];
  const first = objects.data?.pages[0];
  const kinds = first?.kinds ?? [];
  const object = objectOf(search.object);
  const ofQuotas = search.kind !== undefined && isQuota(search.kind) && kinds.some(({ kind }) => isQuota(kind));
  const quotas = useQuery({ ...quotasQuery(run), enabled: ofQuotas });
  const heading = search.kind ?? t("objects");
  useTitle(view.run === null ? heading : `${heading} · ${view.run.snapshot.name}`);
  useKeys([{ keys: "/", label: t("filterTheseObjects"), group: t("everywhere"), run: () => field.current?.focus() }]);
  return (
    <Page className={classes.page ?? ""}>
      <LookingBack runKey={run} />
      <RunTrail run={run} name={view.run?.snapshot.name}>
        {t("objects")}
      </RunTrail>
      <header className={classes.head}>
        <h1>{heading}</h1>
        <span className="muted num" role="status">
          {first === undefined ? "" : count(first.count)}
        </span>
        <span className="grow" />
        <AddObject run={run} kind={search.kind} />
      </header>
      <div className={classes.tools}>
        <label className={classes.search}>
          <Icon name="search" size={14} />
          <input
            ref={field}
            type="search"
            value={text}
            placeholder={t("aPartOfTheName")}
            aria-label={t("filterObjects")}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <select
          aria-label={t("kind")}
          value={search.kind ?? ""}
          className={classes.select}
          onChange={(event) =>
            void navigate({
              search: (old) => ({
                ...old,
                kind: event.currentTarget.value === "" ? undefined : event.currentTarget.value,
              }),
              replace: true,
            })
          }
        >
          <option value="">{t("allKinds")}</option>
          {kinds
            .map((one) => ({ name: kindName(one, kinds), how: one.count }))
            .map(({ name, how }) => (
              <option key={name} value={name}>
                {name} ({count(how)})
              </option>
            ))}
        </select>
      </div>
      {ofQuotas ? <QuotasPanel run={run} /> : null}
      <Panel className={classes.list ?? ""} aria-label={heading}>
        {objects.isPending ? <Outlines count={8} height={28} label={t("readingTheObjects")} /> : null}
        {objects.error === null ? null : (
          <Failed
            what={t("theObjectsCouldNotBe")}
            error={objects.error}
            retryLabel={t("readAgain")}
            retry={() => void objects.refetch()}
          />
        )}
        {first !== undefined && rows.length === 0 ? (
          <Empty
            action={
              search.q === undefined ? null : (
                <Button size="sm" onClick={() => setText("")}>
                  {t("clearTheFilter")}
                </Button>
              )
            }
          >
            {search.q === undefined ? t("thisClusterHasNoClaims") : t("noObjectMatches", { q: search.q })}
          </Empty>
        ) : null}
        {rows.length === 0 ? null : (
          <ScrollRegion className={classes.scroller} label={t("rowsOfObjects")}>
            <table className={`${classes.table} ${classes.objects}`} aria-rowcount={(first?.count ?? 0) + 1}>
              <thead>
                <tr>
                  <th scope="col">{t("name")}</th>
                  <th scope="col">{t("namespace")}</th>
                  <th scope="col">{t("kind")}</th>
                  <th scope="col">{t("state")}</th>
                </tr>
              </thead>
              <tbody>
                {rows
                  .map((listed) => ({ ...listed, kind: kindName(listed, kinds) }))
                  .map((row) => (
                    <Row key={objectText(row)} row={row} used={ofQuotas ? usedOf(row, quotas.data) : ""} />
                  ))}
              </tbody>
            </table>
            {objects.hasNextPage ? (
              <p className={classes.tools}>
                <Button size="sm" disabled={objects.isFetchingNextPage} onClick={() => void objects.fetchNextPage()}>
                  {t("moreObjects", { count: (first?.count ?? 0) - rows.length })}
                </Button>
              </p>
            ) : null}
          </ScrollRegion>
        )}
      </Panel>
      <Suspense fallback={null}>
        {object === null ? null : (
          <YamlDrawer
            run={run}
            object={object}
            onClose={() => void navigate({ search: (old) => ({ ...old, object: undefined }), replace: true })}
          />
        )}
      </Suspense>
    </Page>
  );
}

/** "cpu 6, memory 24Gi", as its bounds are written, of a quota that is counted; "" of a second one in its namespace, which is not. */
function usedOf({ namespace, name }: RunObject, quotas: RunQuotas | undefined): string {
  return listed(
    (quotas?.resources ?? []).flatMap((resource) =>
      resource.quotas
        .filter((one) => one.namespace === namespace && one.name === name)
        .map((one) => t("amountOfResource", { resource: resource.name, amount: one.used.text })),
    ),
  );
}

function Row({ row, used }: { row: RunObject; used: string }) {
  return (
    <tr>
      <th scope="row">
        <Link
          from="/runs/$run/objects"
          to="."
          search={(old) => ({ ...old, object: objectText(row) })}
          replace
          className={`${classes.pod} mono leads`}
          title={t("yAMLOf", { objectLabel: objectLabel(row) })}
        >
          {row.name}
        </Link>
      </th>
      <td>{row.namespace}</td>
      <td>{row.kind}</td>
      <td>{used === "" ? row.state : t("usedAndBounds", { used, bounds: row.state })}</td>
    </tr>
  );
}
