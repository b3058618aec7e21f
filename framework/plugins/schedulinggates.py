"""SchedulingGates: a pod with gates stays out of the queue until the last one is removed.

Rules: docs/semantics/plugins.md#schedulinggates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    PreEnqueuePlugin,
    QueueingHint,
    Status,
)
from framework.objects import KubeObject, Pod
from framework.sentences import noted


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    name: ClassVar[str] = "SchedulingGates"
    description: ClassVar[str] = noted("Holds a pod back while its spec.schedulingGates are not empty.")

    def pre_enqueue(self, pod: Pod) -> Status | None:
        gates = [gate.name for gate in pod.spec.scheduling_gates]
        if not gates:
            return None
        return Status.unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        event = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (ClusterEventWithHint(event, _after_gates_are_gone),)


def _after_gates_are_gone(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Only the pod's own update counts."""
    own = isinstance(new, Pod) and new.metadata.uid == pod.metadata.uid
    return QueueingHint.QUEUE if own else QueueingHint.SKIP
