"""Binding cycles that stand in PreBind, because a plugin waits there for controllers or for its time-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from framework.objects import Pod
from framework.profiles.binding import PreBindWait
from framework.trace.attempt import AttemptTrace


class UnfinishedCycle(Protocol):
    """A binding cycle."""

    @property
    def pod(self) -> Pod: ...

    @property
    def profile_name(self) -> str: ...

    @property
    def trace(self) -> AttemptTrace: ...

    @property
    def pre_bind_wait(self) -> PreBindWait | None: ...


class PreBinding:
    def __init__(self) -> None:
        self.cycles: dict[str, UnfinishedCycle] = {}
        """Uid → what waits."""
        self.due: list[UnfinishedCycle] = []
        """Whose time is up."""
        self._changed = False

    def __iter__(self) -> Iterator[UnfinishedCycle]:
        """Those whose time is up first, then in the order in which they came."""
        return iter([*self.due, *self.cycles.values()])

    def add(self, cycle: UnfinishedCycle) -> None:
        self.cycles[cycle.pod.metadata.uid] = cycle

    def cluster_changed(self) -> None:
        self._changed = True

    def next_timer(self) -> int | None:
        return min((_deadline(cycle) for cycle in self.cycles.values()), default=None)

    def next_asking_a_person(self) -> int | None:
        """The first deadline before which only people can end a wait."""
        waits = [cycle.pre_bind_wait for cycle in self.cycles.values()]
        return min((wait.deadline for wait in waits if wait is not None and wait.asks_a_person), default=None)

    def fire_timer(self, now: int) -> None:
        self._let_go([cycle for cycle in self.cycles.values() if _deadline(cycle) <= now])

    def take_due(self) -> list[UnfinishedCycle]:
        """Those that should look again: all of them after a change, else those whose time is up."""
        if self._changed:
            self._changed = False
            self._let_go(list(self.cycles.values()))
        due, self.due = self.due, []
        return due

    def _let_go(self, cycles: list[UnfinishedCycle]) -> None:
        for cycle in cycles:
            del self.cycles[cycle.pod.metadata.uid]
        self.due += cycles


def _deadline(cycle: UnfinishedCycle) -> int:
    wait = cycle.pre_bind_wait
    assert wait is not None
    return wait.deadline
