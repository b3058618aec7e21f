"""What all profiles of a scheduler share: clock, random numbers, tie rule, snapshot, cluster, waiting pods, queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.extenders import Extender
from framework.interface.handle import ApiWriter, ObjectStore
from framework.interface.node_info import PodInfo
from framework.interface.pod_groups import PodGroupMembers
from framework.objects import Pod
from framework.preemption.proposals import Proposals
from framework.profiles.waiting_pods import WaitingPods

_MASK: Final = (1 << 64) - 1
_HALF: Final = 1 << 63


class SeededGenerator:
    """The run's pseudo-random numbers: SplitMix64, whose whole state is one integer that a checkpoint can hold."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next(self) -> int:
        """64 bits. The constants are those of Steele, Lea and Flood (OOPSLA 2014)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def mark(self) -> int:
        """Where the draws stand, for ``go_back``."""
        return self._state

    def go_back(self, mark: int) -> None:
        self._state = mark

    def below(self, n: int) -> int:
        """0 ≤ result < n, every value equally likely."""
        if n <= 0:
            raise ValueError(f"below({n})")
        while True:
            # As ``next``: most attempts draw once.
            self._state = z = (self._state + 0x9E3779B97F4A7C15) & _MASK
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
            z ^= z >> 31
            if z < _HALF or z < (1 << 64) - (1 << 64) % n:
                return z % n


TieRule = Literal["seeded", "upstream", "smallest"]


@lru_cache(maxsize=8)
def _preorder(size: int) -> NDArray[np.intp]:
    """Index in a binary heap's array → its rank when the heap is walked root, left, right."""
    rank = np.empty(size, dtype=np.intp)
    stack = [0] if size else []
    count = 0
    while stack:
        index = stack.pop()
        rank[index] = count
        count += 1
        stack.extend(child for child in (2 * index + 2, 2 * index + 1) if child < size)
    return rank


def heap_root(size: int, tied: NDArray[np.intp]) -> int:
    """Which of the ``tied`` best of a list of ``size`` Go's heap.Init brings to the root.

    Rules: docs/semantics/framework.md#choose-a-node.

    Sifting moves a child up only if it is strictly better, and the right one only if it beats the left: of equal
    maxima the first in preorder wins.
    """
    return int(np.argmin(_preorder(size)[tied]))


class Ties:
    """Which of equally good nodes is taken: the run's tie rule (docs/semantics/runs.md#ties)."""

    def __init__(self, rule: TieRule, generator: SeededGenerator) -> None:
        self.rule = rule
        self._generator = generator

    def pick(self, names: Sequence[str]) -> str:
        """For choices that upstream leaves to map order: smallest name or seeded, over names in a fixed order."""
        if self.rule == "seeded" and len(names) > 1:
            return names[self._generator.below(len(names))]
        return min(names)

    def pick_scored(
        self, size: int, count: int, places: Callable[[], NDArray[np.intp]], names: Callable[[], Sequence[str]]
    ) -> int:
        """Which of ``count`` best ones of ``size`` to take; ``places`` and ``names`` are those of the best."""
        if count == 1:
            return 0
        if self.rule == "seeded":
            return self._generator.below(count)
        if self.rule == "upstream":
            return heap_root(size, places())
        listed = names()
        return min(range(count), key=listed.__getitem__)

    def pick_drawn(self, names: Sequence[str], drawn: Sequence[bool]) -> int:
        """Which of equally good nodes when those that are ``drawn`` have a random number and the others have none.

        Upstream gives one to every node that an extender has scored (docs/semantics/extenders.md#ties); the rule
        "smallest" leaves it out.
        """
        if self.rule == "smallest":
            return min(range(len(names)), key=names.__getitem__)
        lucky = [place for place, has_one in enumerate(drawn) if has_one]
        return lucky[self._generator.below(len(lucky))]


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

    def activate_once_back(self, pod: Pod, now: int) -> None: ...


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
    extenders: Sequence[Extender] = ()
    """In the order in which they are asked."""
    pod_groups: PodGroupsForPlugins | None = None
    """Only with the gate GenericWorkload."""
    queue: QueueForPlugins | None = None
    """Set when the queue exists: it is ordered by a plugin, and plugins are built with the services."""
    proposals: Proposals | None = None
    """Evictions that people are asked about. Set with the queue."""

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """A checkpoint from before there were extenders has none."""
        self.extenders, self.proposals = (), None
        for name, value in state[1].items():
            setattr(self, name, value)

    @property
    def ready_queue(self) -> QueueForPlugins:
        assert self.queue is not None, "a plugin used the queue in its constructor"
        return self.queue
