"""``simulate``: where the pending pods of a cluster go, as a table to read or as one JSON object.

The cluster is what the manifests say; pods without a node are scheduled in the queue's order on a virtual clock, until
nothing more can happen.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

import msgspec

from framework.advice.scratch import LastAttempts, run_until_quiet
from framework.cli.clusters import ClusterRequest, read_cluster, tell
from framework.cli.errors import InputError
from framework.cli.manifests import Objects
from framework.interface.status import SUCCESS
from framework.objects import KubeObject, Pod
from framework.objects.reservations import FAILED, Reservation, reservation_of
from framework.reading.gathering import from_a_cluster
from framework.reports.dump import debugger_log
from framework.reports.events import event_list, series_of, table
from framework.reports.log import SchedulerLog
from framework.reports.metrics import SchedulerMetrics
from framework.reports.pod_resources import resource_metrics
from framework.scheduler import Cluster, ClusterEventRecord, Observers, Scheduler
from framework.scheduler.stillness import WAITS_IN_VAIN
from framework.trace.attempt import AttemptTrace
from framework.trace.explanation import explain

WIDTH: Final = 120
PENDING: Final = 1
PLACED: Final = "placed"
METRICS: Final = "metrics"
SHOWN: Final = ("pods", "events", "dump", METRICS, "resources")


@dataclass(frozen=True, slots=True)
class Row:
    pod: str
    outcome: str
    """``placed``, ``pending``, ``gated``, ``permit`` (waits on Permit), ``preempted`` (deleted to make room)."""
    node: str = ""
    score: int | None = None
    message: str = ""
    new: bool = True
    """It was not pending already in the cluster that was exported."""


@dataclass(frozen=True, slots=True)
class Request:
    cluster: ClusterRequest
    explain: Sequence[str] = ()
    """Pods, ``namespace/name`` or a name in the namespace default."""
    json: bool = False
    only_new: bool = False
    """Pods that were pending before are neither shown nor counted."""
    show: str = "pods"
    """One of SHOWN; anything but pods takes the table's place."""
    log: int = 0
    """kube-scheduler's ``-v``; its log goes to standard error. 0: none."""


class _Outcomes(LastAttempts):
    """The last attempt of every pod, all attempts of those to explain, and who had to go."""

    def __init__(self, explained: Iterable[str]) -> None:
        super().__init__()
        self.events: list[ClusterEventRecord] = []
        self.explanations: dict[str, list[str]] = {pod if "/" in pod else f"default/{pod}": [] for pod in explained}
        self.deleted: list[tuple[str, str]] = []
        """(pod, the node it was on)."""

    def attempt(self, trace: AttemptTrace) -> None:
        super().attempt(trace)
        if trace.pod in self.explanations:
            self.explanations[trace.pod] += explain(trace)

    def event(self, record: ClusterEventRecord) -> None:
        self.events.append(record)

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        # The pod of a reservation goes when it has found its node.
        if isinstance(old, Pod) and new is None and not reservation_of(old):
            self.deleted.append((old.key, old.spec.node_name))


def run(asked: Request, output: TextIO) -> int:
    outcomes = _Outcomes(asked.explain)
    log = SchedulerLog(tell, asked.log)
    metrics = SchedulerMetrics()
    heard = [outcomes, *([log] if asked.log else []), *([metrics] if asked.show == METRICS else [])]
    read = read_cluster(asked.cluster, Observers(heard))
    scheduler, cluster = read.scheduler, read.scheduler.cluster
    if asked.log:
        log.start(scheduler)
    if asked.show == METRICS:
        metrics.start(scheduler)
    _refuse_unknown(outcomes.explanations, cluster)
    before = {obj.key for _, obj in read.objects.kept if isinstance(obj, Pod) and from_a_cluster(obj)}
    waiting = [pod for pod in cluster.list(Pod) if not pod.spec.node_name and pod.status.phase in ("", "Pending")]
    if not waiting:
        tell("No pod of these files waits for a node.")
    run_until_quiet(scheduler, outcomes)
    log.finish()
    if outcomes.in_vain:
        tell(
            f"{outcomes.in_vain} had a node {WAITS_IN_VAIN} times and lost it each time before it was bound, and no "
            "pod was bound in between: nothing is tried any further."
        )
    for reservation in cluster.list(Reservation):
        if reservation.status.phase == FAILED and reservation.status.conditions:
            tell(f"Reservation {reservation.metadata.name} failed: {reservation.status.conditions[0].message}")
    rows = [_row(scheduler, outcomes, pod, new=pod.key not in before) for pod in waiting]
    counted = [row for row in rows if row.new or not asked.only_new]
    status = PENDING if any(row.outcome != PLACED for row in counted) else 0
    if asked.show != "pods":
        lines = metrics.lines() if asked.show == METRICS else _shown(asked, scheduler, outcomes.events)
        output.writelines(f"{line}\n" for line in lines)
        return status
    if asked.json:
        answer = _answer(rows, counted, outcomes, read.objects, status)
        output.write(msgspec.json.encode(answer).decode() + "\n")
        return status
    _print(counted, output)
    if asked.only_new and len(counted) < len(rows):
        old = [row for row in rows if not row.new]
        placed = sum(row.outcome == PLACED for row in old)
        output.write(f"pending before: {len(old):,}, {placed:,} of them placed now\n")
    for pod, node in outcomes.deleted:
        output.write(f"preempted: {pod} from {node}\n" if node else f"preempted: {pod}\n")
    for pod, lines in outcomes.explanations.items():
        output.write("\n" + "\n".join(lines or [f"{pod}: no attempt was made"]) + "\n")
    return status


def _shown(asked: Request, scheduler: Scheduler, records: Sequence[ClusterEventRecord]) -> Iterable[str]:
    if asked.show == "dump":
        return debugger_log(scheduler)
    if asked.show == "resources":
        return resource_metrics(scheduler.cluster.list(Pod))
    found = series_of(records)
    return [msgspec.json.encode(event_list(found)).decode()] if asked.json else table(found, scheduler.now)


def _refuse_unknown(names: Iterable[str], cluster: Cluster) -> None:
    known = {pod.key: pod.metadata.name for pod in cluster.list(Pod)}
    for name in names:
        if name in known:
            continue
        alike = difflib.get_close_matches(name.rpartition("/")[2], known.values(), n=1)
        meant = f"; did you mean {next(key for key, own in known.items() if own == alike[0])}?" if alike else ""
        raise InputError("--explain", f"there is no pod {name}{meant}")


def _answer(
    rows: Sequence[Row], counted: Sequence[Row], outcomes: _Outcomes, objects: Objects, status: int
) -> dict[str, Any]:
    """The shape is told in docs/command-line.md."""
    return {
        "status": status,
        "placed": sum(row.outcome == PLACED for row in counted),
        "pending": sum(row.outcome != PLACED for row in counted),
        "pods": [
            {
                "pod": row.pod,
                "outcome": row.outcome,
                "node": row.node or None,
                "score": row.score,
                "message": row.message,
                "new": row.new,
            }
            for row in rows
        ],
        "preempted": [{"pod": pod, "node": node or None} for pod, node in outcomes.deleted],
        "warnings": [str(each) for each in objects.warnings],
        "made": {"pods": objects.made_pods, "from": objects.made_from},
        "left_out": [
            {
                "file": path,
                "kind": each.kind,
                "namespace": each.namespace,
                "name": each.name,
                "message": str(each.words),
            }
            for path, each in objects.problems
        ],
        "explained": outcomes.explanations,
    }


def _row(scheduler: Scheduler, outcomes: _Outcomes, known: Pod, *, new: bool) -> Row:
    pod = scheduler.cluster.get(Pod, known.metadata.namespace, known.metadata.name)
    if pod is None and (name := reservation_of(known)):
        reservation = scheduler.cluster.get(Reservation, "", name)
        node = "" if reservation is None else reservation.status.node_name
        trace = outcomes.by_pod.get(known.key)
        if node:
            return Row(known.key, PLACED, node, _score(trace), f"held by Reservation {name}", new)
        return Row(known.key, "pending", message=f"Reservation {name} wants no place any more", new=new)
    if pod is None:
        return Row(known.key, "preempted", message="deleted to make room for others", new=new)
    trace = outcomes.by_pod.get(pod.key)
    if pod.spec.node_name:
        return Row(pod.key, PLACED, pod.spec.node_name, _score(trace), new=new)
    for waiting in scheduler.waiting_pods():
        if waiting.uid == pod.metadata.uid:
            plugins = ", ".join(waiting.deadlines)
            return Row(pod.key, "permit", waiting.node_name, _score(trace), f"waits on Permit ({plugins})", new)
    outcome = "gated" if pod.spec.scheduling_gates else "pending"
    return Row(pod.key, outcome, message=_reason(scheduler, pod, trace), new=new)


def _score(trace: AttemptTrace | None) -> int | None:
    """The total of the chosen node; nothing is scored when there is only one."""
    if trace is None or trace.scores is None or trace.filter is None:
        return None
    position = trace.filter.nodes.index(trace.selected)
    found = (trace.scores.positions == position).nonzero()[0]
    return int(trace.scores.total[found[0]]) if len(found) else None


def _reason(scheduler: Scheduler, pod: Pod, trace: AttemptTrace | None) -> str:
    if trace is not None and trace.message:
        return trace.message
    profile = scheduler.profiles.get(pod.spec.scheduler_name)
    if profile is None:
        return f"no profile for schedulerName {pod.spec.scheduler_name}"
    for plugin in profile.enabled.pre_enqueue:
        status = plugin.pre_enqueue(pod) or SUCCESS
        if not status.is_success:
            return status.message
    return "was not tried"


def _print(rows: Iterable[Row], output: TextIO) -> None:
    listed = [("POD", "NODE", "SCORE", "MESSAGE")]
    listed += [(row.pod, row.node or "-", "-" if row.score is None else str(row.score), row.message) for row in rows]
    widths = [max(len(each[column]) for each in listed) for column in range(3)]
    indent = " " * (sum(widths) + 6)
    for pod, node, score, message in listed:
        start = f"{pod:<{widths[0]}}  {node:<{widths[1]}}  {score:>{widths[2]}}  "
        lines = textwrap.wrap(message, max(WIDTH - len(indent), 40), break_on_hyphens=False) or [""]
        output.write("\n".join([(start + lines[0]).rstrip(), *(indent + line for line in lines[1:])]) + "\n")
