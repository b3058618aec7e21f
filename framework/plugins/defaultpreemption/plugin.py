"""DefaultPreemption's extension points: PostFilter, PreEnqueue while its evictions run, and a hint that never wakes.

Asynchronous preemption (on in 1.36) is played as one step: the evictions reach the API server before PostFilter
returns, their events are held as in-flight events of this very pod, and PreEnqueue would gate it only in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    AskExtenders,
    Candidate,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    DryRuns,
    EnqueueExtensions,
    EventResource,
    Handle,
    NodeStatuses,
    PodInfo,
    PostFilterAnswer,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    QueueingHint,
    Status,
)
from framework.interface.fit_error import counted_fit_error_message
from framework.objects import KubeObject, Pod, PodDisruptionBudget
from framework.objects.scheduling import SchedulingPodGroup
from framework.plugins.defaultpreemption.args import DefaultPreemptionArgs
from framework.plugins.defaultpreemption.candidates import CLEAN, REFUSED, VIOLATING, CandidateTable
from framework.plugins.defaultpreemption.dry_run import DryRun, is_nobody
from framework.preemption.choice import CRITERIA, Costs, best_candidates, costs_of
from framework.preemption.evaluator import NEVER, NOBODY_LEFT, NOT_HELPFUL, TERMINATING
from framework.preemption.evictions import evict
from framework.preemption.limits import candidates_wanted
from framework.preemption.victims import NO_VICTIMS, go_aggregate, priority_of
from framework.sentences import noted

_BY_CRITERION = np.array((*CRITERIA, ""), dtype=object)
"""The last one is for candidates that did not lose: -1."""
STILL_RUNNING = Status.unresolvable("waiting for the preemption for this pod to be finished")


@dataclass(slots=True)
class _Search:
    """What came of looking for candidates."""

    candidates: list[Candidate] = field(default_factory=list)
    """Those without budget violations first."""
    failures: list[tuple[Status, int]] = field(default_factory=list)
    """Why other nodes are none, with how many."""
    costs: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, Costs.NUMBER), dtype=np.int64))
    """Of each candidate."""
    refused: dict[str, Sequence[str]] = field(default_factory=dict)
    """Reason → nodes that had pods to evict, in vain."""
    not_tried: Sequence[str] = ()
    dry_runs: DryRuns | None = None


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, EnqueueExtensions):
    name: ClassVar[str] = "DefaultPreemption"
    args_type = DefaultPreemptionArgs
    description: ClassVar[str] = noted("Evicts pods of lower priority when a pod fits nowhere.")
    repeatable: ClassVar[bool] = True

    args: DefaultPreemptionArgs

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._preempting: set[str] = set()
        self._places_pod_groups = handle.feature_gates.enabled("TopologyAwareWorkloadScheduling")

    def pre_enqueue(self, pod: Pod) -> Status | None:
        is_running = pod.metadata.uid in self._preempting or self.handle.api.is_evicting_for(pod)
        return STILL_RUNNING if is_running else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # Pods gated here also carry the plugin that made them preempt; that plugin's hint decides (upstream comment).
        return (ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE), _never_wakes),)

    def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeStatuses) -> PostFilterAnswer | AskExtenders:
        if self._places_pod_groups and (refusal := self._left_to_placements(pod.pod)):
            return None, Status.unschedulable(refusal)
        return self._preempt(state, pod, statuses)

    def _left_to_placements(self, pod: Pod) -> str:
        """A pod whose group is tried out in several placements must not preempt once for each of them."""
        named = pod.spec.scheduling_group
        if named is None:
            return ""
        group = self.handle.objects.get(SchedulingPodGroup, pod.metadata.namespace, named.pod_group_name or "")
        if group is None:
            return "preemption: pod group for pod not found"
        if group.spec.scheduling_constraints is None:
            return ""
        return "preemption: not eligible due to placement-based pod group scheduling limitation"

    def _preempt(self, state: CycleState, pod: PodInfo, statuses: NodeStatuses) -> PostFilterAnswer | AskExtenders:
        current = self.handle.objects.get(Pod, pod.pod.metadata.namespace, pod.pod.metadata.name)
        if current is None:
            return _said(None, Status.as_error(f'pod "{pod.pod.metadata.name}" not found'))
        if refusal := self._not_eligible(current, statuses):
            return _said(None, Status.unschedulable(refusal))
        total = len(self.handle.snapshot.list())
        if total == 0:
            return _said(None, Status.as_error("no nodes available"))
        preemptor = pod if pod.pod is current else PodInfo(current)
        asking = self.handle.evictions
        search = None
        if asking is not None and (node := asking.approved_on(self.name, current)):
            search = self._find_candidates(state, preemptor, statuses, node)
            if not asking.allows(current, search.candidates):
                search = None
        if search is None:
            search = self._find_candidates(state, preemptor, statuses)
        if not search.candidates:
            errors = [s.message for s, _ in search.failures if s.code is Code.ERROR]
            if errors:
                return _said(None, Status.as_error(go_aggregate(errors)))
            message = counted_fit_error_message(total, search.failures, NOT_HELPFUL)
            nobody = PostFilterResult(nominated_node="", refused=search.refused, dry_runs=search.dry_runs)
            return _said(nobody, Status.unschedulable(message))
        if self.handle.asks_extenders(current):
            return AskExtenders(current, search.candidates, partial(self._reviewed, current, search))
        return self._take(current, search)

    def _reviewed(self, preemptor: Pod, search: _Search, left: Sequence[Candidate] | Status) -> PostFilterAnswer:
        """What extenders left of the candidates, or the error that one of them ended it with."""
        if isinstance(left, Status):
            return _said(None, left)
        if not left:
            return _said(PostFilterResult(dry_runs=search.dry_runs), NOBODY_LEFT)
        now = self.handle.now()
        search.candidates = list(left)
        search.costs = np.array([costs_of(each, now) for each in left], dtype=np.int64)
        return self._take(preemptor, search)

    def _take(self, preemptor: Pod, search: _Search) -> PostFilterAnswer:
        """The best of the candidates: its victims are evicted, or a person is asked about them."""
        asking = self.handle.evictions
        if asking is not None:
            left = asking.admissible(self.name, preemptor, search.candidates)
            if isinstance(left, Status):
                refused = PostFilterResult(nominated_node="", refused=search.refused, dry_runs=search.dry_runs)
                return _said(refused, left)
            search.candidates = [search.candidates[place] for place in left]
            search.costs = search.costs[left]
        candidates = search.candidates
        equal, lost_by = best_candidates(search.costs, self.handle.now())
        equal_nodes = [candidates[place].node for place in equal.tolist()]
        chosen_node = None if asking is None else asking.standing(preemptor, [candidates[each] for each in equal])
        if chosen_node is None:
            chosen_node = self.handle.choose_among(equal_nodes)
        chosen = candidates[int(equal[equal_nodes.index(chosen_node)])]
        waits = None if asking is None else asking.propose(self.name, preemptor, chosen)
        if waits is None:
            self._evict(preemptor, chosen)
        result = PostFilterResult(
            nominated_node=chosen.node if waits is None else "",
            victims=chosen.victims,
            candidates=candidates,
            nominated_any=tuple(equal_nodes),
            lost_by=_BY_CRITERION[lost_by].tolist(),
            refused=search.refused,
            not_tried=search.not_tried,
            dry_runs=search.dry_runs,
        )
        return (result, Status()) if waits is None else _said(result, waits)

    def _not_eligible(self, pod: Pod, statuses: NodeStatuses) -> str:
        """Why this pod may not preempt now; empty when it may (docs/semantics/preemption.md#eligibility)."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.status.nominated_node_name
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node = self.handle.snapshot.get(nominated)
        for placed in node.pods if node else ():
            if priority_of(placed.pod) < priority_of(pod) and _terminating_by_preemption(placed.pod):
                return TERMINATING
        return ""

    def _find_candidates(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses, only: str | None = None
    ) -> _Search:
        """``only``: no other node."""
        snapshot = self.handle.snapshot
        potential = statuses.rows_with_unschedulable()
        if only is not None:
            there = snapshot.row(only) if snapshot.get(only) is not None else -1
            potential = potential[potential == there]
        if not len(potential):
            return _Search()
        below = snapshot.rows_with_pods_below(priority_of(pod.pod))
        with_victims = below[potential]
        budgets = self.handle.objects.list(PodDisruptionBudget)
        args = self.args
        wanted = candidates_wanted(
            len(potential), args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
        )
        if not with_victims.any():
            # Nothing is drawn where it cannot matter.
            dry_runs = DryRuns(len(potential), len(budgets), 0, wanted)
            return _Search(failures=[(NO_VICTIMS, len(potential))], dry_runs=dry_runs)
        offset = self.handle.random_below(len(potential))
        ring = np.concatenate((potential[offset:], potential[:offset]))
        has_victims = np.concatenate((with_victims[offset:], with_victims[:offset]))
        followed = self.handle.follow(state, pod, (self.name, priority_of(pod.pod)), CandidateTable)
        table = CandidateTable() if followed is None else followed.value
        table.forget(None if followed is None else followed.changed, len(below))
        dry_run = DryRun(self.handle, state, pod, budgets, table, None if followed is None else followed.state_of)

        tried = np.flatnonzero(has_victims)
        visited, enough = table.search(ring[tried], wanted, dry_run.run)
        rows = ring[tried[:visited]]
        end = int(tried[visited - 1]) + 1 if enough else len(ring)
        kinds = table.kind[rows]
        found = _Search(dry_runs=DryRuns(len(potential), len(budgets), offset, wanted, table.passes(rows)))
        if end > len(rows):
            found.failures.append((NO_VICTIMS, end - len(rows)))
        by_reason: dict[str, list[int]] = {}
        distinct, first = np.unique(kinds, return_index=True)
        for kind in distinct[np.argsort(first)].tolist():
            if kind >= REFUSED:
                status = table.status(kind)
                found.failures.append((status, int(np.count_nonzero(kinds == kind))))
                if not is_nobody(status):
                    by_reason.setdefault(", ".join(status.all_reasons), []).append(kind)
        for reason, of_reason in by_reason.items():
            found.refused[reason] = snapshot.names_of_rows(rows[np.isin(kinds, of_reason)])
        # Those without budget violations come first.
        chosen = np.concatenate((rows[kinds == CLEAN], rows[kinds == VIOLATING]))
        found.candidates = list(map(table.candidates.__getitem__, chosen.tolist()))
        found.costs = table.costs[chosen]
        found.not_tried = snapshot.names_of_rows(ring[end:])
        return found

    def _evict(self, preemptor: Pod, chosen: Candidate) -> None:
        uid = preemptor.metadata.uid
        self._preempting.add(uid)
        try:
            evict(self.name, self.handle, preemptor, chosen)
        finally:
            self._preempting.discard(uid)


def _said(result: PostFilterResult | None, status: Status) -> PostFilterAnswer:
    """With the plugin's word in front of the message."""
    return result, Status(status.code, (f"preemption: {status.message}",))


def _never_wakes(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return QueueingHint.SKIP


def _terminating_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False
