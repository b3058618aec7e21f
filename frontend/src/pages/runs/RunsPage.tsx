/** Every run: searched, narrowed, opened; several chosen to be compared or deleted. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useRef, useState } from "react";

import { type RunFilter, runsQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button, ButtonLink } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Page, Panel } from "@/components/Panel";
import { RunFilters } from "@/components/runs/RunFilters";
import { RunsTable } from "@/components/runs/RunsTable";
import { count } from "@/format/number";
import { useKeys } from "@/keys/useKeys";
import { later } from "@/parts/later";
import { useTitle } from "@/shell/useTitle";

import classes from "./RunsPage.module.css";
import { t } from "./texts";

const DeleteRuns = later(() => import("./DeleteRuns"));
const route = getRouteApi("/runs");
const LIMIT = 50;

/** The newest run and the one before it on the same cluster: what one most likely wants beside each other. */
function pairOf(runs: readonly Run[]): { a?: string; b?: string } {
  const [newest] = runs;
  const before = runs.find((run) => run !== newest && run.snapshot.id === newest?.snapshot.id);
  return newest === undefined || before === undefined ? {} : { a: before.id, b: newest.id };
}

export function RunsPage() {
  useTitle(t("runs"));
  const { offset = 0, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const { me, operates } = useMe();
  const runs = useQuery(runsQuery(offset, LIMIT, filter));
  const shown = runs.data?.results ?? [];
  const total = runs.data?.count ?? 0;
  const narrowed = Object.keys(filter).length > 0;
  const [marked, setMarked] = useState<ReadonlyMap<string, Run>>(new Map());
  const [deleting, setDeleting] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", label: t("searchRuns"), group: t("everywhere"), run: () => field.current?.focus() }]);
  const narrow = useCallback(
    (part: RunFilter) => void navigate({ search: (old) => ({ ...old, ...part, offset: undefined }), replace: true }),
    [navigate],
  );
  const choose = (ids: readonly string[], chosen: boolean) => {
    const next = new Map(marked);
    for (const run of shown) {
      if (!ids.includes(run.id)) continue;
      if (chosen) next.set(run.id, run);
      else next.delete(run.id);
    }
    setMarked(next);
  };
  // Oldest first: what was changed stands on the right.
  const [first, second] = [...marked.values()].sort((one, two) =>
    one.number.localeCompare(two.number, undefined, { numeric: true }),
  );
  const pair = first !== undefined && second !== undefined ? { a: first.id, b: second.id } : pairOf(shown);
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("runs")}</h1>
        {runs.data === undefined ? null : (
          <span className="muted num" role="status">
            {count(total)}
          </span>
        )}
        <span className="grow" />
        {marked.size === 0 ? null : (
          <>
            <span className="muted num">{t("nChosen", { count: marked.size })}</span>
            <Button size="sm" kind="ghost" onClick={() => setMarked(new Map())}>
              {t("chooseNone")}
            </Button>
            <Button size="sm" kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              {t("deleteChosen")}
            </Button>
          </>
        )}
        <ButtonLink to="/storage" size="sm" kind="ghost" icon="file">
          {t("storage")}
        </ButtonLink>
        {operates ? (
          <ButtonLink to="/deleted" size="sm" kind="ghost" icon="trash">
            {t("recentlyDeleted")}
          </ButtonLink>
        ) : null}
        {total > 1 || narrowed ? (
          <ButtonLink
            to="/compare"
            search={pair}
            size="sm"
            disabled={marked.size !== 0 && marked.size !== 2}
            title={marked.size !== 0 && marked.size !== 2 ? t("twoAreCompared") : undefined}
          >
            {t("compare")}
          </ButtonLink>
        ) : null}
      </header>
      <RunFilters value={filter} onChange={narrow} field={field} />
      <Panel aria-label={t("runs")}>
        {runs.isPending ? <Outlines count={5} height={44} label={t("readingTheRuns")} /> : null}
        {runs.error === null ? null : (
          <Failed what={t("couldNotListRuns")} error={runs.error} retry={() => void runs.refetch()} />
        )}
        {runs.data?.results.length !== 0 ? null : narrowed ? (
          <Empty
            action={
              <ButtonLink to="/runs" size="sm">
                {t("showEveryRun")}
              </ButtonLink>
            }
          >
            {t("noRunMatches")}
          </Empty>
        ) : (
          <Empty>
            {t("noRunYetPressRun")}{" "}
            <ButtonLink to="/" size="sm">
              {t("clusters")}
            </ButtonLink>
          </Empty>
        )}
        {shown.length > 0 ? (
          <RunsTable
            runs={shown}
            me={me?.username}
            now={runs.dataUpdatedAt}
            choice={operates ? { chosen: new Set(marked.keys()), onChoose: choose } : undefined}
          />
        ) : null}
      </Panel>
      <Pager
        offset={offset}
        limit={LIMIT}
        total={total}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }) })}
      />
      <Suspense fallback={null}>
        {deleting ? (
          <DeleteRuns
            runs={[...marked.values()]}
            onDeleted={(kept) => setMarked(new Map(kept.map((run) => [run.id, run])))}
            onClose={() => setDeleting(false)}
          />
        ) : null}
      </Suspense>
    </Page>
  );
}
