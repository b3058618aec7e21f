"""GangScheduling: the pods of a group with a gang policy run together or not at all.

Rules: docs/semantics/pod-groups.md#gangscheduling.

It keeps pods out of the queue until minCount of them are there, and makes those that found a node wait on Permit until
minCount have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    EnqueueExtensions,
    EventResource,
    PermitPlugin,
    PreEnqueuePlugin,
    QueueingHint,
    Status,
)
from framework.interface.pod_groups import PodGroupMembers
from framework.objects import KubeObject, Pod
from framework.objects.scheduling import GangSchedulingPolicy, SchedulingPodGroup
from framework.sentences import noted

PERMIT_TIMEOUT_SECONDS: Final = 300.0
"""As long as a pod stays unschedulable before the flush: by then its missing sisters were tried again."""


def _group_name(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return None if group is None else group.pod_group_name


class GangScheduling(PreEnqueuePlugin, PermitPlugin, EnqueueExtensions):
    name: ClassVar[str] = "GangScheduling"
    description: ClassVar[str] = noted(
        "Holds the pods of a group until enough of them can run (feature gate GangScheduling)."
    )

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pod = ClusterEvent(EventResource.POD, ActionType.ADD)
        group = ClusterEvent(EventResource.POD_GROUP, ActionType.ADD)
        return (ClusterEventWithHint(pod, self._after_pod), ClusterEventWithHint(group, self._after_group))

    def _after_pod(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Pod)
        name = _group_name(pod)
        same = name is not None and name == _group_name(new) and pod.metadata.namespace == new.metadata.namespace
        return QueueingHint.QUEUE if same else QueueingHint.SKIP

    def _after_group(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, SchedulingPodGroup)
        own = (pod.metadata.namespace, _group_name(pod)) == (new.metadata.namespace, new.metadata.name)
        return QueueingHint.QUEUE if own else QueueingHint.SKIP

    def pre_enqueue(self, pod: Pod) -> Status | None:
        name = _group_name(pod)
        if name is None:
            return None
        group = self._group(pod, name)
        if group is None:
            return Status.unresolvable(f'waiting for pods\'s pod group "{name}" to appear in scheduling queue')
        gang = group.spec.scheduling_policy.gang
        if gang is None:
            return None
        members = self.handle.pod_group(pod.metadata.namespace, name)
        if members is None:
            return _no_state(pod, name)
        if members.all_count < gang.min_count:
            return Status.unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
        return None

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        name = _group_name(pod)
        if name is None:
            return None, 0.0
        group = self._group(pod, name)
        if group is None:
            at = f"{pod.metadata.namespace}/{name}"
            text = f'failed to get podGroup {at}: podgroup.scheduling.k8s.io "{name}" not found'
            return Status.as_error(text), 0.0
        gang = group.spec.scheduling_policy.gang
        if gang is None:
            return None, 0.0
        trial = state.pod_group
        members = self.handle.pod_group(pod.metadata.namespace, name) if trial is None else trial.members
        if members is None:
            return _no_state(pod, name), 0.0
        return self._permit(members, gang)

    def _permit(self, members: PodGroupMembers, gang: GangSchedulingPolicy) -> tuple[Status | None, float]:
        if members.scheduled_count < gang.min_count:
            self.handle.activate(members.unscheduled_pods())
            waiting = Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",))
            return waiting, PERMIT_TIMEOUT_SECONDS
        for uid in members.assumed_uids():
            entry = self.handle.waiting_pod(uid)
            if entry is not None:
                entry.allow(self.name)
        return None, 0.0

    def _group(self, pod: Pod, name: str) -> SchedulingPodGroup | None:
        return self.handle.objects.get(SchedulingPodGroup, pod.metadata.namespace, name)


def _no_state(pod: Pod, name: str) -> Status:
    return Status.as_error(f"pod group state not found for pod group {pod.metadata.namespace}/{name}")
