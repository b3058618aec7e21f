"""Volumes and claims, storage classes and the CSI objects."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from framework.objects.affinity import NodeSelector
from framework.objects.metadata import KubernetesObject, LabelSelector, Manifest, RawQuantity, ResourceList
from framework.objects.volume_sources import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFilePersistentVolumeSource,
    CinderVolumeSource,
    GCEPersistentDiskVolumeSource,
    HostPathVolumeSource,
    PortworxVolumeSource,
    VsphereVirtualDiskVolumeSource,
)


class VolumeResourceRequirements(Manifest, frozen=True, kw_only=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None


class TypedLocalObjectReference(Manifest, frozen=True, kw_only=True):
    """What a claim's volume begins with: a snapshot, or another claim."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class TypedObjectReference(Manifest, frozen=True, kw_only=True):
    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class PersistentVolumeClaimSpec(Manifest, frozen=True, kw_only=True):
    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    # nil asks for the default class, "" for no class at all.
    storage_class_name: str | None = None
    volume_mode: str | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Manifest, frozen=True, kw_only=True):
    phase: str = ""
    capacity: ResourceList | None = None


class PersistentVolumeClaim(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "PersistentVolumeClaim"
    plural: ClassVar[str] = "persistentvolumeclaims"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class ObjectReference(Manifest, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class VolumeNodeAffinity(Manifest, frozen=True, kw_only=True):
    required: NodeSelector | None = None


class CSIPersistentVolumeSource(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class PersistentVolumeSpec(Manifest, frozen=True, kw_only=True):
    """Of the volume sources CSI and what migrates to it; no decision reads the others (local, nfs, …). hostPath is
    what a remedy makes a volume of where nobody provisions any."""

    capacity: ResourceList | None = None
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    persistent_volume_reclaim_policy: str = ""
    host_path: HostPathVolumeSource | None = None


class PersistentVolumeStatus(Manifest, frozen=True, kw_only=True):
    phase: str = ""


class PersistentVolume(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "PersistentVolume"
    plural: ClassVar[str] = "persistentvolumes"
    namespaced: ClassVar[bool] = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(Manifest, frozen=True, kw_only=True):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Manifest, frozen=True, kw_only=True):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "StorageClass"
    plural: ClassVar[str] = "storageclasses"
    namespaced: ClassVar[bool] = False

    provisioner: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Manifest, frozen=True, kw_only=True):
    count: int | None = None


class CSINodeDriver(Manifest, frozen=True, kw_only=True):
    name: str = ""
    node_id: str = field(name="nodeID", default="")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Manifest, frozen=True, kw_only=True):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSINode"
    plural: ClassVar[str] = "csinodes"
    namespaced: ClassVar[bool] = False

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Manifest, frozen=True, kw_only=True):
    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSIDriver"
    plural: ClassVar[str] = "csidrivers"
    namespaced: ClassVar[bool] = False

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSIStorageCapacity"
    plural: ClassVar[str] = "csistoragecapacities"

    storage_class_name: str = ""
    capacity: RawQuantity | None = None
    maximum_volume_size: RawQuantity | None = None
    node_topology: LabelSelector | None = None


class VolumeAttachmentSource(Manifest, frozen=True, kw_only=True):
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Manifest, frozen=True, kw_only=True):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "VolumeAttachment"
    plural: ClassVar[str] = "volumeattachments"
    namespaced: ClassVar[bool] = False

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
