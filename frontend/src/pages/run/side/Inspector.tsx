/** The selected pod: what it asks for, where it goes or why not, and what can be done about it. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { memo, Suspense, useEffect, useState } from "react";

import { ApiError } from "@/api/client";
import { podSummaryQuery } from "@/api/queries";
import type { PodDetail, Run, Selection } from "@/api/types";
import { Button, ButtonLink } from "@/components/Button";
import { PodName, StateBadge } from "@/components/Chip";
import { CountdownRing } from "@/components/CountdownRing";
import { Failed } from "@/components/Outcome";
import { placeWord, queueOf } from "@/components/states";
import { useTick } from "@/components/useTick";
import { approvals, usePendingApprovals } from "@/decisions/decide";
import type { ReasonRequest } from "@/decisions/ReasonDrawer";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { requestText } from "@/format/resources";
import { countdown, exact } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import type { NodeColumns } from "@/live/nodeColumns";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";
import { useConnection } from "@/live/useLive";
import { later } from "@/parts/later";
import { announce } from "@/shell/pageLive";

import { reasonCounts, runnerUp } from "../nodes/selection";
import { rich, t } from "../texts";
import type { Commander } from "../useCommand";
import classes from "./Inspector.module.css";
import { Reading } from "./Reading";

const ReasonDrawer = later(() => import("@/decisions/ReasonDrawer"));
const REASONS = 6;

interface InspectorProps {
  run: Run;
  view: RunView;
  pod: string;
  /** False in the picture that answers the click, which is not kept waiting for what is known of the pod. */
  settled: boolean;
  selection: Selection | null;
  table: NodeColumns | null;
  commander: Commander;
  operates: boolean;
}

export function splitPod(pod: string): { namespace: string; name: string } {
  const slash = pod.indexOf("/");
  return { namespace: pod.slice(0, slash), name: pod.slice(slash + 1) };
}

export const Inspector = memo(function Inspector({
  run,
  view,
  pod,
  settled,
  selection,
  table,
  commander,
  operates,
}: InspectorProps) {
  const { namespace, name } = splitPod(pod);
  const detail = useQuery({ ...podSummaryQuery(run.id, namespace, name), enabled: settled });
  const navigate = useNavigate({ from: "/runs/$run" });
  useKeys([
    {
      keys: "Enter",
      label: t("openTheSelectedPod"),
      group: t("run"),
      run: () => void navigate({ to: "/runs/$run/pods/$namespace/$name", params: { run: run.id, namespace, name } }),
    },
  ]);
  const { data } = detail;
  const queue = data === undefined ? null : queueOf(data);
  const [deleting, setDeleting] = useState(false);
  return (
    <section
      className={`${classes.panel} ${queue === null ? "" : `st-${queue}`}`}
      aria-label={t("selectedPod", { pod })}
    >
      <div className={classes.top}>
        {queue === null ? (
          <span className="faint">{data === undefined ? "" : placeWord(data)}</span>
        ) : (
          <StateBadge state={queue} />
        )}
        <span className="grow" />
        <ButtonLink size="sm" hint="↵" to="/runs/$run/pods/$namespace/$name" params={{ run: run.id, namespace, name }}>
          {t("openPod")}
        </ButtonLink>
      </div>
      {detail.isPending ? (
        <Reading label={t("readingThePod")} failed={t("thePodCouldNotBe")} retry={() => void detail.refetch()} />
      ) : null}
      {detail.error === null ? null : (
        <Failed
          what={
            detail.error instanceof ApiError && detail.error.status === 404
              ? t("thereIsNoPodIn", { pod })
              : t("thePodCouldNotBe")
          }
          error={detail.error instanceof ApiError && detail.error.status === 404 ? null : detail.error}
          retry={() => void detail.refetch()}
        />
      )}
      {data === undefined ? null : (
        <>
          <h2 className={classes.name}>
            <PodName pod={data} />
          </h2>
          <p className="muted">
            {data.attempts === 0
              ? t("podFactsBeforeFirstTry", { namespace: data.namespace, priority: data.priority })
              : t("podFacts", { namespace: data.namespace, priority: data.priority, attempts: data.attempts })}
          </p>
          <dl className={classes.facts}>
            <div>
              <dt>{t("requests")}</dt>
              <dd className="num">{requestText(data.requests)}</dd>
            </div>
            {data.node ? (
              <div>
                <dt>{queue === "bound" ? t("node") : t("chosen")}</dt>
                <dd className="mono">{data.node}</dd>
              </div>
            ) : null}
            <Score pod={data} selection={selection} table={table} />
          </dl>
          {data.node || data.answer.headline === "" || (selection?.attempt ?? null) !== null ? null : (
            <p className={classes.answer}>{data.answer.headline}</p>
          )}
          {data.next_try ? (
            <p className={classes.next} title={data.next_try.at ? exact(data.next_try.at) : undefined}>
              {t("nextTry", { text: data.next_try.text })}
            </p>
          ) : null}
          {selection?.attempt === null || selection === null || table === null ? null : (
            <Verdicts selection={selection} table={table} />
          )}
          {(data.waiting ?? []).length > 0 ? <Waits pod={data} view={view} /> : null}
          <Actions
            pod={data}
            run={run}
            queue={queue}
            commander={commander}
            operates={operates}
            deleting={deleting}
            onDeleting={setDeleting}
          />
        </>
      )}
    </section>
  );
});

function Score({ pod, selection, table }: { pod: PodDetail; selection: Selection | null; table: NodeColumns | null }) {
  if (pod.score === null || pod.score === undefined) return null;
  const second = selection === null ? null : runnerUp(selection);
  const other = second === null ? "" : (table?.names[second] ?? "");
  const ties = pod.ties ?? 1;
  return (
    <div>
      <dt>{t("score")}</dt>
      <dd className="num">
        {count(pod.score)}
        {ties > 1 ? (
          <span className="muted">{t("1OfEqual", { ties })}</span>
        ) : pod.margin ? (
          <span className="muted">
            {other === ""
              ? t("marginAhead", { margin: pod.margin })
              : rich("marginAheadOf", { margin: pod.margin, other: <span className="mono">{other}</span> })}
          </span>
        ) : null}
      </dd>
    </div>
  );
}

/** Why nodes were not looked at. */
function whyUnseen({ nominated, batched_with: pod }: Selection): string {
  if (nominated !== null) return t("nominatedTo", { node: nominated });
  return pod === null ? t("percentageOfNodesToScore") : t("batchedWith", { pod });
}

function Verdicts({ selection, table }: { selection: Selection; table: NodeColumns }) {
  const { feasible, scored, unseen, reasons } = reasonCounts(selection);
  const total = selection.verdict.length;
  return (
    <>
      <h3 className={classes.title}>{t("ofNodesFeasible", { count: total, feasible })}</h3>
      <ul className={classes.reasons}>
        {feasible > 0 ? (
          <li>
            <i data-ok="true" />
            <b className="num">{count(feasible)}</b>
            <span>
              {scored === feasible
                ? t("feasibleAllScored")
                : feasible === 1
                  ? t("feasibleAloneUnscored")
                  : t("feasibleSomeScored", { scored })}
            </span>
          </li>
        ) : null}
        {reasons.slice(0, REASONS).map((reason) => (
          <li key={`${reason.plugin}${reason.text}`} title={reason.plugin}>
            <i />
            <b className="num">{count(reason.nodes.length)}</b>
            <span>
              {reason.text}
              {reason.nodes.length <= 2 ? (
                <em className="mono">{listed(reason.nodes.map((row) => table.names[row] ?? ""))}</em>
              ) : (
                <em>{reason.plugin}</em>
              )}
            </span>
          </li>
        ))}
        {reasons.length > REASONS ? (
          <li>
            <i />
            <b className="num">{count(reasons.slice(REASONS).reduce((sum, one) => sum + one.nodes.length, 0))}</b>
            <span>{t("forOtherReasons", { reasons: reasons.length - REASONS })}</span>
          </li>
        ) : null}
        {unseen > 0 ? (
          <li>
            <i />
            <b className="num">{count(unseen)}</b>
            <span>
              {t("notChecked")}
              <em>{whyUnseen(selection)}</em>
            </span>
          </li>
        ) : null}
      </ul>
    </>
  );
}

function Waits({ pod, view }: { pod: PodDetail; view: RunView }) {
  const wall = useTick(view.run?.clock.mode === "real");
  const now = runNow(view, wall);
  const waits = pod.waiting ?? [];
  const soonest = Math.min(...waits.map((wait) => Date.parse(wait.deadline) - now));
  const mark = soonest <= 10_000 ? 10 : soonest <= 60_000 ? 60 : null;
  useEffect(() => {
    if (mark !== null)
      announce(
        `deadline ${pod.key} ${mark}`,
        t("hasLessThanSecondsLeft", { workload: pod.workload, tail: pod.tail, mark }),
      );
  }, [mark, pod.key, pod.workload, pod.tail]);
  return (
    <>
      <h3 className={classes.title}>{t("waitingOn")}</h3>
      {waits.map((wait) => {
        const left = Date.parse(wait.deadline) - now;
        return (
          <div key={wait.plugin} className={classes.wait}>
            <CountdownRing share={left / (wait.total_seconds * 1000)} size={22} stroke={2.6} />
            <div>
              <b>{wait.plugin}</b>
              <em className="num" title={exact(wait.deadline)}>
                {t("leftOfThenRejected", {
                  countdown: countdown(left),
                  countdown2: countdown(wait.total_seconds * 1000),
                })}
              </em>
              {wait.note ? <em>{wait.note}</em> : null}
            </div>
          </div>
        );
      })}
    </>
  );
}

interface ActionsProps {
  pod: PodDetail;
  run: Run;
  queue: ReturnType<typeof queueOf>;
  commander: Commander;
  operates: boolean;
  deleting: boolean;
  onDeleting: (on: boolean) => void;
}

function Actions({ pod, run, queue, commander, operates, deleting, onDeleting }: ActionsProps) {
  const [asking, setAsking] = useState<ReasonRequest | null>(null);
  const stale = useConnection().state === "stale";
  usePendingApprovals();
  const due = approvals.due(run.id, pod);
  const now = useTick(due !== null);
  const asksPerson = queue === "waiting" && (pod.waiting ?? []).some((wait) => wait.asks_person);
  const waits = queue === "waiting";
  const approve = () => approvals.approve(run.id, [pod]);
  const follows = [
    t("thePodGoesBackTo"),
    t("onAreFreeAgain", { requestText: requestText(pod.requests), node: pod.node ?? t("itsNode") }),
  ];
  const reject = () => setAsking({ kind: "reject", run: run.id, pods: [pod], follows });
  const gang = (pod.waiting ?? []).find((wait) => !wait.asks_person);
  useKeys(
    operates && asksPerson
      ? [
          { keys: "a", label: t("approveTheSelectedPod"), group: t("decide"), run: approve },
          { keys: "r", label: t("rejectTheSelectedPod"), group: t("decide"), run: reject },
        ]
      : operates && waits
        ? [{ keys: "r", label: t("rejectTheSelectedPod"), group: t("decide"), run: reject }]
        : [],
  );
  const identity = { namespace: pod.namespace, name: pod.name };
  if (!operates) return null;
  return (
    <div className={classes.actions}>
      {stale ? <p className={classes.next}>{t("decisionsAreHeldUntilThe")}</p> : null}
      {due === null ? (
        <div className={classes.buttons}>
          {asksPerson ? (
            <Button kind="primary" hint="a" onClick={approve} sends>
              {t("approve")}
            </Button>
          ) : null}
          {waits && !asksPerson && gang !== undefined ? (
            <Button
              sends
              title={t("letItGoAlthoughWould", { plugin: gang.plugin })}
              onClick={() =>
                setAsking({
                  kind: "override",
                  run: run.id,
                  pods: [pod],
                  plugin: gang.plugin,
                  follows: [t("isNotWaitedForAny", { plugin: gang.plugin })],
                })
              }
            >
              {t("override")}
            </Button>
          ) : null}
          {waits ? (
            <Button kind="danger" hint="r" onClick={reject} sends>
              {t("reject")}
            </Button>
          ) : null}
          {queue === "unschedulable" || queue === "backoff" || queue === "gated" ? (
            <Button
              icon="bolt"
              sends
              disabled={queue === "gated" || commander.busy === "pod_activate"}
              title={queue === "gated" ? t("aGateHoldsItOnly") : t("moveItToActiveAt")}
              onClick={() => void commander.send({ type: "pod_activate", ...identity })}
            >
              {t("activate")}
            </Button>
          ) : null}
          {queue === null || waits ? null : deleting ? (
            <>
              <Button
                kind="danger-solid"
                sends
                onClick={() => void commander.send({ type: "pod_delete", ...identity }).then(() => onDeleting(false))}
              >
                {t("deleteForGood")}
              </Button>
              <Button kind="ghost" onClick={() => onDeleting(false)}>
                {t("keep")}
              </Button>
            </>
          ) : (
            <Button kind="ghost" icon="trash" onClick={() => onDeleting(true)}>
              {t("delete")}
            </Button>
          )}
        </div>
      ) : (
        <div className={classes.buttons}>
          <span className={classes.sending}>
            {t("approvingInS", { max: Math.max(0, Math.ceil((due - now) / 1000)) })}
          </span>
          <Button hint="z" onClick={() => approvals.cancel()}>
            {t("cancel")}
          </Button>
        </div>
      )}
      <Suspense fallback={null}>
        {asking === null ? null : <ReasonDrawer request={asking} onClose={() => setAsking(null)} />}
      </Suspense>
    </div>
  );
}
