import { Link, useNavigate } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { perform } from "@/live/commands";
import type { PodDetail, PodRef } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Breadcrumbs } from "@/components/Breadcrumbs";
import { Button, ButtonLink } from "@/components/Button";
import { PodName, StateBadge } from "@/components/Chip";
import { placeWord, queueOf, STATES } from "@/components/states";
import { useTick } from "@/components/useTick";
import { approvals, usePendingApprovals } from "@/decisions/decide";
import type { ReasonRequest } from "@/decisions/ReasonDrawer";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { requestText } from "@/format/resources";
import { age, exact } from "@/format/time";
import { useKeys } from "@/keys/useKeys";
import { runNow } from "@/live/runClock";
import type { RunView } from "@/live/runStore";
import { later } from "@/parts/later";
import { isMoment } from "@/rewind/moment";
import { notifyError } from "@/shell/notify";

import { t } from "../texts";
import classes from "./PodHeader.module.css";

const ReasonDrawer = later(() => import("@/decisions/ReasonDrawer"));

interface PodHeaderProps {
  pod: PodDetail;
  run: string;
  view: RunView;
  onYaml: () => void;
}

export function PodHeader({ pod, run, view, onYaml }: PodHeaderProps) {
  const navigate = useNavigate();
  const { visits } = useMe();
  const open = (other: PodRef | null) => {
    if (other !== null)
      void navigate({
        to: "/runs/$run/pods/$namespace/$name",
        params: { run, namespace: other.namespace, name: other.name },
      });
  };
  useKeys([
    { keys: "y", label: "YAML", group: t("pod"), run: onYaml },
    { keys: "k", label: t("previousPodOfTheQueue"), group: t("pod"), run: () => open(pod.previous) },
    { keys: "j", label: t("nextPodOfTheQueue"), group: t("pod"), run: () => open(pod.next) },
  ]);
  return (
    <header>
      <Breadcrumbs>
        <Link to="/runs/$run" params={{ run }}>
          {view.run === null ? t("run") : t("nameRun", { name: view.run.snapshot.name })}
        </Link>
        <Link to="/runs/$run/pods" params={{ run }} search={{ namespace: pod.namespace }}>
          {pod.namespace}
        </Link>
        <span title={pod.name}>{pod.name}</span>
      </Breadcrumbs>
      <div className={classes.line}>
        <h1>
          <PodName pod={pod} />
        </h1>
        <Badge pod={pod} view={view} />
        <span className="grow" />
        <div className={classes.buttons}>
          {visits ? null : (
            <ButtonLink
              kind="ghost"
              to="/runs/$run/capacity"
              params={{ run }}
              search={{ pod: `${pod.namespace}/${pod.name}` }}
              title={t("howManyMorePodsLike")}
            >
              {t("howManyMoreFit")}
            </ButtonLink>
          )}
          <Button kind="ghost" hint="y" onClick={onYaml}>
            YAML
          </Button>
          <span className={classes.leaf}>
            <Button
              icon="back"
              hint="k"
              disabled={pod.previous === null}
              title={pod.previous === null ? t("theFirstOfItsQueue") : pod.previous.name}
              onClick={() => open(pod.previous)}
            >
              {t("previous")}
            </Button>
            <Button
              hint="j"
              disabled={pod.next === null}
              title={pod.next === null ? t("theLastOfItsQueue") : pod.next.name}
              onClick={() => open(pod.next)}
            >
              {t("next")}
            </Button>
          </span>
          <Act pod={pod} run={run} />
        </div>
      </div>
      <dl className={classes.facts}>
        <div>
          <dt>{t("requests")}</dt>
          <dd className="num">{requestText(pod.requests)}</dd>
        </div>
        <div>
          <dt>{t("priority")}</dt>
          <dd className="num">
            {count(pod.priority)}
            {pod.priority_class ? <span className="faint"> {pod.priority_class}</span> : null}
          </dd>
        </div>
        {pod.profile === "" ? null : (
          <div>
            <dt>{t("profile")}</dt>
            <dd>{pod.profile}</dd>
          </div>
        )}
        <div>
          <dt>{t("attempts")}</dt>
          <dd className="num">{count(pod.attempts)}</dd>
        </div>
        {pod.next_try === null ? null : (
          <div>
            <dt>{t("nextTry")}</dt>
            <dd title={pod.next_try.at === null ? undefined : exact(pod.next_try.at)}>{nextTry(pod, view)}</dd>
          </div>
        )}
        {pod.gate ? (
          <div>
            <dt>{t("gate")}</dt>
            <dd className="mono">{pod.gate}</dd>
          </div>
        ) : null}
        {pod.column === "bound" && pod.images.length > 0 ? (
          <div>
            <dt>{pod.images.length === 1 ? t("image") : t("images")}</dt>
            <dd className={classes.images}>{listed(pod.images)}</dd>
          </div>
        ) : null}
      </dl>
    </header>
  );
}

/** What wakes it; of an unschedulable pod the moment is that of the flush, so it is the latest. */
function nextTry(pod: PodDetail, view: RunView): string {
  if (pod.next_try === null) return "";
  const { text, at } = pod.next_try;
  if (at === null || view.run === null) return text;
  const left = Date.parse(at) - Date.parse(view.run.clock.now);
  if (pod.column !== "unschedulable") return left <= 0 ? text : t("textInAge", { text, age: age(left) });
  return left <= 0 ? t("textLatestNow", { text }) : t("textLatestInAge", { text, age: age(left) });
}

function Badge({ pod, view }: { pod: PodDetail; view: RunView }) {
  const wall = useTick(view.run?.clock.mode === "real");
  const queue = queueOf(pod);
  if (queue === null) return <span className="muted">{placeWord(pod)}</span>;
  if (queue === "bound") return <StateBadge state="bound">{t("boundTo", { node: pod.node ?? t("aNode") })}</StateBadge>;
  const since = pod.since === null ? "" : age(runNow(view, wall) - Date.parse(pod.since));
  return (
    <span title={pod.since === null ? undefined : t("sinceSince", { since: exact(pod.since) })}>
      <StateBadge state={queue}>
        {STATES[queue].title}
        {since === "" || view.run === null ? "" : ` ${t("forSince", { since })}`}
      </StateBadge>
    </span>
  );
}

/** The one filled button: approve what asks a person, activate what waits for an event. */
function Act({ pod, run }: { pod: PodDetail; run: string }) {
  const { operates: mayOperate } = useMe();
  const operates = mayOperate && !isMoment(run);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState<ReasonRequest | null>(null);
  usePendingApprovals();
  const due = approvals.due(run, pod);
  const now = useTick(due !== null);
  const waits = pod.column === "waiting";
  const asksPerson = waits && (pod.waiting ?? []).some((wait) => wait.asks_person);
  const can = operates;
  const approve = () => approvals.approve(run, [pod]);
  const reject = () =>
    setAsking({
      kind: "reject",
      run,
      pods: [pod],
      plugin: (pod.waiting ?? []).find((wait) => wait.asks_person)?.plugin ?? pod.waiting?.[0]?.plugin,
    });
  useKeys([
    ...(can && asksPerson ? [{ keys: "a", label: t("approve"), group: t("decide"), run: approve }] : []),
    ...(can && waits ? [{ keys: "r", label: t("rejectWithAReason"), group: t("decide"), run: reject }] : []),
  ]);
  const activate = async () => {
    setBusy(true);
    try {
      await perform(run, { type: "pod_activate", namespace: pod.namespace, name: pod.name });
    } catch (error) {
      notifyError(t("thePodWasNotActivated"), error);
    }
    setBusy(false);
  };
  if (!operates) return null;
  if (pod.column === "unschedulable" || pod.column === "backoff") {
    return (
      <Button
        kind="primary"
        icon="bolt"
        sends
        disabled={busy}
        title={t("moveItToActiveAt")}
        onClick={() => void activate()}
      >
        {t("activate")}
      </Button>
    );
  }
  if (!waits) return null;
  if (due !== null)
    return (
      <Button hint="z" onClick={() => approvals.cancel()}>
        {t("cancelApprovingInS", { max: Math.max(0, Math.ceil((due - now) / 1000)) })}
      </Button>
    );
  return (
    <>
      <Button kind="danger" hint="r" sends onClick={reject}>
        {t("reject")}
      </Button>
      {asksPerson ? (
        <Button kind="primary" hint="a" sends onClick={approve}>
          {t("approve")}
        </Button>
      ) : null}
      <Suspense fallback={null}>
        {asking === null ? null : <ReasonDrawer request={asking} onClose={() => setAsking(null)} />}
      </Suspense>
    </>
  );
}
