"""CrossNodePreemption's PostFilter (docs/semantics/catalogue.md#crossnodepreemption)."""

from __future__ import annotations

from typing import ClassVar, Final

from framework.interface import (
    AskExtenders,
    Candidate,
    Code,
    CycleState,
    NodeInfo,
    NodeStatuses,
    PodInfo,
    PostFilterAnswer,
    PostFilterPlugin,
    PostFilterResult,
    Status,
)
from framework.objects import Pod
from framework.plugins.crossnodepreemption.search import MOST_TRIES, Search
from framework.preemption.evaluator import choose, terminating_below
from framework.preemption.victims import priority_of
from framework.sentences import noted

NOBODY: Final = Status.unschedulable("0/0 nodes are available: .")
"""Upstream's error without figures."""
NOT_ELIGIBLE: Final = Status.unschedulable()
"""Upstream gives no reason."""


class CrossNodePreemption(PostFilterPlugin):
    name: ClassVar[str] = "CrossNodePreemption"
    origin = "scheduler-plugins"
    description: ClassVar[str] = noted(
        "Evicts pods of lower priority from several nodes at once when a pod fits nowhere. A sample: it tries all sets."
    )
    repeatable: ClassVar[bool] = True

    def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeStatuses) -> PostFilterAnswer | AskExtenders:
        handle, metadata = self.handle, pod.pod.metadata
        current = handle.objects.get(Pod, metadata.namespace, metadata.name)
        if current is None:
            return None, Status.as_error(f'pod "{metadata.name}" not found')
        if not self._is_eligible(current, statuses):
            return None, NOT_ELIGIBLE
        if not handle.snapshot.list():
            return None, Status.as_error("no nodes available")
        across, nodes = handle.dry_run_across(state, pod), self._potential(current, statuses)
        found = Search(across, nodes, current, most=MOST_TRIES).run()
        candidates = [Candidate(node.name, tuple([each.pod for each in victims])) for node, victims in found.candidates]
        asking = handle.evictions
        if asking is not None and (approved := asking.approved_on(self.name, current)):
            there = [each for each in candidates if each.node == approved]
            if asking.allows(current, there):
                candidates = there
        if candidates:
            return choose(self.name, handle, current, candidates, found.not_tried)
        if found.not_tried:
            return PostFilterResult(not_tried=found.not_tried), gave_up(len(found.not_tried))
        return None, NOBODY

    def _potential(self, pod: Pod, statuses: NodeStatuses) -> list[NodeInfo]:
        """Nodes that were refused, but not for good, with pods of lower priority."""
        snapshot, rows = self.handle.snapshot, statuses.rows_with_unschedulable()
        rows = rows[snapshot.rows_with_pods_below(priority_of(pod))[rows]]
        nodes = map(snapshot.get, snapshot.names_of_rows(rows))
        return [node for node in nodes if node is not None]

    def _is_eligible(self, pod: Pod, statuses: NodeStatuses) -> bool:
        if pod.spec.preemption_policy == "Never":
            return False
        nominated = pod.status.nominated_node_name
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return True
        return not terminating_below(self.handle, pod)


def gave_up(nodes: int) -> Status:
    where = "1 node" if nodes == 1 else f"{nodes} nodes"
    return Status.unschedulable(f"gave up after {MOST_TRIES} tries, before all sets of pods were tried for {where}")
