/** The filter of one attempt: nodes by the first plugin that rejected them, nearest to fitting first; or every node in a table. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useDeferredValue, useEffect, useState } from "react";

import { filterQuery } from "@/api/podQueries";
import type { Attempt, FilterAnswer } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";

import { rich, t } from "../texts";
import { isAboutRoom } from "./amounts";
import { FilterGroupBlock } from "./FilterGroupBlock";
import classes from "./FilterPanel.module.css";
import { FilterTable } from "./FilterTable";
import { MeterLegend } from "./ResourceMeter";

const route = getRouteApi("/runs/$run/pods/$namespace/$name");
const OPEN_AT_FIRST = 4;

export function FilterPanel({ run, attempt }: { run: string; attempt: Attempt }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.q ?? "");
  const query = useDeferredValue(text.trim());
  const asTable = search.view === "table";
  const answer = useQuery(filterQuery(run, attempt.number, query === "" ? {} : { q: query }));
  useEffect(() => {
    const timer = window.setTimeout(() => {
      if ((search.q ?? "") !== query)
        void navigate({ search: (old) => ({ ...old, q: query === "" ? undefined : query }), replace: true });
    }, 300);
    return () => window.clearTimeout(timer);
  }, [query, search.q, navigate]);
  return (
    <>
      <div className={classes.head}>
        <h3>{t("filter")}</h3>
        <span className="muted">
          {t("nNodes", { count: attempt.sampling.of })}{" "}
          {asTable ? t("withTheFirstPluginThat") : t("byFirstRejectingPluginNearest")}
        </span>
        {asTable ? null : <MeterLegend />}
        <span className="grow" />
        <label className={classes.search}>
          <Icon name="search" size={13} />
          <span className="srOnly">{t("filterTheNodes")}</span>
          <input
            type="search"
            value={text}
            placeholder={t("nodeReasonInverse")}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <Segmented
          label={t("nodesAs")}
          value={asTable ? "table" : "groups"}
          onChange={(view) =>
            void navigate({
              search: (old) => ({ ...old, view: view === "table" ? "table" : undefined }),
              replace: true,
            })
          }
          options={[
            { value: "groups", label: t("viewGroups") },
            { value: "table", label: t("viewTable") },
          ]}
        />
      </div>
      {asTable ? (
        <FilterTable run={run} attempt={attempt.number} q={query} onClear={() => setText("")} />
      ) : answer.data === undefined ? (
        answer.error === null ? (
          <Outlines count={4} height={36} label={t("readingTheFilter")} />
        ) : (
          <Failed what={t("whatTheFiltersSaidCould")} error={answer.error} retry={() => void answer.refetch()} />
        )
      ) : (
        <Groups run={run} attempt={attempt} answer={answer.data} q={query} onClear={() => setText("")} />
      )}
    </>
  );
}

/** Why nodes were not looked at: the pod had a node kept for it, or enough had passed. */
function unseen({ sampling }: Attempt, count: number): ReactNode {
  const b = (inside: ReactNode) => <b className="num">{inside}</b>;
  if (sampling.nominated !== null) return rich("nodesNotLookedAtNominated", { count, node: sampling.nominated, b });
  if (sampling.batched_with !== null) return rich("nodesNotLookedAtBatched", { count, pod: sampling.batched_with, b });
  return rich(sampling.sampled ? "nodesNotLookedAt" : "nodesNotLookedAtAtAll", { count, b });
}

interface GroupsProps {
  run: string;
  attempt: Attempt;
  answer: FilterAnswer;
  q: string;
  onClear: () => void;
}

function Groups({ run, attempt, answer, q, onClear }: GroupsProps) {
  return (
    <>
      {answer.groups.map((group, index) => (
        <FilterGroupBlock
          key={`${group.plugin} ${group.code} ${group.text}`}
          run={run}
          attempt={attempt.number}
          group={group}
          index={index}
          q={q}
          opened={index === 0 || (index < OPEN_AT_FIRST && isAboutRoom(group))}
        />
      ))}
      {answer.groups.length === 0 && q !== "" ? (
        <Empty
          action={
            <Button size="sm" onClick={onClear}>
              {t("clearTheFilter")}
            </Button>
          }
        >
          {t("noNodeMatches", { q })}
        </Empty>
      ) : null}
      {answer.feasible > 0 ? (
        <p className={classes.rest}>
          <Icon name="bound" size={13} />
          <span>{rich("nodesPass", { count: answer.feasible, b: (inside) => <b className="num">{inside}</b> })}</span>
        </p>
      ) : null}
      {answer.not_checked > 0 ? (
        <p className={classes.rest} data-unseen="">
          <Icon name="minus" size={13} />
          <span>{unseen(attempt, answer.not_checked)}</span>
        </p>
      ) : null}
      {answer.groups.length === 0 && answer.feasible === 0 && q === "" ? <Empty>{t("noNodeWasLookedAt")}</Empty> : null}
    </>
  );
}
