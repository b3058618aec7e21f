"""The kinds we type, in one table; every other kind is Unstructured."""

from __future__ import annotations

from typing import Final

from framework.objects.catalogue import CATALOGUE_KINDS
from framework.objects.cluster import (
    Namespace,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    RuntimeClass,
    Service,
    StatefulSet,
)
from framework.objects.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from framework.objects.metadata import KubeObject, KubernetesObject
from framework.objects.node import Node
from framework.objects.pod import Pod
from framework.objects.scheduling import SchedulingPodGroup, Workload
from framework.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

TYPED_KINDS: Final[tuple[type[KubernetesObject], ...]] = (
    Pod,
    Node,
    Namespace,
    Service,
    ReplicationController,
    PersistentVolume,
    PersistentVolumeClaim,
    ReplicaSet,
    StatefulSet,
    PodDisruptionBudget,
    PriorityClass,
    PodGroup,
    RuntimeClass,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
    DeviceClass,
    ResourceSlice,
    ResourceClaim,
    ResourceClaimTemplate,
    SchedulingPodGroup,
    Workload,
    *CATALOGUE_KINDS,
)

_BY_TYPE_META: Final = {(kind.api_version, kind.kind): kind for kind in TYPED_KINDS}


def typed_kind(api_version: str, kind: str) -> type[KubernetesObject] | None:
    return _BY_TYPE_META.get((api_version, kind))


def group_kind(obj: KubeObject) -> str:
    """``Pod``, ``PriorityClass.scheduling.k8s.io``: how the API server names a kind in errors."""
    group = api_group(obj.api_version)
    return f"{obj.kind}.{group}" if group else obj.kind


def group_resource(obj: KubeObject) -> str:
    """``pods``, ``priorityclasses.scheduling.k8s.io``."""
    plural = plural_of(obj)
    group = api_group(obj.api_version)
    return f"{plural}.{group}" if group else plural


def api_group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def plural_of(obj: KubeObject) -> str:
    """Of a kind we do not type, the plural is formed as Kubernetes forms it (upstream UnsafeGuessKindToResource)."""
    if isinstance(obj, KubernetesObject):
        return obj.plural
    lower = obj.kind.lower()
    if lower.endswith("s"):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"
