"""QueuedPodInfo: a pending pod with its queue history (spec: queue §1), and what observers are told of its moves."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from framework.interface.events import ClusterEvent
from framework.interface.node_info import PodInfo
from framework.objects import Pod


class Place(enum.Enum):
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
    place: Place = Place.NOWHERE
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


class QueueOrder:
    """QueueSort's Less, made total. On a real clock no two pods enter at one instant; here they do, in a sequence."""

    __slots__ = ("_less",)

    def __init__(self, less: Less) -> None:
        self._less = less

    def __call__(self, a: QueuedPodInfo, b: QueuedPodInfo) -> bool:
        if self._less(a, b):
            return True
        return a.sequence < b.sequence and not self._less(b, a)


@dataclass(frozen=True, slots=True)
class QueueMove:
    """A pod changed its place. ``event`` is upstream's label of the cause; ``plugin`` the one whose hint said Queue."""

    pod: QueuedPodInfo
    origin: Place
    to: Place
    event: str
    plugin: str = ""


class QueueObserver(Protocol):
    def queue_moved(self, move: QueueMove) -> None: ...
