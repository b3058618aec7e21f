"""Trying out one node: which of its pods would have to go, by a dry run or by one of a node that looks the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from framework.interface import Candidate, Code, CycleState, Handle, NodeInfo, PodInfo, Status
from framework.interface.decisions import passes_of
from framework.objects import PodDisruptionBudget
from framework.objects.timestamps import parse_timestamp
from framework.plugins.defaultpreemption.candidates import CandidateTable, TriedOut
from framework.preemption.choice import costs_of
from framework.preemption.victims import priority_of, select_victims

NOBODY: Final = "expected at least one victim pod on node "


def is_nobody(status: Status) -> bool:
    """The pod fits without anybody leaving: not what a node that was refused says."""
    return status.code is Code.ERROR and (status.error or "").startswith(NOBODY)


class DryRun:
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
        potential, looks, lasting = self._below(node)
        state = self._state_of(row) if lasting and self._state_of is not None else None
        like = None if state is None else (state, looks)
        known = table.known(like)
        if known is None:
            known = self._try_out(node, potential)
            table.learn(like, known)
        if not lasting:
            table.only_now(row)
        table.ran(row, known.passes)
        if isinstance(known.outcome, Status):
            table.refuse(row, known.outcome)
            return
        places, costs = known.outcome
        if places:
            victims = tuple([potential[place].pod for place in places])
            table.put(row, Candidate(node.name, victims, costs[0]), costs)
        else:
            table.refuse(row, Status.as_error(f'{NOBODY}"{node.name}"'))

    def _try_out(self, node: NodeInfo, potential: Sequence[PodInfo]) -> TriedOut:
        dry_run = self._handle.dry_run(self._state, self._pod, node)
        found = select_victims(dry_run, self._pod, self._budgets, self._now)
        passes = passes_of(dry_run.passes)
        if isinstance(found, Status):
            return TriedOut(found, passes)
        places = {pod.uid: place for place, pod in enumerate(potential)}
        costs = costs_of(found, self._now) if found.victims else ()
        return TriedOut((tuple(places[victim.metadata.uid] for victim in found.victims), costs), passes)

    def _below(self, node: NodeInfo) -> tuple[list[PodInfo], Hashable, bool]:
        """(the pods of lower priority, all that matters about them, whether that holds at any time).

        How a pod that starts in the future compares with pods that have not started depends on the time.
        """
        below: list[PodInfo] = []
        looks: list[Hashable] = []
        lasting = True
        mine = self._priority
        for pod in node.pods:
            priority, started = pod.pod.spec.priority or 0, pod.pod.status.start_time
            if priority < mine:
                below.append(pod)
                looks += (priority, started, tuple(pod.requests.items()), pod.non_zero)
                lasting = lasting and not (started and parse_timestamp(started) > self._now)
        return below, tuple(looks), lasting
