"""What all profiles of a scheduler share: clock, random numbers, snapshot, cluster, waiting pods, queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from framework.columns import Snapshot
from framework.interface.handle import ApiWriter, ObjectStore
from framework.interface.node_info import PodInfo
from framework.interface.pod_groups import PodGroupMembers
from framework.objects import Pod
from framework.profiles.seeded import SeededGenerator
from framework.profiles.ties import Ties
from framework.profiles.waiting_pods import WaitingPods

ReuseRule = Literal["used", "off"]
"""``off``: nothing that was worked out for one attempt is used in another."""


class Clock:
    """The run's time in nanoseconds. Only ``Scheduler.advance`` moves it."""

    __slots__ = ("now",)

    def __init__(self, now: int) -> None:
        self.now = now


class QueueForPlugins(Protocol):
    """What plugins may ask of the scheduling queue."""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...

    def nominated_nodes(self) -> Sequence[str]: ...

    def activate(self, pods: Iterable[Pod], now: int) -> None: ...


class PodGroupsForPlugins(Protocol):
    def get(self, namespace: str, name: str) -> PodGroupMembers | None: ...


class Objects(ObjectStore, Protocol):
    @property
    def others_revision(self) -> int:
        """Counts the changes of objects that are neither pods nor nodes."""
        ...


@dataclass(slots=True)
class Services:
    clock: Clock
    generator: SeededGenerator
    ties: Ties
    snapshot: Snapshot
    objects: Objects
    api: ApiWriter
    waiting_pods: WaitingPods
    reuse: ReuseRule = "used"
    verify_reuse: int = 0
    """Every how many cycles what was reused is worked out anew and compared; 0 is never."""
    asked: int = 0
    """Counts what plugins asked for beyond snapshot and objects: time, chance, queue, waiting pods, writes."""
    shared: dict[str, Any] = field(default_factory=dict)
    """What plugins of all profiles have in common, by name."""
    pod_groups: PodGroupsForPlugins | None = None
    """Only with the gate GenericWorkload."""
    queue: QueueForPlugins | None = None
    """Set when the queue exists: it is ordered by a plugin, and plugins are built with the services."""

    @property
    def ready_queue(self) -> QueueForPlugins:
        assert self.queue is not None, "a plugin used the queue in its constructor"
        return self.queue
