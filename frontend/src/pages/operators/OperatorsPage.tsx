/** What operators of kube-scheduler read, of a run: Events as kubectl prints them, metrics, and the debugger's dump. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { useAnalysis } from "@/analyses/useAnalysis";
import { useMoment } from "@/analyses/useMoment";
import { Working } from "@/analyses/Working";
import {
  eventFileAddress,
  eventsQuery,
  type EventWindow,
  metricsAddress,
  resourceMetricsAddress,
} from "@/api/operatorQueries";
import type { Run } from "@/api/types";
import { Button, ButtonAnchor } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { RunTrail } from "@/components/runs/RunTrail";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { useTypedSearch } from "@/components/useTypedSearch";
import { count } from "@/format/number";
import { useRunStore, useRunView } from "@/live/useLive";
import { useTitle } from "@/shell/useTitle";

import classes from "./OperatorsPage.module.css";
import { t } from "./texts";

const route = getRouteApi("/runs/$run/operators");
const LIMIT = 100;
const REASONS = ["Scheduled", "FailedScheduling", "Preempted"] as const;
const SHOWN_LINES = 400;

export function OperatorsPage() {
  const { run } = route.useParams();
  const view = useRunView(useRunStore(run));
  useTitle(view.run === null ? t("title") : t("titleName", { name: view.run.snapshot.name }));
  return (
    <Page className={classes.page ?? ""}>
      <RunTrail run={run} name={view.run?.snapshot.name}>
        {t("title")}
      </RunTrail>
      <h1>{t("title")}</h1>
      {view.run === null ? (
        <Outlines count={3} height={64} label={t("readingTheRun")} />
      ) : (
        <>
          <Events run={view.run} />
          <Dump run={view.run} />
          <Metrics run={view.run.id} />
        </>
      )}
    </Page>
  );
}

function Events({ run }: { run: Run }) {
  const { q, reason, offset = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const search = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, search);
  const events = useQuery(eventsQuery(run.id, run.position, { q, reason }, offset, LIMIT));
  return (
    <Panel aria-labelledby="run-events">
      <PanelHeader id="run-events" title={t("events")}>
        <span className="muted num" role="status">
          {events.data === undefined ? "" : count(events.data.count)}
        </span>
        <span className="grow" />
        <ButtonAnchor size="sm" icon="download" href={eventFileAddress(run.id, "table")} download>
          {t("table")}
        </ButtonAnchor>
        <ButtonAnchor size="sm" icon="download" href={eventFileAddress(run.id, "json")} download>
          JSON
        </ButtonAnchor>
      </PanelHeader>
      <div className={classes.bar}>
        <Segmented
          label={t("reasonShown")}
          value={reason ?? ""}
          onChange={(chosen) =>
            void navigate({
              search: (old) => ({ ...old, reason: REASONS.find((one) => one === chosen), offset: undefined }),
              replace: true,
            })
          }
          options={[{ value: "", label: t("all") }, ...REASONS.map((each) => ({ value: each, label: each }))]}
        />
        <input
          type="search"
          value={text}
          placeholder={t("searchEvents")}
          aria-label={t("searchEvents")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {events.data === undefined ? (
        events.error === null ? (
          <Outlines count={6} height={24} label={t("readingEvents")} />
        ) : (
          <Failed what={t("eventsNotRead")} error={events.error} retry={() => void events.refetch()} />
        )
      ) : events.data.count === 0 ? (
        <Empty>{q === undefined && reason === undefined ? t("noEvents") : t("noSuchEvents")}</Empty>
      ) : (
        <>
          <EventTable run={run.id} window={events.data} />
          <Pager
            offset={offset}
            limit={LIMIT}
            total={events.data.count}
            onChoose={(next) =>
              void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }), replace: true })
            }
          />
        </>
      )}
    </Panel>
  );
}

function EventTable({ run, window }: { run: string; window: EventWindow }) {
  return (
    <>
      <ScrollRegion className={classes.scroll} label={t("table")}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t("lastSeen")}</th>
              <th scope="col">{t("type")}</th>
              <th scope="col">{t("reason")}</th>
              <th scope="col">{t("object")}</th>
              <th scope="col">{t("message")}</th>
            </tr>
          </thead>
          <tbody>
            {window.results.map((each) => (
              <tr key={`${each.namespace}/${each.name} ${each.reason} ${each.first}`}>
                <td className="num">
                  {each.count > 1 ? t("seenTimes", { ago: each.ago, times: count(each.count) }) : each.ago}
                </td>
                <td>{each.type}</td>
                <td>{each.reason}</td>
                <th scope="row">
                  <Link
                    className="mono leads"
                    to="/runs/$run/pods/$namespace/$name"
                    params={{ run, namespace: each.namespace, name: each.name }}
                  >
                    {each.namespace}/{each.name}
                  </Link>
                </th>
                <td className={classes.message}>{each.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {window.left_out === 0 ? null : <p className={classes.note}>{t("leftOut", { count: window.left_out })}</p>}
    </>
  );
}

function Dump({ run }: { run: Run }) {
  const { dump } = route.useSearch();
  const navigate = route.useNavigate();
  const moment = useMoment(run);
  const asked = useAnalysis(
    run.id,
    dump !== true || moment.at === null ? null : { name: "debugger", arguments: {}, position: moment.at },
  );
  const lines = asked.result?.lines ?? [];
  const ask = () => {
    if (run.position !== moment.at) moment.take();
    void navigate({ search: (old) => ({ ...old, dump: true }), replace: true });
  };
  return (
    <Panel aria-labelledby="run-dump">
      <PanelHeader id="run-dump" title={t("dump")}>
        <span className="faint hidePhone">{t("dumpIs")}</span>
        <span className="grow" />
        {asked.result === null ? null : (
          <Button size="sm" icon="download" onClick={() => save(lines, `run-${run.number}-dump.txt`)}>
            {t("download")}
          </Button>
        )}
      </PanelHeader>
      <div className={classes.bar}>
        <Button onClick={ask}>{asked.result === null ? t("writeDump") : t("writeAgain")}</Button>
        {asked.result === null ? null : (
          <span role="status">
            {asked.result.mismatches === 0 ? t("same") : t("differs", { count: asked.result.mismatches })}
          </span>
        )}
      </div>
      <Working of={asked} what={t("dumping")} failed={t("dumpNotWritten")} />
      {asked.result === null ? null : (
        <>
          <ScrollRegion className={classes.lines} label={t("dumpIs")}>
            <pre>{lines.slice(0, SHOWN_LINES).join("\n")}</pre>
          </ScrollRegion>
          {lines.length > SHOWN_LINES ? (
            <p className={classes.note}>{t("firstLines", { shown: count(SHOWN_LINES), count: count(lines.length) })}</p>
          ) : null}
        </>
      )}
    </Panel>
  );
}

function save(lines: readonly string[], name: string): void {
  const address = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/plain" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}

function Metrics({ run }: { run: string }) {
  return (
    <Panel aria-labelledby="run-metrics">
      <PanelHeader id="run-metrics" title={t("metrics")}>
        <span className="grow" />
        <ButtonAnchor size="sm" href={metricsAddress(run)} target="_blank" rel="noreferrer">
          {t("openMetrics")}
        </ButtonAnchor>
        <ButtonAnchor size="sm" href={resourceMetricsAddress(run)} target="_blank" rel="noreferrer">
          {t("openResources")}
        </ButtonAnchor>
      </PanelHeader>
      <p className={classes.note}>{t("metricsAre")}</p>
      <code className={classes.address}>{`${window.location.origin}${metricsAddress(run)}`}</code>
    </Panel>
  );
}
