/** Every attempt of a run as a row with a link, and where the time of its cycles went. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useRef } from "react";

import { fetchAttempts } from "@/api/podQueries";
import type { AttemptRow } from "@/api/podTypes";
import type { StateKey } from "@/api/types";
import { nextOffset } from "@/api/windows";
import { RESULTS } from "@/app/search";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { resultWord } from "@/components/states";
import { useTypedSearch } from "@/components/useTypedSearch";
import { milliseconds } from "@/format/milliseconds";
import { count } from "@/format/number";
import { exact, runTime } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { useRunStore, useRunView } from "@/live/useLive";
import list from "@/pages/run/lists/PodsPage.module.css";
import { LookingBack } from "@/rewind/LookingBack";
import { useTitle } from "@/shell/useTitle";

import classes from "./AttemptsPage.module.css";
import { t } from "./texts";
import { TimingPanel } from "./TimingPanel";

const route = getRouteApi("/runs/$run/attempts");
const LIMIT = 100;
/** A result looks like the queue that it leads to. */
const ICONS: Readonly<Partial<Record<string, StateKey>>> = {
  bound: "bound",
  waiting: "waiting",
  unschedulable: "unschedulable",
};

export function AttemptsPage() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/attempts" });
  const view = useRunView(useRunStore(run));
  const field = useRef<HTMLInputElement>(null);
  useTitle(view.run === null ? t("attempts") : t("attemptsName", { name: view.run.snapshot.name }));
  useKeys([{ keys: "/", label: t("filterTheseAttempts"), group: t("everywhere"), run: () => field.current?.focus() }]);
  return (
    <Page className={list.page ?? ""}>
      <LookingBack runKey={run} />
      <RunTrail run={run} name={view.run?.snapshot.name}>
        {t("attempts")}
      </RunTrail>
      <header className={classes.head}>
        <h1>{t("attempts")}</h1>
        <Segmented
          label={t("whatIsShown")}
          value={search.view ?? "rows"}
          options={[
            { value: "rows", label: t("rows") },
            { value: "timing", label: t("whereTheTimeGoes") },
          ]}
          onChange={(value) =>
            void navigate({
              search: (old) => ({ ...old, view: value === "timing" ? value : undefined }),
              replace: true,
            })
          }
        />
      </header>
      {search.view === "timing" ? <TimingPanel run={run} /> : <Rows run={run} field={field} />}
    </Page>
  );
}

function Rows({ run, field }: { run: string; field: React.RefObject<HTMLInputElement | null> }) {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run/attempts" });
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(search.q, ask);
  const filter = { q: search.q, result: search.result, node: search.node };
  const attempts = useInfiniteQuery({
    queryKey: ["run", run, "attempts", filter],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => fetchAttempts(run, filter, pageParam, LIMIT, signal),
    getNextPageParam: nextOffset,
  });
  const rows = attempts.data?.pages.flatMap((page) => page.results) ?? [];
  const total = attempts.data?.pages[0]?.count ?? 0;
  const isFiltered = search.q !== undefined || search.result !== undefined || search.node !== undefined;
  const clear = () => {
    setText("");
    void navigate({ search: {}, replace: true });
  };
  return (
    <>
      <div className={list.tools}>
        <label className={list.search}>
          <Icon name="search" size={14} />
          <input
            ref={field}
            type="search"
            value={text}
            placeholder={t("namespaceName")}
            aria-label={t("filterAttemptsByPod")}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <select
          aria-label={t("result")}
          value={search.result ?? ""}
          className={list.select}
          onChange={(event) =>
            void navigate({
              search: (old) => ({ ...old, result: RESULTS.find((one) => one === event.currentTarget.value) }),
              replace: true,
            })
          }
        >
          <option value="">{t("allResults")}</option>
          {RESULTS.map((result) => (
            <option key={result} value={result}>
              {resultWord(result)}
            </option>
          ))}
        </select>
        <span className={`${classes.total} muted num`} role="status">
          {attempts.data === undefined
            ? ""
            : search.node === undefined
              ? t("attemptsOfRun", { count: total })
              : t("attemptsOnNode", { count: total, node: search.node })}
        </span>
        {search.node === undefined ? null : (
          <Button
            size="sm"
            kind="ghost"
            onClick={() => void navigate({ search: (old) => ({ ...old, node: undefined }), replace: true })}
          >
            {t("onEveryNode")}
          </Button>
        )}
      </div>
      <Panel className={list.list ?? ""} aria-label={t("attempts")}>
        {attempts.isPending ? <Outlines count={8} height={28} label={t("readingTheAttempts")} /> : null}
        {attempts.error === null ? null : (
          <Failed
            what={t("theAttemptsCouldNotBe")}
            error={attempts.error}
            retryLabel={t("readAgain")}
            retry={() => void attempts.refetch()}
          />
        )}
        {attempts.data !== undefined && rows.length === 0 ? (
          <Empty
            action={
              isFiltered ? (
                <Button size="sm" onClick={clear}>
                  {t("clearTheFilter")}
                </Button>
              ) : null
            }
          >
            {isFiltered ? t("noAttemptMatches") : t("noPodWasTriedYet")}
          </Empty>
        ) : null}
        {rows.length === 0 ? null : (
          <ScrollRegion className={list.scroller} label={t("rowsOfAttempts")}>
            <table className={`${list.table} ${classes.cards}`} aria-rowcount={total + 1}>
              <thead>
                <tr>
                  <th scope="col">{t("pod")}</th>
                  <th scope="col" className={list.right}>
                    {t("attempt")}
                  </th>
                  <th scope="col">{t("result")}</th>
                  <th scope="col">{t("nodeOrMessage")}</th>
                  <th scope="col" className={list.right}>
                    {t("score")}
                  </th>
                  <th scope="col" className={list.right}>
                    {t("took")}
                  </th>
                  <th scope="col" className={list.right}>
                    {t("at")}
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <Row key={row.number} run={run} row={row} />
                ))}
              </tbody>
            </table>
            {attempts.hasNextPage ? (
              <p className={list.tools}>
                <Button size="sm" disabled={attempts.isFetchingNextPage} onClick={() => void attempts.fetchNextPage()}>
                  {t("moreAttempts", { count: total - rows.length })}
                </Button>
              </p>
            ) : null}
          </ScrollRegion>
        )}
      </Panel>
    </>
  );
}

function Row({ run, row }: { run: string; row: AttemptRow }) {
  const { namespace, name } = row.pod;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/runs/$run/pods/$namespace/$name"
          params={{ run, namespace, name }}
          search={{ attempt: row.attempt }}
          className={list.pod}
        >
          <span className="faint">{namespace}/</span>
          <PodName pod={row.pod} />
        </Link>
      </th>
      <td className={`${list.right} num`} data-what={t("attempt")}>
        {count(row.attempt)}
      </td>
      <td>
        <span className={`${list.state} st-${ICONS[row.result] ?? ""}`} data-result={row.result}>
          <Icon name={ICONS[row.result] ?? "warning"} size={13} />
          {resultWord(row.result)}
        </span>
      </td>
      <td className={classes.said} title={row.message}>
        {row.node === null ? (
          row.message
        ) : (
          <Link
            from="/runs/$run/attempts"
            to="."
            search={(old) => ({ ...old, node: row.node ?? undefined })}
            replace
            className="mono leads"
            title={t("attemptsThatChoseThisNode")}
          >
            {row.node}
          </Link>
        )}
      </td>
      <td className={`${list.right} num`} data-what={t("score")}>
        {row.score === null ? "" : count(row.score)}
      </td>
      <td className={`${list.right} num`} data-what={t("took")}>
        {row.duration_us === null ? "" : milliseconds(row.duration_us)}
      </td>
      <td className={`${list.right} num`} data-what={t("at")} title={exact(row.at)}>
        {runTime(row.at)}
      </td>
    </tr>
  );
}
