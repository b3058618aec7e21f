"""Coscheduling's extension points (docs/semantics/pod-groups.md#coscheduling)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

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
    PermitPlugin,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    PreFilterResult,
    QueuedPod,
    QueueSortPlugin,
    ReservePlugin,
    Status,
    View,
    WaitingPod,
)
from framework.objects import Pod
from framework.objects.timestamps import SECOND, parse_timestamp
from framework.plugins.coscheduling.args import CoschedulingArgs
from framework.plugins.coscheduling.pod_groups import CoschedulingGroups
from framework.sentences import noted

POD_GROUPS: Final = "podgroups.v1alpha1.scheduling.x-k8s.io"


class Coscheduling(QueueSortPlugin, PreFilterPlugin, PostFilterPlugin, PermitPlugin, ReservePlugin, EnqueueExtensions):
    name: ClassVar[str] = "Coscheduling"
    origin = "scheduler-plugins"
    args_type = CoschedulingArgs
    description: ClassVar[str] = noted("Binds the pods of a PodGroup together or not at all.")

    args: CoschedulingArgs

    def __init__(self, args: CoschedulingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.groups = CoschedulingGroups(handle)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(POD_GROUPS, ActionType.ADD | ActionType.UPDATE)),
        )

    def less(self, a: QueuedPod, b: QueuedPod) -> bool:
        first, second = a.pod.spec.priority or 0, b.pod.spec.priority or 0
        if first != second:
            return first > second
        at, other = self._enqueued(a), self._enqueued(b)
        return at < other if at != other else a.pod.key < b.pod.key

    def _enqueued(self, queued: QueuedPod) -> int:
        """Members of a group sort by the group's time, so that they stand together."""
        name = CoschedulingGroups.name_of(queued.pod)
        if name is not None:
            if name in self.groups.last_failed:
                return self.groups.last_failed[name]
            group = self.groups.group_of(queued.pod)
            if group is not None:
                created = group.metadata.creation_timestamp
                return parse_timestamp(created) if created else 0
        return queued.initial_attempt_timestamp or 0

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        refusal = self._refusal(pod.pod)
        return None, Status.unresolvable(refusal) if refusal else None

    def _refusal(self, pod: Pod) -> str | None:
        group, name = self.groups.group_of(pod), CoschedulingGroups.name_of(pod)
        if group is None or name is None:
            return None
        now = self.handle.now()
        if self.groups.backed_off.has(name, now):
            return f"podGroup {name} failed recently"
        siblings = self.groups.siblings(pod)
        gap = group.spec.min_member - len(siblings)
        if gap > 0:
            return (
                f"pre-filter pod {pod.metadata.name} cannot find enough sibling pods, current pods number: "
                f"{len(siblings)}, minMember of group: {group.spec.min_member}"
            )
        for sibling in siblings:
            gap += bool(sibling.spec.scheduling_gates)
            if gap > 0:
                return f"pre-filter pod {pod.metadata.name} cannot proceed due to gated pods in the same PodGroup"
        if group.spec.min_resources is None or self.groups.permitted.has(name, now):
            return None
        if lacking := self.groups.resource_gap(group):
            amounts = " ".join(f"{resource}:{lacking[resource]}" for resource in sorted(lacking))
            return f"resource gap: map[{amounts}]"
        self.groups.permitted.add(name, now, self.args.permit_waiting_time_seconds * SECOND)
        return None

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        name = CoschedulingGroups.name_of(pod)
        if name is None:
            return None, 0.0
        group = self.groups.group_of(pod)
        if group is None:
            return Status.unschedulable("PodGroup not found"), 0.0
        assigned = self.groups.assign(pod)
        if assigned >= group.spec.min_member:
            self.groups.last_failed.pop(name, None)
            self._for_waiting(name, lambda waiting: waiting.allow(self.name))
            return None, 0.0
        if assigned == 1:
            # The first member calls the others; they move to activeQ when this attempt is through.
            for sibling in self.groups.siblings(pod):
                if sibling.metadata.uid != pod.metadata.uid:
                    state.pods_to_activate[sibling.key] = sibling.metadata.uid
        seconds = group.spec.schedule_timeout_seconds or self.args.permit_waiting_time_seconds or 60
        return Status(Code.WAIT), float(seconds)

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        result = PostFilterResult()
        name, group = CoschedulingGroups.name_of(pod.pod), self.groups.group_of(pod.pod)
        if name is None or group is None:
            return result, Status.unschedulable("can not find pod group")
        assigned, wanted = self.groups.assigned(pod.pod), group.spec.min_member
        if assigned >= wanted:
            return result, Status.unschedulable()
        if (wanted - assigned) * 100 <= self.args.pod_group_reject_percentage * wanted:
            return result, Status.unschedulable()
        self._for_waiting(name, lambda waiting: waiting.reject(self.name, "optimistic rejection in PostFilter"))
        now = self.handle.now()
        if self.args.pod_group_backoff_seconds > 0 and len(self.groups.siblings(pod.pod)) >= wanted:
            self.groups.backed_off.add(name, now, self.args.pod_group_backoff_seconds * SECOND)
        self.groups.permitted.discard(name)
        self.groups.last_failed[name] = now
        return result, Status.unschedulable(
            f"PodGroup {name} gets rejected due to Pod {pod.pod.metadata.name} is unschedulable even after PostFilter"
        )

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        name = CoschedulingGroups.name_of(pod)
        if name is None or self.groups.group_of(pod) is None:
            return
        self.groups.unassign(pod)
        self._for_waiting(name, lambda waiting: waiting.reject(self.name, "rejection in Unreserve"))
        self.groups.permitted.discard(name)
        self.groups.last_failed[name] = self.handle.now()

    def _for_waiting(self, group: str, act: Callable[[WaitingPod], object]) -> None:
        def visit(waiting: WaitingPod) -> None:
            if CoschedulingGroups.name_of(waiting.pod) == group:
                act(waiting)

        self.handle.iterate_waiting_pods(visit)
