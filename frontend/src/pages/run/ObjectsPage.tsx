/** What a run's cluster holds besides pods and nodes: claims, volumes, classes, slices, budgets, with their state and YAML. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";

import { fetchObjects } from "@/api/podQueries";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { count, counted } from "@/format/number";
import { useKeys } from "@/keys/useKeys";
import { useRunStore, useRunView } from "@/live/useLive";
import { kindName, objectLabel, objectOf, objectText } from "@/pages/pod/objects";
import { LookingBack } from "@/rewind/LookingBack";
import { useTitle } from "@/shell/useTitle";

import classes from "./PodsPage.module.css";

const YamlDrawer = lazy(() => import("@/pages/pod/YamlDrawer"));
const route = getRouteApi("/runs/$run/objects");
const LIMIT = 100;

export function ObjectsPage() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/objects" });
  const view = useRunView(useRunStore(run));
  const [text, setText] = useState(search.q ?? "");
  const field = useRef<HTMLInputElement>(null);
  const filter = { kind: search.kind, q: search.q };
  const objects = useInfiniteQuery({
    queryKey: ["run", run, "objects", filter], initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => fetchObjects(run, filter, pageParam, LIMIT, signal),
    getNextPageParam: (last) => (last.offset + last.results.length < last.count ? last.offset + last.results.length : undefined),
  });
  const rows = objects.data?.pages.flatMap((page) => page.results) ?? [];
  const first = objects.data?.pages[0];
  const kinds = first?.kinds ?? [];
  const object = objectOf(search.object);
  const heading = search.kind ?? "Objects";
  useTitle(view.run === null ? heading : `${heading} · ${view.run.snapshot.name}`);
  useEffect(() => {
    const timer = window.setTimeout(() => {
      if (text.trim() !== (search.q ?? "")) void navigate({ search: (old) => ({ ...old, q: text.trim() === "" ? undefined : text.trim() }), replace: true });
    }, 250);
    return () => window.clearTimeout(timer);
  }, [text, search.q, navigate]);
  useKeys([
    { keys: "/", label: "Filter these objects", group: "Everywhere", run: () => field.current?.focus() },
    { keys: "Escape", label: "Back to the run", group: "Run", run: () => void navigate({ to: "/runs/$run", params: { run } }) },
  ]);
  return (
    <Page className={classes.page ?? ""}>
      <LookingBack runKey={run} />
      <nav className={classes.crumbs} aria-label="Breadcrumbs">
        <Link to="/runs/$run" params={{ run }}>{view.run === null ? "Run" : `${view.run.snapshot.name} run`}</Link><Icon name="chevronRight" size={11} /><span>Objects</span>
      </nav>
      <header className={classes.head}>
        <h1>{heading}</h1>
        <span className="muted num" role="status">{first === undefined ? "" : count(first.count)}</span>
      </header>
      <div className={classes.tools}>
        <label className={classes.search}>
          <Icon name="search" size={14} />
          <input ref={field} type="search" value={text} placeholder="a part of the name" aria-label="Filter objects" onChange={(event) => setText(event.currentTarget.value)} />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <select aria-label="Kind" value={search.kind ?? ""} className={classes.select}
          onChange={(event) => void navigate({ search: (old) => ({ ...old, kind: event.currentTarget.value === "" ? undefined : event.currentTarget.value }), replace: true })}>
          <option value="">All kinds</option>
          {kinds.map((one) => ({ name: kindName(one, kinds), how: one.count })).map(({ name, how }) => <option key={name} value={name}>{name} ({count(how)})</option>)}
        </select>
      </div>
      <Panel className={classes.list ?? ""} aria-label={heading}>
        {objects.isPending ? <Outlines count={8} height={28} label="Reading the objects" /> : null}
        {objects.error === null ? null : <Failed what="The objects could not be read." error={objects.error} retryLabel="Read again" retry={() => void objects.refetch()} />}
        {first !== undefined && rows.length === 0 ? (
          <Empty action={search.q === undefined ? null : <Button size="sm" onClick={() => setText("")}>Clear the filter</Button>}>
            {search.q === undefined ? "This cluster has no claims, volumes, classes, slices or budgets." : `No object matches “${search.q}”.`}
          </Empty>
        ) : null}
        {rows.length === 0 ? null : (
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div className={classes.scroller} tabIndex={0} role="region" aria-label="Rows of objects">
            <table className={classes.table} aria-rowcount={(first?.count ?? 0) + 1}>
              <thead><tr><th scope="col">Name</th><th scope="col">Namespace</th><th scope="col">Kind</th><th scope="col">State</th></tr></thead>
              <tbody>
                {rows.map((listed) => ({ ...listed, kind: kindName(listed, kinds) })).map((row) => (
                  <tr key={objectText(row)}>
                    <th scope="row">
                      <Link from="/runs/$run/objects" to="." search={(old) => ({ ...old, object: objectText(row) })} replace className={`${classes.pod} mono leads`} title={`YAML of ${objectLabel(row)}`}>{row.name}</Link>
                    </th>
                    <td>{row.namespace}</td><td>{row.kind}</td><td>{row.state}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {objects.hasNextPage ? (
              <p className={classes.tools}><Button size="sm" disabled={objects.isFetchingNextPage} onClick={() => void objects.fetchNextPage()}>{counted((first?.count ?? 0) - rows.length, "more object")}</Button></p>
            ) : null}
          </div>
        )}
      </Panel>
      <Suspense fallback={null}>
        {object === null ? null : <YamlDrawer run={run} object={object} onClose={() => void navigate({ search: (old) => ({ ...old, object: undefined }), replace: true })} />}
      </Suspense>
    </Page>
  );
}
