"""``simulate``: where the pending pods of a cluster go, as a table to read.

The cluster is what the manifests say; pods without a node are scheduled in the queue's order on a virtual clock, until
nothing more can happen.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from framework.advice.scratch import LastAttempts, run_until_quiet
from framework.cli.clusters import read_scheduler
from framework.configuration import FeatureGates
from framework.interface.status import SUCCESS
from framework.objects import KubeObject, Pod
from framework.scheduler import Scheduler
from framework.trace.attempt import AttemptTrace
from framework.trace.explanation import explain

WIDTH: Final = 120
PENDING: Final = 1


@dataclass(frozen=True, slots=True)
class Row:
    pod: str
    node: str
    score: str
    message: str
    pending: bool


@dataclass(frozen=True, slots=True)
class Request:
    files: list[str]
    config: Path | None = None
    seed: int = 0
    explain: Sequence[str] = ()
    """Pods, ``namespace/name`` or a name in the namespace default."""
    feature_gates: FeatureGates | None = None


class _Outcomes(LastAttempts):
    """The last attempt of every pod, all attempts of those to explain, and who had to go."""

    def __init__(self, explained: Iterable[str]) -> None:
        super().__init__()
        self.explanations: dict[str, list[str]] = {pod if "/" in pod else f"default/{pod}": [] for pod in explained}
        self.deleted: list[str] = []

    def attempt(self, trace: AttemptTrace) -> None:
        super().attempt(trace)
        if trace.pod in self.explanations:
            self.explanations[trace.pod] += explain(trace)

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(old, Pod) and new is None:
            self.deleted.append(f"{old.key} from {old.spec.node_name}" if old.spec.node_name else old.key)


def run(asked: Request, output: TextIO) -> int:
    outcomes = _Outcomes(asked.explain)
    scheduler = read_scheduler(asked.files, asked.config, asked.seed, outcomes, asked.feature_gates)
    cluster = scheduler.cluster
    waiting = [pod for pod in cluster.list(Pod) if not pod.spec.node_name and pod.status.phase in ("", "Pending")]
    run_until_quiet(scheduler, outcomes)
    rows = [_row(scheduler, outcomes, pod) for pod in waiting]
    _print(rows, output)
    for deleted in outcomes.deleted:
        output.write(f"preempted: {deleted}\n")
    for pod, lines in outcomes.explanations.items():
        output.write("\n" + "\n".join(lines or [f"{pod}: no attempt was made"]) + "\n")
    return PENDING if any(row.pending for row in rows) else 0


def _row(scheduler: Scheduler, outcomes: _Outcomes, known: Pod) -> Row:
    pod = scheduler.cluster.get(Pod, known.metadata.namespace, known.metadata.name)
    if pod is None:
        return Row(known.key, "", "", "deleted to make room for others", True)
    trace = outcomes.of.get(pod.key)
    if pod.spec.node_name:
        return Row(pod.key, pod.spec.node_name, _score(trace), "", False)
    for waiting in scheduler.waiting_pods():
        if waiting.uid == pod.metadata.uid:
            plugins = ", ".join(waiting.deadlines)
            return Row(pod.key, waiting.node_name, _score(trace), f"waits on Permit ({plugins})", True)
    return Row(pod.key, "", "", _reason(scheduler, pod, trace), True)


def _score(trace: AttemptTrace | None) -> str:
    """The total of the chosen node; nothing is scored when there is only one."""
    if trace is None or trace.scores is None or trace.filter is None:
        return "-"
    position = trace.filter.nodes.index(trace.selected)
    found = (trace.scores.positions == position).nonzero()[0]
    return str(int(trace.scores.total[found[0]])) if len(found) else "-"


def _reason(scheduler: Scheduler, pod: Pod, trace: AttemptTrace | None) -> str:
    if trace is not None and trace.message:
        return trace.message
    profile = scheduler.profiles.get(pod.spec.scheduler_name)
    if profile is None:
        return f"no profile for schedulerName {pod.spec.scheduler_name}"
    for plugin in profile.pre_enqueue:
        status = plugin.pre_enqueue(pod) or SUCCESS
        if not status.is_success:
            return status.message
    return "was not tried"


def _print(rows: Iterable[Row], output: TextIO) -> None:
    listed = [Row("POD", "NODE", "SCORE", "MESSAGE", False), *rows]
    widths = [max(len(getattr(row, name)) for row in listed) for name in ("pod", "node", "score")]
    indent = " " * (sum(widths) + 6)
    for row in listed:
        start = f"{row.pod:<{widths[0]}}  {row.node or '-':<{widths[1]}}  {row.score or '-':>{widths[2]}}  "
        lines = textwrap.wrap(row.message, max(WIDTH - len(indent), 40), break_on_hyphens=False) or [""]
        output.write("\n".join([(start + lines[0]).rstrip(), *(indent + line for line in lines[1:])]) + "\n")
