"""Node: taints, allocatable, images, conditions and declared features."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from framework.objects.metadata import KubernetesObject, Manifest, ResourceList


class Taint(Manifest, frozen=True, kw_only=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Manifest, frozen=True, kw_only=True):
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    provider_id: str = field(name="providerID", default="")


class ContainerImage(Manifest, frozen=True, kw_only=True):
    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeCondition(Manifest, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_heartbeat_time: str | None = None
    last_transition_time: str | None = None


class NodeAddress(Manifest, frozen=True, kw_only=True):
    type: str = ""
    address: str = ""


class NodeSystemInfo(Manifest, frozen=True, kw_only=True):
    architecture: str = ""
    operating_system: str = ""
    os_image: str = field(name="osImage", default="")
    kubelet_version: str = ""
    kernel_version: str = ""
    container_runtime_version: str = ""


class NodeStatus(Manifest, frozen=True, kw_only=True):
    capacity: ResourceList | None = None
    # Absent means "equal to capacity" to the API server; admission fills it in.
    allocatable: ResourceList | None = None
    images: tuple[ContainerImage, ...] = ()
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()
    declared_features: tuple[str, ...] = ()


class Node(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Node"
    plural: ClassVar[str] = "nodes"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
