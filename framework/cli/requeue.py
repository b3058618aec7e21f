"""Events after all pods of a case were tried: which rejected pods does each of them put back into the queue?

Before each event every rejected pod is put back among the unschedulable ones; the events add up.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from framework.cli.cases import CaseEvent, completed
from framework.cli.errors import InputError
from framework.objects import KubeObject, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.defaults import with_defaults
from framework.objects.kinds import plural_of
from framework.queue.queued_pod import QueuedPodInfo, QueuePlace
from framework.scheduler import Cluster, Scheduler


@dataclass(slots=True)
class Rejected:
    """A pod as its last attempt, or its gate, left it."""

    queued: QueuedPodInfo
    gated: bool
    unschedulable: frozenset[str]
    pending: frozenset[str]

    @property
    def backs_off(self) -> bool:
        """After an error, which no plugin rejected it for: it waits for no event."""
        return not (self.gated or self.unschedulable or self.pending)


class Requeue:
    def __init__(self, scheduler: Scheduler, case: str, first_index: int, tried: Container[str]) -> None:
        """``tried``: keys of the pods that are asked about, as far as they wait."""
        self._scheduler = scheduler
        self._case = case
        self._index = first_index
        queue = scheduler.core.queue
        waiting = [*queue.active(), *queue.backoff(), *queue.unschedulable()]
        self._rejected = {
            pod.key: Rejected(pod, pod.gated, frozenset(pod.unschedulable_plugins), frozenset(pod.pending_plugins))
            for pod in sorted(waiting, key=lambda each: each.key)
            if pod.key in tried
        }

    def run(self, events: list[CaseEvent]) -> list[dict[str, Any]]:
        return [self._event(index, event) for index, event in enumerate(events)]

    def _event(self, index: int, event: CaseEvent) -> dict[str, Any]:
        left = self._put_back()
        obj = completed(event.object, self._index + index, f"{self._case}: events[{index}]")
        apply_event(self._scheduler.cluster, event, obj, f"{self._case}: events[{index}]")
        key = f"{obj.metadata.namespace}/{obj.metadata.name}" if obj.metadata.namespace else obj.metadata.name
        return {
            "index": index,
            "event": f"{event.type} {plural_of(obj)} {key}",
            "pods": {pod: self._outcome(pod, pod in left) for pod in self._rejected},
        }

    def _put_back(self) -> set[str]:
        """The keys of pods that are not among the unschedulable ones any more: gated ones whose gates went earlier."""
        left: set[str] = set()
        for key, rejected in self._rejected.items():
            place = rejected.queued.place
            if rejected.gated and place is not QueuePlace.GATED:
                left.add(key)
            elif place is not QueuePlace.NOWHERE and not rejected.backs_off:
                rejected.queued.unschedulable_plugins = set(rejected.unschedulable)
                rejected.queued.pending_plugins = set(rejected.pending)
                self._scheduler.core.queue.put_back(rejected.queued)
        return left

    def _outcome(self, key: str, left: bool) -> str:
        place = self._rejected[key].queued.place
        if place is QueuePlace.NOWHERE:  # also a pod that finished: the scheduler's informer drops it
            return "Deleted"
        if left:
            return "NotUnschedulable"
        if self._rejected[key].backs_off:
            return "Queue"
        return "QueueSkip" if place in (QueuePlace.UNSCHEDULABLE, QueuePlace.GATED) else "Queue"


def apply_event(cluster: Cluster, event: CaseEvent, obj: KubeObject, place: str, *, admits: bool = True) -> None:
    """``add``, ``update`` or ``delete``; ``place`` names the event in InputErrors. ``admits``: an object that admission
    refuses is an error; else it is taken as it is."""
    type_ = event.type
    if type_ == "delete":
        if cluster.find(with_defaults(obj)) is not None:  # it may have been preempted before
            cluster.delete(with_defaults(obj))
        return
    if type_ not in ("add", "update"):
        raise InputError(place, f'type: unknown "{type_}"')
    known = cluster.find(obj)
    if type_ == "update" and known is None:  # it may have been preempted; an API server answers "not found"
        return
    admitted = admit(obj, cluster, validate=False)
    if isinstance(admitted, AdmissionError):
        if admits:
            raise InputError(place, str(admitted))
        admitted = with_defaults(obj)
    if known is None:
        cluster.create_admitted(admitted)
    else:
        cluster.replace(_updated(known, admitted, with_status="status" in event.object))


def _updated(known: KubeObject, new: KubeObject, *, with_status: bool) -> KubeObject:
    """An update keeps what the API server keeps; a pod's node too, and its status unless the event brings one."""
    kept = replace(new.metadata, uid=known.metadata.uid, creation_timestamp=known.metadata.creation_timestamp)
    new = replace(new, metadata=kept)
    if not (isinstance(new, Pod) and isinstance(known, Pod)):
        return new
    spec = new.spec if new.spec.node_name else replace(new.spec, node_name=known.spec.node_name)
    return replace(new, spec=spec, status=new.status if with_status else known.status)
