"""Which plugin wants to hear of which cluster event, and what it says (docs/semantics/queue.md#events)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from framework.interface.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    HintFunction,
    QueueingHint,
)
from framework.objects import KubeObject, Pod

_POD_RESOURCES: Final = (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD)
_UNROLLED: Final = (
    EventResource.POD,
    EventResource.NODE,
    EventResource.PERSISTENT_VOLUME,
    EventResource.PERSISTENT_VOLUME_CLAIM,
    EventResource.CSI_NODE,
    EventResource.CSI_DRIVER,
    EventResource.CSI_STORAGE_CAPACITY,
    EventResource.STORAGE_CLASS,
    EventResource.RESOURCE_CLAIM,
    EventResource.DEVICE_CLASS,
)
_ACTION_NAMES: Final = {
    ActionType.ADD: "Add",
    ActionType.DELETE: "Delete",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel",
    ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    ActionType.UPDATE: "Update",
    ActionType.ALL: "All",
}


def event_label(event: ClusterEvent) -> str:
    """Upstream ``ClusterEvent.Label``: its own label, or resource and action (``NodeUpdateNodeTaint``)."""
    if event.label:
        return event.label
    resource = event.resource.value if isinstance(event.resource, EventResource) else event.resource
    return resource + _ACTION_NAMES.get(event.action, "")


def is_wildcard(event: ClusterEvent) -> bool:
    return event.resource == EventResource.WILDCARD and event.action == ActionType.ALL


def matches(registered: ClusterEvent, incoming: ClusterEvent) -> bool:
    """Whether a registration covers an event.

    The numeric comparison is upstream's: a general Update does not wake who registered for one kind of update only,
    and the wildcard event matches wildcard registrations only.
    """
    if is_wildcard(registered):
        return True
    resource = registered.resource
    return (
        (
            resource == EventResource.WILDCARD
            or resource == incoming.resource
            or (resource == EventResource.POD and incoming.resource in _POD_RESOURCES)
        )
        and bool(registered.action & incoming.action)
        and int(incoming.action) <= int(registered.action)
    )


def default_registrations() -> tuple[ClusterEventWithHint, ...]:
    """What a plugin without EnqueueExtensions is registered for: every change of everything.

    Rules: docs/semantics/queue.md#events.
    """
    return tuple(ClusterEventWithHint(ClusterEvent(resource, ActionType.ALL)) for resource in _UNROLLED)


@dataclass(frozen=True, slots=True)
class QueueingHintFunction:
    event: ClusterEvent
    plugin: str
    hint: HintFunction | None
    of_equal_pods: bool = False

    def __call__(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        if self.hint is None:
            return QueueingHint.QUEUE
        try:
            return self.hint(pod, old, new)
        except Exception:  # noqa: BLE001 - upstream queues the pod when a hint fails, so that it is not stuck
            return QueueingHint.QUEUE


class HintMap:
    """The registrations of one profile, looked up by incoming event."""

    __slots__ = ("_matching", "functions")

    def __init__(self, functions: Sequence[QueueingHintFunction]) -> None:
        self.functions = tuple(functions)
        self._matching: dict[tuple[str, int], tuple[QueueingHintFunction, ...]] = {}

    def matching(self, event: ClusterEvent) -> tuple[QueueingHintFunction, ...]:
        key = (event.resource, int(event.action))
        found = self._matching.get(key)
        if found is None:
            found = self._matching[key] = tuple(f for f in self.functions if matches(f.event, event))
        return found

    def plugins_hearing(self, event: ClusterEvent) -> tuple[str, ...]:
        return tuple(dict.fromkeys(function.plugin for function in self.matching(event)))

    def tells_equal_pods_apart(self, event: ClusterEvent, plugins: Iterable[str]) -> bool:
        """Whether the hint of one of these plugins may say something else about equal pods."""
        return any(
            function.plugin in plugins and function.hint is not None and not function.of_equal_pods
            for function in self.matching(event)
        )

    def events_of(self, plugin: str) -> tuple[ClusterEvent, ...]:
        return tuple(dict.fromkeys(f.event for f in self.functions if f.plugin == plugin))


def build_hint_map(registrations: Sequence[tuple[str, Sequence[ClusterEventWithHint]]]) -> HintMap:
    """``registrations``: plugin → what its EventsToRegister returned, in the profile's order."""
    functions: list[QueueingHintFunction] = []
    for plugin, events in registrations:
        node_added = node_taint = False
        for registered in events:
            event = registered.event
            if event.resource == EventResource.NODE:
                node_added = node_added or bool(event.action & ActionType.ADD)
                node_taint = node_taint or bool(event.action & ActionType.UPDATE_NODE_TAINT)
            functions.append(QueueingHintFunction(event, plugin, registered.hint, registered.of_equal_pods))
        if node_added and not node_taint:
            # Upstream's stopgap for kubernetes#109437: who waits for new nodes also hears of changed taints.
            taint = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
            functions.append(QueueingHintFunction(taint, plugin, None))
    return HintMap(functions)
