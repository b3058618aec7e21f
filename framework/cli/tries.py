"""The attempts of one case in their order, with what happens before them and what they set off.

Beside plain cases it knows those of scheduler-plugins: events between attempts, pods that are tried again, waits on
Permit that another attempt ends, and the order in which a QueueSort plugin would take the pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from framework.cli.case_run import CaseRun
from framework.cli.cases import Case, CaseEvent, CaseObjects, Unreadable, completed, load_object
from framework.cli.errors import InputError
from framework.cli.report import Report, empty_report
from framework.cli.requeue import apply_event
from framework.interface.node_info import PodInfo
from framework.objects import Pod
from framework.objects.timestamps import parse_timestamp
from framework.queue.queued_pod import QueuedPodInfo

DEFAULT_SORT: Final = "PrioritySort"


class Tries:
    def __init__(self, case: Case, objects: CaseObjects, run: CaseRun) -> None:
        self._case = case
        self._objects = objects
        self._run = run
        self._order: list[str] | None = case.tries
        self._events = 0
        self._sorted: dict[str, list[str]] | None = None

    def run(self) -> list[Report]:
        case = self._case
        results: list[Report] = []
        by_key = {pod.key: pod for pod in self._objects.pods}
        if case.create_first or case.tries is not None:
            for pod in self._objects.pods:
                self._run.create(pod)
        self._sorted = self._queue_sort()
        keys = list(by_key) if case.tries is None else case.tries
        seen: dict[str, int] = {}
        for place, key in enumerate(keys):
            self._before(place)
            if key not in by_key:
                raise InputError(case.name, f"tries[{place}]: no pod {key} among the pods")
            seen[key] = seen.get(key, 0) + 1
            results += self._attempts(by_key[key], seen[key])
        self._before(len(keys))
        return results

    def _attempts(self, pod: Pod | Unreadable, attempt: int) -> Iterator[Report]:
        skipped = self._run.cannot_be_tried(pod) if self._case.tries is not None else None
        if skipped is None:
            return self._run.attempts(pod)
        assert isinstance(pod, Pod)
        admitted = self._run.admitted(pod)
        report = empty_report(pod.key, admitted.spec.scheduler_name, admitted.spec.priority or 0, {})
        return iter([report | {"attempt": attempt, "skipped": skipped}])

    def _before(self, place: int) -> None:
        for event in self._case.before.get(str(place), ()):
            self._apply(event, f"{self._case.name}: before[{place}]")

    def _apply(self, event: CaseEvent, source: str) -> None:
        scheduler = self._run.scheduler
        if event.type == "clock":
            # Nothing that would fall due meanwhile happens by itself.
            scheduler.core.clock.now = parse_timestamp(event.to)
        elif event.type == "resync":
            scheduler.tickers.all_at_once()
        elif event.type == "metrics":
            load = load_object(event.metrics or {}, source)
            known = scheduler.cluster.find(load)
            if known is None:
                scheduler.cluster.create_admitted(load)
            else:
                scheduler.cluster.replace(load)
        else:
            index = len(self._case.objects) + len(self._case.pods) + self._events
            self._events += 1
            apply_event(scheduler.cluster, event, completed(event.object, index, source), source, admits=False)

    # --- of the whole case ------------------------------------------------------------------------------------------

    def of_case(self) -> Report:
        report: Report = {}
        if self._sorted is not None:
            profile = next(iter(self._run.scheduler.profiles.values()))
            queue_sort: dict[str, Any] = {"profile": profile.name, "plugin": profile.enabled.queue_sort.name}
            queue_sort["before"] = self._sorted
            after = self._queue_sort()
            if after != self._sorted:
                queue_sort["after"] = after
            report["queueSort"] = queue_sort
        waiting = [entry.key for entry in self._run.scheduler.waiting_pods()]
        if waiting:
            report["waiting"] = waiting
        return report

    def _queue_sort(self) -> dict[str, list[str]] | None:
        """Pod → the others that come behind it, as pods that were queued when they were created."""
        profile = next(iter(self._run.scheduler.profiles.values()))
        if profile.enabled.queue_sort.name == DEFAULT_SORT:
            return None
        queued = [self._queued(pod) for pod in self._objects.pods if isinstance(pod, Pod)]
        return {a.key: [b.key for b in queued if b is not a and profile.enabled.queue_sort.less(a, b)] for a in queued}

    def _queued(self, pod: Pod) -> QueuedPodInfo:
        admitted = self._run.admitted(pod)
        created = parse_timestamp(admitted.metadata.creation_timestamp or "")
        return QueuedPodInfo(PodInfo(admitted), created, initial_attempt_timestamp=created)
