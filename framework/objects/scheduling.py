"""scheduling.k8s.io/v1alpha2: PodGroup and Workload (alpha; feature gate GenericWorkload).

Not scheduler-plugins' PodGroup (``framework.objects.cluster``): the two kinds share a name, not a group.
"""

from __future__ import annotations

from typing import ClassVar

from framework.objects.metadata import KubernetesObject, Manifest

SCHEDULING_V1ALPHA2 = "scheduling.k8s.io/v1alpha2"
POD_GROUP_SCHEDULED = "PodGroupScheduled"
"""The condition of a pod group that its cycles set."""


class BasicSchedulingPolicy(Manifest, frozen=True, kw_only=True):
    """One by one, as without a group."""


class GangSchedulingPolicy(Manifest, frozen=True, kw_only=True):
    min_count: int = 0


class PodGroupSchedulingPolicy(Manifest, frozen=True, kw_only=True):
    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Manifest, frozen=True, kw_only=True):
    key: str = ""


class PodGroupSchedulingConstraints(Manifest, frozen=True, kw_only=True):
    topology: tuple[TopologyConstraint, ...] = ()


class SchedulingPodGroupSpec(Manifest, frozen=True, kw_only=True):
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: int | None = None


class Condition(Manifest, frozen=True, kw_only=True):
    """metav1.Condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: str | None = None


class SchedulingPodGroupStatus(Manifest, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()


class SchedulingPodGroup(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = SCHEDULING_V1ALPHA2
    kind: ClassVar[str] = "PodGroup"
    plural: ClassVar[str] = "podgroups"

    spec: SchedulingPodGroupSpec = SchedulingPodGroupSpec()
    status: SchedulingPodGroupStatus = SchedulingPodGroupStatus()

    @property
    def topology_key(self) -> str | None:
        """Of the first topology constraint; the API has no more than one."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else None


class PodGroupTemplate(Manifest, frozen=True, kw_only=True):
    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None


class SchedulingWorkloadSpec(Manifest, frozen=True, kw_only=True):
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(KubernetesObject, frozen=True, kw_only=True):
    """What controllers make pod groups from. The scheduler does not read it."""

    api_version: ClassVar[str] = SCHEDULING_V1ALPHA2
    kind: ClassVar[str] = "Workload"
    plural: ClassVar[str] = "workloads"

    spec: SchedulingWorkloadSpec = SchedulingWorkloadSpec()
