"""Trying out one node: which of its pods would have to go, by a dry run or by one of a node that looks the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from framework.interface import Code, CycleState, Handle, PodInfo, Status
from framework.objects import PodDisruptionBudget
from framework.objects.timestamps import parse_timestamp
from framework.plugins.defaultpreemption.candidates import CandidateTable
from framework.plugins.defaultpreemption.victims import Victims, priority_of, select_victims

NOBODY: Final = "expected at least one victim pod on node "


def is_nobody(status: Status) -> bool:
    """The pod fits without anybody leaving: not what a node that was refused says."""
    return status.code is Code.ERROR and (status.error or "").startswith(NOBODY)


class Trial:
    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: PodInfo,
        budgets: Sequence[PodDisruptionBudget],
        table: CandidateTable,
        state_of: Callable[[int], Hashable | None] | None,
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._budgets = budgets
        self._table = table
        # Budgets look at labels and names: then no two nodes look the same.
        self._state_of = None if budgets else state_of
        self._priority = priority_of(pod.pod)
        self._now = handle.now()

    def run(self, row: int) -> None:
        snapshot, table = self._handle.snapshot, self._table
        node = snapshot.get(snapshot.name_of_row(row))
        assert node is not None, f"Filter answered for row {row}, which is not in the snapshot"
        potential = [pod for pod in node.pods if priority_of(pod.pod) < self._priority]
        lasting = not any(map(self._starts_later, potential))
        like = None
        if lasting and self._state_of is not None:
            like = table.alike(self._state_of(row), potential)
        known = table.known(like)
        outcome: Victims | Status
        if known is None:
            dry_run = self._handle.dry_run(self._state, self._pod, node)
            outcome = select_victims(dry_run, self._pod, self._budgets, self._now)
            if isinstance(outcome, Status):
                table.learn(like, outcome)
            else:
                places = {pod.uid: place for place, pod in enumerate(potential)}
                table.learn(like, tuple(places[victim.metadata.uid] for victim in outcome.pods))
        elif isinstance(known, Status):
            outcome = known
        else:
            outcome = Victims(node.name, tuple(potential[place].pod for place in known), 0)
        if isinstance(outcome, Victims) and not outcome.pods:
            outcome = Status.as_error(f'{NOBODY}"{node.name}"')
        table.put(row, outcome, self._now, lasting=lasting)

    def _starts_later(self, pod: PodInfo) -> bool:
        """Then how it compares with pods that have not started depends on the time."""
        started = pod.pod.status.start_time
        return bool(started) and parse_timestamp(started) > self._now
