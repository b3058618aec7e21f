"""The custom resources that plugins of kubernetes-sigs/scheduler-plugins read, and the load of nodes.

Field names are those of the resources' own Go types; of what no plugin reads, only what people look at is typed.
"""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import field

from framework.objects.metadata import KubernetesObject, Manifest, RawQuantity, ResourceList
from framework.objects.reservations import RESERVATION_AFFINITY, RESERVATION_ALLOCATED, Reservation

MINIMUM_PREEMPTABLE_PRIORITY: Final = "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"
TOLERATION_SECONDS: Final = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"
SECCOMP_ANNOTATION: Final = "seccomp.security.alpha.kubernetes.io"
"""Part of the keys of annotations that name a SeccompProfile."""
FINGERPRINT_ANNOTATION: Final = "topology.node.k8s.io/fingerprint"
USAGE_THRESHOLDS: Final = "scheduling.koordinator.sh/usage-thresholds"
"""Of a node, as JSON: how busy it may be (docs/koordinator.md#loadawarescheduling)."""
QUOTA_NAME: Final = "quota.scheduling.koordinator.sh/name"
"""Label of a pod: the ElasticQuota that it belongs to (docs/koordinator.md#elasticquotatree)."""
QUOTA_PARENT: Final = "quota.scheduling.koordinator.sh/parent"
"""Label of an ElasticQuota: the one above it."""
QUOTA_LENDS: Final = "quota.scheduling.koordinator.sh/allow-lent-resource"
"""Label of an ElasticQuota: "false" keeps what is guaranteed from others also while it is not used."""
QUOTA_WEIGHT: Final = "quota.scheduling.koordinator.sh/shared-weight"
"""Annotation of an ElasticQuota, amounts as JSON: by what it gets more than it is guaranteed."""
CATALOGUE_ANNOTATIONS: Final = (
    MINIMUM_PREEMPTABLE_PRIORITY,
    TOLERATION_SECONDS,
    FINGERPRINT_ANNOTATION,
    USAGE_THRESHOLDS,
    QUOTA_WEIGHT,
    RESERVATION_AFFINITY,
    RESERVATION_ALLOCATED,
)
"""Those that imports keep, beside the ones of SeccompProfiles."""

# --- quotas -----------------------------------------------------------------------------------------------------------


class ElasticQuotaSpec(Manifest, frozen=True, kw_only=True):
    """``None`` is another bound than an empty list (docs/semantics/catalogue.md#capacityscheduling)."""

    min: ResourceList | None = None
    max: ResourceList | None = None


class ElasticQuotaStatus(Manifest, frozen=True, kw_only=True):
    used: ResourceList | None = None


class ElasticQuota(KubernetesObject, frozen=True, kw_only=True):
    """How much a namespace is guaranteed, and how much it may borrow."""

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "ElasticQuota"
    plural: ClassVar[str] = "elasticquotas"

    spec: ElasticQuotaSpec = ElasticQuotaSpec()
    status: ElasticQuotaStatus = ElasticQuotaStatus()


# --- NUMA zones -------------------------------------------------------------------------------------------------------


class TopologyAttribute(Manifest, frozen=True, kw_only=True):
    name: str = ""
    value: str = ""


class ZoneResource(Manifest, frozen=True, kw_only=True):
    name: str = ""
    capacity: RawQuantity = "0"
    allocatable: RawQuantity = "0"
    available: RawQuantity = "0"


class ZoneCost(Manifest, frozen=True, kw_only=True):
    name: str = ""
    value: int = 0


class TopologyZone(Manifest, frozen=True, kw_only=True):
    name: str = ""
    type: str = ""
    parent: str = ""
    costs: tuple[ZoneCost, ...] = ()
    attributes: tuple[TopologyAttribute, ...] = ()
    resources: tuple[ZoneResource, ...] = ()


class NodeResourceTopology(KubernetesObject, frozen=True, kw_only=True):
    """What each NUMA zone of a node has, written by an agent on the node; named like the node."""

    api_version: ClassVar[str] = "topology.node.k8s.io/v1alpha2"
    kind: ClassVar[str] = "NodeResourceTopology"
    plural: ClassVar[str] = "noderesourcetopologies"
    namespaced: ClassVar[bool] = False

    topology_policies: tuple[str, ...] = ()
    zones: tuple[TopologyZone, ...] = ()
    attributes: tuple[TopologyAttribute, ...] = ()


# --- groups of workloads that talk to each other ----------------------------------------------------------------------


class AppGroupWorkload(Manifest, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    selector: str = ""
    api_version: str = ""
    namespace: str = ""


class AppGroupDependency(Manifest, frozen=True, kw_only=True):
    workload: AppGroupWorkload = AppGroupWorkload()
    min_bandwidth: RawQuantity = "0"
    max_network_cost: int = 0


class AppGroupMember(Manifest, frozen=True, kw_only=True):
    workload: AppGroupWorkload = AppGroupWorkload()
    dependencies: tuple[AppGroupDependency, ...] = ()


class AppGroupSpec(Manifest, frozen=True, kw_only=True):
    num_members: int = 0
    topology_sorting_algorithm: str = ""
    workloads: tuple[AppGroupMember, ...] = ()


class AppGroupOrder(Manifest, frozen=True, kw_only=True):
    workload: AppGroupWorkload = AppGroupWorkload()
    index: int = 0


class AppGroupStatus(Manifest, frozen=True, kw_only=True):
    running_workloads: int = 0
    topology_order: tuple[AppGroupOrder, ...] = ()


class AppGroup(KubernetesObject, frozen=True, kw_only=True):
    """Workloads of one application, and which of them talk to which."""

    api_version: ClassVar[str] = "appgroup.diktyo.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "AppGroup"
    plural: ClassVar[str] = "appgroups"

    GROUP_LABEL: ClassVar[str] = "appgroup.diktyo.x-k8s.io"
    WORKLOAD_LABEL: ClassVar[str] = "appgroup.diktyo.x-k8s.io.workload"

    spec: AppGroupSpec = AppGroupSpec()
    status: AppGroupStatus = AppGroupStatus()


class NetworkCost(Manifest, frozen=True, kw_only=True):
    destination: str = ""
    bandwidth_capacity: RawQuantity = "0"
    bandwidth_allocated: RawQuantity = "0"
    network_cost: int = 0


class NetworkOrigin(Manifest, frozen=True, kw_only=True):
    origin: str = ""
    cost_list: tuple[NetworkCost, ...] = ()


class NetworkTopologyInfo(Manifest, frozen=True, kw_only=True):
    topology_key: str = ""
    origin_list: tuple[NetworkOrigin, ...] = ()


class NetworkWeights(Manifest, frozen=True, kw_only=True):
    name: str = ""
    topology_list: tuple[NetworkTopologyInfo, ...] = ()


class NetworkTopologySpec(Manifest, frozen=True, kw_only=True):
    configmap_name: str = ""
    weights: tuple[NetworkWeights, ...] = ()


class NetworkTopology(KubernetesObject, frozen=True, kw_only=True):
    """What it costs to talk from one region or zone to another."""

    api_version: ClassVar[str] = "networktopology.diktyo.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "NetworkTopology"
    plural: ClassVar[str] = "networktopologies"

    spec: NetworkTopologySpec = NetworkTopologySpec()


# --- system calls -----------------------------------------------------------------------------------------------------


class SeccompSyscalls(Manifest, frozen=True, kw_only=True):
    action: str = ""
    names: tuple[str, ...] = ()


class SeccompProfileSpec(Manifest, frozen=True, kw_only=True):
    default_action: str = ""
    syscalls: tuple[SeccompSyscalls, ...] = ()


class SeccompProfile(KubernetesObject, frozen=True, kw_only=True):
    """The security profiles operator's list of system calls a container may make."""

    api_version: ClassVar[str] = "security-profiles-operator.x-k8s.io/v1beta1"
    kind: ClassVar[str] = "SeccompProfile"
    plural: ClassVar[str] = "seccompprofiles"

    spec: SeccompProfileSpec = SeccompProfileSpec()


# --- load -------------------------------------------------------------------------------------------------------------


class LoadMetric(Manifest, frozen=True, kw_only=True):
    """``value`` is a percentage of the node's capacity."""

    name: str = ""
    type: str = ""
    """``CPU`` or ``Memory``, with more that no plugin reads."""
    operator: str = ""
    """``AVG``, ``STD``, ``Latest`` or ""."""
    rollup: str = ""
    value: float = 0.0


class LoadHistory(Manifest, frozen=True, kw_only=True):
    """What a figure was made of, up to the window's end. For people to look at; no plugin reads it."""

    type: str = ""
    step: int = 0
    """Seconds between two values."""
    values: tuple[float, ...] = ()
    """Percent, oldest first."""


class NodeLoad(Manifest, frozen=True, kw_only=True):
    metrics: tuple[LoadMetric, ...] = ()
    history: tuple[LoadHistory, ...] = ()


class LoadWindow(Manifest, frozen=True, kw_only=True):
    """Of time, in seconds since 1970."""

    duration: str = ""
    start: int = 0
    end: int = 0


class LoadData(Manifest, frozen=True, kw_only=True):
    node_metrics_map: dict[str, NodeLoad] = field(name="NodeMetricsMap", default_factory=dict)


class LoadMetrics(KubernetesObject, frozen=True, kw_only=True):
    """How busy nodes are: the answer of load-watcher, which the scheduler asks beside the API server.

    It is kept as an object so that it is imported, changed and journaled as all else that decisions rest on. A cluster
    has at most one, named ``NAME``.
    """

    api_version: ClassVar[str] = "load-watcher.paypal.com/v1"
    kind: ClassVar[str] = "LoadMetrics"
    plural: ClassVar[str] = "loadmetrics"
    namespaced: ClassVar[bool] = False

    NAME: ClassVar[str] = "load-watcher"

    timestamp: int = 0
    window: LoadWindow = LoadWindow()
    source: str = ""
    data: LoadData = LoadData()


CATALOGUE_KINDS: Final[tuple[type[KubernetesObject], ...]] = (
    ElasticQuota,
    NodeResourceTopology,
    AppGroup,
    NetworkTopology,
    SeccompProfile,
    LoadMetrics,
    Reservation,
)
