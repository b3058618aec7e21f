"""Pod: the part of the v1 API that scheduling, preemption and the views of a run read."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from framework.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from framework.objects.further_volume_sources import (
    CephFSVolumeSource,
    DownwardAPIVolumeSource,
    FCVolumeSource,
    FlexVolumeSource,
    FlockerVolumeSource,
    GitRepoVolumeSource,
    GlusterfsVolumeSource,
    LocalObjectReference,
    PhotonPersistentDiskVolumeSource,
    ProjectedVolumeSource,
    QuobyteVolumeSource,
    ScaleIOVolumeSource,
    StorageOSVolumeSource,
)
from framework.objects.metadata import KubernetesObject, Manifest, ObjectMeta, ResourceList
from framework.objects.storage import PersistentVolumeClaimSpec
from framework.objects.volume_sources import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    EmptyDirVolumeSource,
    GCEPersistentDiskVolumeSource,
    HostPathVolumeSource,
    ISCSIVolumeSource,
    NFSVolumeSource,
    PortworxVolumeSource,
    RBDVolumeSource,
    VsphereVirtualDiskVolumeSource,
)


class ContainerPort(Manifest, frozen=True, kw_only=True):
    name: str = ""
    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(name="hostIP", default="")
    protocol: str = ""


class ResourceClaimReference(Manifest, frozen=True, kw_only=True):
    """An entry of a container's ``resources.claims``."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Manifest, frozen=True, kw_only=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None
    claims: tuple[ResourceClaimReference, ...] = ()


class ContainerRestartRuleOnExitCodes(Manifest, frozen=True, kw_only=True):
    operator: str = ""
    values: tuple[int, ...] = ()


class ContainerRestartRule(Manifest, frozen=True, kw_only=True):
    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class ContainerSeccompProfile(Manifest, frozen=True, kw_only=True):
    type: str = ""
    localhost_profile: str | None = None


class SecurityContext(Manifest, frozen=True, kw_only=True):
    """Of a container: what SySched reads."""

    seccomp_profile: ContainerSeccompProfile | None = None


class PodSecurityContext(Manifest, frozen=True, kw_only=True):
    """Of a pod: what SySched reads."""

    seccomp_profile: ContainerSeccompProfile | None = None


class Container(Manifest, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    image_pull_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None


class PersistentVolumeClaimVolumeSource(Manifest, frozen=True, kw_only=True):
    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeClaimTemplate(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class CSIVolumeSource(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: dict[str, str] = field(default_factory=dict)
    node_publish_secret_ref: LocalObjectReference | None = None


class ImageVolumeSource(Manifest, frozen=True, kw_only=True):
    reference: str = ""
    pull_policy: str = ""


class Volume(Manifest, frozen=True, kw_only=True):
    """configMap and secret, which nothing here reads, are not typed."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    # No plugin reads what follows: batching tells pods apart by them, and extenders are sent them.
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(name="downwardAPI", default=None)
    fc: FCVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(name="scaleIO", default=None)
    storageos: StorageOSVolumeSource | None = None


class PodSchedulingGate(Manifest, frozen=True, kw_only=True):
    name: str = ""


class PodResourceClaim(Manifest, frozen=True, kw_only=True):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(Manifest, frozen=True, kw_only=True):
    """The PodGroup of scheduling.k8s.io that the pod belongs to."""

    pod_group_name: str | None = None


class PodSpec(Manifest, frozen=True, kw_only=True):
    node_name: str = ""
    scheduler_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    runtime_class_name: str | None = None
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    service_account_name: str = ""
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None


class PodCondition(Manifest, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_probe_time: str | None = None
    observed_generation: int = 0


class ContainerStatusResources(Manifest, frozen=True, kw_only=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerStatus(Manifest, frozen=True, kw_only=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    resources: ContainerStatusResources | None = None
    allocated_resources: ResourceList | None = None


class PodResourceClaimStatus(Manifest, frozen=True, kw_only=True):
    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Manifest, frozen=True, kw_only=True):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Manifest, frozen=True, kw_only=True):
    """The claim the scheduler made for extended resources that device classes back."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class PodStatus(Manifest, frozen=True, kw_only=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    host_ip: str = field(name="hostIP", default="")
    qos_class: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ContainerStatusResources | None = None
    allocated_resources: ResourceList | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Pod"
    plural: ClassVar[str] = "pods"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
