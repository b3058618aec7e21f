"""What is read of a cluster: the kinds that kube-scheduler watches, and what explanations need beside them."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from framework.objects import (
    KubernetesObject,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    RuntimeClass,
    Service,
    StatefulSet,
)
from framework.objects.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from framework.objects.kinds import TYPED_KINDS
from framework.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.problems import ClusterProblem


class Resource(NamedTuple):
    version: str
    """``v1``, ``apps/v1``."""
    plural: str
    kind: str

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    @property
    def version_path(self) -> str:
        return f"/apis/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def path(self) -> str:
        """Of all of them, in all namespaces."""
        return f"{self.version_path}/{self.plural}"

    @property
    def selector(self) -> str:
        """kube-scheduler's: a pod that is over is of no interest while a cluster is watched."""
        return "status.phase!=Succeeded,status.phase!=Failed" if self.kind == "Pod" else ""


def _resource(kind: type[KubernetesObject]) -> Resource:
    return Resource(kind.api_version, kind.plural, kind.kind)


_SCHEDULER_S: Final[tuple[type[KubernetesObject], ...]] = (
    Pod,
    Node,
    Namespace,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
    ResourceClaim,
    ResourceSlice,
    DeviceClass,
)
WATCHED: Final = tuple(map(_resource, _SCHEDULER_S))
"""In the order in which they are read."""
PODS: Final = _resource(Pod)
EVENTS: Final = Resource("v1", "events", "Event")
_EXPLAIN: Final[tuple[type[KubernetesObject], ...]] = (PriorityClass, RuntimeClass, ResourceClaimTemplate)
EXPLAINING: Final = (*map(_resource, _EXPLAIN), EVENTS)
STANDARD: Final = WATCHED + EXPLAINING
EXTRA: Final = tuple(each for each in map(_resource, TYPED_KINDS) if each not in STANDARD)
"""Kinds that other plugins read. Not every cluster has them, and their groups are looked for first."""
NEEDED: Final = ("nodes", "pods")
"""Without these nothing can be said of a cluster."""


class _Groups(msgspec.Struct):
    class Group(msgspec.Struct):
        class Version(msgspec.Struct):
            groupVersion: str = ""

        versions: list[Version] = []

    groups: list[Group] = []


class _Resources(msgspec.Struct):
    class Named(msgspec.Struct):
        name: str = ""

    resources: list[Named] = []


def kinds_of(access: Access) -> tuple[Resource, ...]:
    """Those that are read of this cluster. Raises ClusterProblem."""
    said = msgspec.json.decode(access.read("/apis"), type=_Groups)
    served = {version.groupVersion for group in said.groups for version in group.versions}
    found: list[Resource] = []
    for version in dict.fromkeys(each.version for each in EXTRA):
        if version in served:
            names = _names_of(access, version)
            found += [each for each in EXTRA if each.version == version and each.plural in names]
    return (*STANDARD, *found)


def _names_of(access: Access, version: str) -> set[str]:
    try:
        said = access.read(f"/apis/{version}")
    except ClusterProblem as problem:
        if problem.code == "absent":
            return set()  # it was taken away a moment ago
        raise
    return {each.name for each in msgspec.json.decode(said, type=_Resources).resources}
