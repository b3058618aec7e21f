"""DefaultPreemption's extension points: PostFilter, PreEnqueue while its evictions run, and a hint that never wakes.

Asynchronous preemption (on in 1.36) is played as one step: the evictions reach the API server before PostFilter
returns, their events are held as in-flight events of this very pod, and PreEnqueue would gate it only in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    NodeStatuses,
    PodInfo,
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
from framework.plugins.defaultpreemption.choice import best_candidates
from framework.plugins.defaultpreemption.victims import NO_VICTIMS, Victims, priority_of, select_victims

NOT_HELPFUL = Status.unresolvable("Preemption is not helpful for scheduling")
STILL_RUNNING = Status.unresolvable("waiting for the preemption for this pod to be finished")


@dataclass(slots=True)
class _Search:
    """What came of looking for candidates."""

    candidates: list[Victims] = field(default_factory=list)
    """Those without budget violations first."""
    failures: list[tuple[Status, int]] = field(default_factory=list)
    """Why other nodes are none, with how many."""
    refused: dict[str, list[str]] = field(default_factory=dict)
    """Reason → nodes that had pods to evict, in vain."""
    not_tried: tuple[str, ...] = ()

    def refused_by_reason(self) -> dict[str, tuple[str, ...]]:
        return {reason: tuple(nodes) for reason, nodes in self.refused.items()}


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, EnqueueExtensions):
    name: ClassVar[str] = "DefaultPreemption"
    args_type = DefaultPreemptionArgs
    description: ClassVar[str] = "Evicts pods of lower priority when a pod fits nowhere."
    repeatable: ClassVar[bool] = True

    args: DefaultPreemptionArgs

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._preempting: set[str] = set()
        self._places_pod_groups = handle.feature_gates.enabled("TopologyAwareWorkloadScheduling")

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return STILL_RUNNING if pod.metadata.uid in self._preempting else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # Pods gated here also carry the plugin that made them preempt; that plugin's hint decides (upstream comment).
        return (ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE), _never_wakes),)

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        if self._places_pod_groups and (refusal := self._left_to_placements(pod.pod)):
            return None, Status.unschedulable(refusal)
        result, status = self._preempt(state, pod, statuses)
        message = status.message
        if message:
            return result, Status(status.code, (f"preemption: {message}",))
        return result, status

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

    def _preempt(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status]:
        current = self.handle.objects.get(Pod, pod.pod.metadata.namespace, pod.pod.metadata.name)
        if current is None:
            return None, Status.as_error(f'pod "{pod.pod.metadata.name}" not found')
        if refusal := self._not_eligible(current, statuses):
            return None, Status.unschedulable(refusal)
        total = len(self.handle.snapshot.list())
        if total == 0:
            return None, Status.as_error("no nodes available")
        search = self._find_candidates(state, pod if pod.pod is current else PodInfo(current), statuses)
        candidates = search.candidates
        if not candidates:
            errors = [s.message for s, _ in search.failures if s.code is Code.ERROR]
            if errors:
                return None, Status.as_error(_aggregate(errors))
            message = counted_fit_error_message(total, search.failures, NOT_HELPFUL)
            said = PostFilterResult(nominated_node="", refused=search.refused_by_reason())
            return said, Status.unschedulable(message)

        equal, lost = best_candidates(candidates, self.handle.now())
        chosen_node = self.handle.choose_among([v.node for v in equal])
        chosen = next(v for v in equal if v.node == chosen_node)
        self._evict(current, chosen)
        return PostFilterResult(
            nominated_node=chosen.node,
            victims=chosen.pods,
            candidates={v.node: v.pods for v in candidates},
            pdb_violations={v.node: v.pdb_violations for v in candidates if v.pdb_violations},
            nominated_any=tuple(v.node for v in equal),
            lost_by=lost,
            refused=search.refused_by_reason(),
            not_tried=search.not_tried,
        ), Status()

    def _not_eligible(self, pod: Pod, statuses: NodeStatuses) -> str:
        """Why this pod may not preempt now; empty when it may (spec: preemption §2)."""
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.status.nominated_node_name
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node = self.handle.snapshot.get(nominated)
        for placed in node.pods if node else ():
            if priority_of(placed.pod) < priority_of(pod) and _terminating_by_preemption(placed.pod):
                return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _find_candidates(self, state: CycleState, pod: PodInfo, statuses: NodeStatuses) -> _Search:
        potential = statuses.nodes_with_unschedulable()
        if not potential:
            return _Search()
        with_victims = self.handle.snapshot.nodes_with_pods_below(priority_of(pod.pod))
        if with_victims.isdisjoint(potential):
            return _Search(failures=[(NO_VICTIMS, len(potential))])
        budgets = self.handle.objects.list(PodDisruptionBudget)
        wanted = self._candidates_wanted(len(potential))
        offset = self.handle.random_below(len(potential))
        clean: list[Victims] = []
        violating: list[Victims] = []
        found = _Search()
        failures = found.failures
        for i in range(len(potential)):
            name = potential[(offset + i) % len(potential)]
            if name not in with_victims:
                failures.append((NO_VICTIMS, 1))
                continue
            node = self.handle.snapshot.get(name)
            assert node is not None, f"Filter answered for node {name!r}, which is not in the snapshot"
            dry_run = self.handle.dry_run(state, pod, node)
            outcome = select_victims(dry_run, pod, budgets, self.handle.now())
            if isinstance(outcome, Status):
                failures.append((outcome, 1))
                found.refused.setdefault(", ".join(outcome.all_reasons), []).append(name)
                continue
            if not outcome.pods:
                failures.append((Status.as_error(f'expected at least one victim pod on node "{name}"'), 1))
                continue
            (violating if outcome.pdb_violations else clean).append(outcome)
            if clean and len(clean) + len(violating) >= wanted:
                rest = range(i + 1, len(potential))
                found.not_tried = tuple(potential[(offset + j) % len(potential)] for j in rest)
                break
        found.candidates = [*clean, *violating]
        return found

    def _candidates_wanted(self, nodes: int) -> int:
        share = nodes * self.args.min_candidate_nodes_percentage // 100
        return min(max(share, self.args.min_candidate_nodes_absolute), nodes)

    def _evict(self, preemptor: Pod, chosen: Victims) -> None:
        """Spec: preemption §7. Victims that are already terminating are left alone."""
        victims = [pod for pod in chosen.pods if pod.metadata.deletion_timestamp is None]
        if not victims:
            return
        uid = preemptor.metadata.uid
        self._preempting.add(uid)
        try:
            for nominated in self.handle.nominator.nominated_pods_for_node(chosen.node):
                if priority_of(nominated.pod) < priority_of(preemptor):
                    self.handle.api.clear_nomination(nominated.pod)
            for victim in victims:
                if self._evict_one(preemptor, victim, chosen.node) is not None:
                    # As upstream's goroutine: later victims stay, and the pod is tried again at once.
                    self.handle.activate([preemptor])
                    return
        finally:
            self._preempting.discard(uid)

    def _evict_one(self, preemptor: Pod, victim: Pod, node: str) -> str | None:
        """None, or the API server's error."""
        note = f"Preempted by pod {preemptor.metadata.uid} on node {node}"
        waiting = self.handle.waiting_pod(victim.metadata.uid)
        if waiting is not None and waiting.preempt(self.name, "preempted"):
            note += " (in kube-scheduler memory)."
        else:
            scheduler = preemptor.spec.scheduler_name
            message = f"{scheduler}: preempting to accommodate a higher priority pod"
            error = self.handle.api.patch_pod_condition(
                victim, "DisruptionTarget", "True", "PreemptionByScheduler", message
            ) or self.handle.api.delete_pod(victim)
            if error:
                # Gone already counts as evicted, without an event.
                return None if error.endswith("not found") else error
        self.handle.api.event("Normal", "Preempted", victim, note)
        return None


def _never_wakes(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return QueueingHint.SKIP


def _terminating_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _aggregate(errors: list[str]) -> str:
    """``utilerrors.NewAggregate``: one message bare, several as a list without repetitions."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
