"""QueuedPodInfo: a pending pod with its queue history, and what observers are told of its moves.

Rules: docs/semantics/queue.md#structures.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from framework.interface.events import ClusterEvent, QueueingHint
from framework.interface.node_info import PodInfo
from framework.objects import KubeObject, Pod


class QueuePlace(enum.Enum):
    """Where a pending pod is. A pod that is none of these is bound, gone or not ours."""

    NOWHERE = ""
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in flight"


@dataclass(slots=True, eq=False)
class QueuedPodInfo:
    """``pod_info`` is replaced when the pod is updated; everything else survives from attempt to attempt."""

    pod_info: PodInfo
    timestamp: int
    """Last (re)entry into the queue, nanoseconds."""
    key: str = ""
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    backoff_expiration: int | None = None
    """Cached until the pod comes back from another attempt."""
    initial_attempt_timestamp: int | None = None
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    gating_events: tuple[ClusterEvent, ...] = ()
    was_flushed: bool = False
    place: QueuePlace = QueuePlace.NOWHERE
    sequence: int = 0
    """Numbers the entries into the queue: the order of pods that entered at one instant of the virtual clock."""

    def __post_init__(self) -> None:
        self.key = self.pod_info.key

    @property
    def pod(self) -> Pod:
        return self.pod_info.pod

    @property
    def gated(self) -> bool:
        return self.gating_plugin != ""

    @property
    def has_rejectors(self) -> bool:
        return bool(self.unschedulable_plugins or self.pending_plugins)

    def rejectors(self) -> list[str]:
        """Unschedulable and pending plugins, sorted."""
        return sorted(self.unschedulable_plugins | self.pending_plugins)

    def clear_rejectors(self) -> None:
        self.unschedulable_plugins = set()
        self.pending_plugins = set()
        self.gating_plugin = ""
        self.gating_events = ()


Less = Callable[[QueuedPodInfo, QueuedPodInfo], bool]
SortKey = Callable[[QueuedPodInfo], Any]


class _ByLess:
    """A pod among others in QueueSort's order."""

    __slots__ = ("_less", "_pod")

    def __init__(self, pod: QueuedPodInfo, less: Less) -> None:
        self._pod = pod
        self._less = less

    def __lt__(self, other: _ByLess) -> bool:
        if self._less(self._pod, other._pod):
            return True
        return self._pod.sequence < other._pod.sequence and not self._less(other._pod, self._pod)


class QueueOrder:
    """QueueSort's order, made total. On a real clock no two pods enter at one instant; here they do, in a sequence.

    ``sort_key``: QueueSort's key, where the plugin has one; else its ``less`` is asked about every pair.
    """

    __slots__ = ("_less", "_sort_key")

    def __init__(self, less: Less, sort_key: SortKey | None = None) -> None:
        self._less = less
        self._sort_key = sort_key

    def __call__(self, pod: QueuedPodInfo) -> Any:
        return _ByLess(pod, self._less) if self._sort_key is None else (self._sort_key(pod), pod.sequence)


class QueueMove(msgspec.Struct, frozen=True):
    """A pod changed its place. ``event`` is upstream's label of the cause; ``plugin`` the one whose hint said Queue."""

    pod: QueuedPodInfo
    origin: QueuePlace
    to: QueuePlace
    event: str
    plugin: str = ""


class IgnoredEvent(msgspec.Struct, frozen=True):
    """An event that plugins were asked about and that moves none of ``pods``: every hint said QueueSkip."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None
    pods: list[QueuedPodInfo]
    asked: dict[str, tuple[str, ...]]
    """schedulerName → plugins that registered for the event; of them those that rejected a pod were asked about it."""


class HintAnswer(msgspec.Struct, frozen=True):
    """What one plugin that rejected ``pod`` said of an event."""

    pod: QueuedPodInfo
    plugin: str
    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None
    hint: QueueingHint


class EventForPod(msgspec.Struct, frozen=True):
    """What the queue did with an event beside the hints: ``helps`` nothing for ``pod``, is ``checked`` for a pod that
    comes back from its attempt, or is ``kept`` (``pod`` None) for those in flight."""

    what: Literal["helps not", "checked", "kept"]
    pod: QueuedPodInfo | None
    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


class QueueObserver(Protocol):
    hears_hints: bool
    """Whether single answers are told, one for each pod: then equal pods are not asked together."""

    def queue_moved(self, move: QueueMove) -> None: ...

    def hint_answered(self, answer: HintAnswer) -> None: ...

    def event_for_pod(self, told: EventForPod) -> None: ...

    def event_ignored(self, ignored: IgnoredEvent) -> None: ...
