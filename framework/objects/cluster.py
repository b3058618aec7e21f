"""The objects around pods and nodes: namespaces, priority and runtime classes, budgets, controllers, pod groups."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from framework.objects.affinity import Toleration
from framework.objects.metadata import KubernetesObject, LabelSelector, Manifest, ObjectMeta, ResourceList


class Namespace(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Namespace"
    plural: ClassVar[str] = "namespaces"
    namespaced: ClassVar[bool] = False


class PriorityClass(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"
    kind: ClassVar[str] = "PriorityClass"
    plural: ClassVar[str] = "priorityclasses"
    namespaced: ClassVar[bool] = False

    value: int = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None


class RuntimeClassOverhead(Manifest, frozen=True, kw_only=True):
    pod_fixed: ResourceList = field(default_factory=dict)


class RuntimeClassScheduling(Manifest, frozen=True, kw_only=True):
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "node.k8s.io/v1"
    kind: ClassVar[str] = "RuntimeClass"
    plural: ClassVar[str] = "runtimeclasses"
    namespaced: ClassVar[bool] = False

    handler: str = ""
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None


class PodDisruptionBudgetSpec(Manifest, frozen=True, kw_only=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Manifest, frozen=True, kw_only=True):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    observed_generation: int = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)


class PodDisruptionBudget(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "policy/v1"
    kind: ClassVar[str] = "PodDisruptionBudget"
    plural: ClassVar[str] = "poddisruptionbudgets"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class ServiceSpec(Manifest, frozen=True, kw_only=True):
    # A nil selector selects nothing; an empty one is treated the same by the spreading plugin's Service lookup.
    selector: dict[str, str] | None = None
    type: str = ""
    cluster_ip: str = field(name="clusterIP", default="")


class Service(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Service"
    plural: ClassVar[str] = "services"

    spec: ServiceSpec = ServiceSpec()


class PodTemplateSpec(Manifest, frozen=True, kw_only=True):
    """Only its labels: what a selector defaults to."""

    metadata: ObjectMeta = ObjectMeta()


class ReplicationControllerSpec(Manifest, frozen=True, kw_only=True):
    replicas: int | None = None
    selector: dict[str, str] | None = None
    template: PodTemplateSpec | None = None


class ReplicationController(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "ReplicationController"
    plural: ClassVar[str] = "replicationcontrollers"

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class WorkloadSpec(Manifest, frozen=True, kw_only=True):
    """What ReplicaSet and StatefulSet share and scheduling reads."""

    replicas: int | None = None
    selector: LabelSelector | None = None


class ReplicaSet(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "ReplicaSet"
    plural: ClassVar[str] = "replicasets"

    spec: WorkloadSpec = WorkloadSpec()


class StatefulSet(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "StatefulSet"
    plural: ClassVar[str] = "statefulsets"

    spec: WorkloadSpec = WorkloadSpec()


class PodGroupSpec(Manifest, frozen=True, kw_only=True):
    min_member: int = 0
    min_resources: ResourceList | None = None
    schedule_timeout_seconds: int | None = None


class PodGroupStatus(Manifest, frozen=True, kw_only=True):
    phase: str = ""
    occupied_by: str = ""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    schedule_start_time: str | None = None


class PodGroup(KubernetesObject, frozen=True, kw_only=True):
    """scheduler-plugins' PodGroup, which Coscheduling reads; not the alpha type of scheduling.k8s.io."""

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "PodGroup"
    plural: ClassVar[str] = "podgroups"

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()
