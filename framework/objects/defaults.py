"""Defaults the API server fills in, as far as decisions depend on them.

Upstream: pkg/apis/core/v1/defaults.go `SetDefaults_Pod`, `SetDefaults_PodSpec`, `SetDefaults_ResourceList`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from framework.objects.cluster import Namespace, PriorityClass, ReplicationController
from framework.objects.devices import (
    EXACT_COUNT,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from framework.objects.metadata import KubeObject, KubernetesObject, ObjectMeta, RawQuantity, ResourceList
from framework.objects.node import Node
from framework.objects.pod import Container, ContainerPort, Pod, PodSpec, ResourceRequirements
from framework.objects.quantity import NANOS_PER_MILLI, Format, Quantity, QuantityError, parse_quantity
from framework.objects.remembering import LARGEST_SPEC
from framework.objects.resources import aggregate_container_nanos, is_native_resource_name, is_pod_level_resource_name
from framework.objects.storage import CSIDriver, PersistentVolume, PersistentVolumeClaim, StorageClass

A = TypeVar("A", bound=KubeObject)

DEFAULT_NAMESPACE: Final = "default"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"
NAMESPACE_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(PodSpec)


def with_defaults(obj: A) -> A:
    """The same object when nothing is missing."""
    filled: Any = obj
    if isinstance(filled, KubernetesObject) and filled.namespaced and not filled.metadata.namespace:
        filled = replace(filled, metadata=replace(filled.metadata, namespace=DEFAULT_NAMESPACE))
    match filled:
        case Pod():
            filled = _pod(filled)
        case Node():
            filled = _node(filled)
        case Namespace() if (metadata := _with_name_label(filled.metadata)) is not filled.metadata:
            filled = replace(filled, metadata=metadata)
        case PriorityClass(preemption_policy=None):
            filled = replace(filled, preemption_policy="PreemptLowerPriority")
        case ReplicationController():
            filled = _replication_controller(filled)
        case PersistentVolumeClaim():
            filled = _claim(filled)
        case PersistentVolume(status=status) if not status.phase:
            filled = replace(filled, status=replace(status, phase="Pending"))
        case StorageClass() if not (filled.reclaim_policy and filled.volume_binding_mode):
            filled = replace(
                filled,
                reclaim_policy=filled.reclaim_policy or "Delete",
                volume_binding_mode=filled.volume_binding_mode or "Immediate",
            )
        case CSIDriver(spec=spec) if spec.attach_required is None or spec.storage_capacity is None:
            filled = replace(
                filled,
                spec=replace(
                    spec,
                    attach_required=spec.attach_required is not False,
                    storage_capacity=spec.storage_capacity is True,
                ),
            )
        case ResourceClaim() if (claimed := _device_claim(filled.spec)) is not filled.spec:
            filled = replace(filled, spec=claimed)
        case ResourceClaimTemplate(spec=template) if (claimed := _device_claim(template.spec)) is not template.spec:
            filled = replace(filled, spec=replace(template, spec=claimed))
    return filled  # type: ignore[no-any-return]


def _device_claim(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """Upstream: pkg/apis/resource/v1/defaults.go `SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`."""
    before = spec.devices.requests
    after = tuple(_device_request(request) for request in before)
    if all(new is old for new, old in zip(after, before, strict=True)):
        return spec
    return replace(spec, devices=replace(spec.devices, requests=after))


def _device_request(request: DeviceRequest) -> DeviceRequest:
    exactly = None if request.exactly is None else _asked(request.exactly)
    subs = tuple(_asked(sub) for sub in request.first_available)
    if exactly is request.exactly and all(a is b for a, b in zip(subs, request.first_available, strict=True)):
        return request
    return replace(request, exactly=exactly, first_available=subs)


R = TypeVar("R", ExactDeviceRequest, DeviceSubRequest)


def _asked(request: R) -> R:
    changed: dict[str, Any] = {}
    mode = request.allocation_mode or EXACT_COUNT
    if mode != request.allocation_mode:
        changed["allocation_mode"] = mode
    if mode == EXACT_COUNT and request.count == 0:
        changed["count"] = 1
    if any(not toleration.operator for toleration in request.tolerations):
        changed["tolerations"] = tuple(_device_toleration(each) for each in request.tolerations)
    return replace(request, **changed) if changed else request


def _device_toleration(toleration: DeviceToleration) -> DeviceToleration:
    return toleration if toleration.operator else replace(toleration, operator="Equal")


def _with_name_label(metadata: ObjectMeta) -> ObjectMeta:
    if not metadata.name or metadata.labels.get(NAMESPACE_NAME_LABEL) == metadata.name:
        return metadata
    return replace(metadata, labels={**metadata.labels, NAMESPACE_NAME_LABEL: metadata.name})


def _node(node: Node) -> Node:
    status = node.status
    capacity = _whole_millis(status.capacity)
    allocatable = capacity if status.allocatable is None else _whole_millis(status.allocatable)
    if capacity is status.capacity and allocatable is status.allocatable:
        return node
    return replace(node, status=replace(status, capacity=capacity, allocatable=allocatable))


def _replication_controller(controller: ReplicationController) -> ReplicationController:
    spec = controller.spec
    labels = spec.template.metadata.labels if spec.template else {}
    if spec.selector or not labels:
        return controller
    return replace(controller, spec=replace(spec, selector=labels))


def _claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    if not claim.status.phase:
        claim = replace(claim, status=replace(claim.status, phase="Pending"))
    if claim.spec.volume_mode is None:
        claim = replace(claim, spec=replace(claim.spec, volume_mode="Filesystem"))
    return claim


def _pod(pod: Pod) -> Pod:
    spec, node_name = pod.spec, pod.spec.node_name
    known = _complete.get(id(spec.containers))
    if known is not None and lacks_as_little(spec, known):
        return pod
    try:
        # Replicas have one spec but for the node they are on.
        encoded = _ENCODER.encode(replace(spec, node_name="") if node_name else spec)
    except OverflowError:  # a number of more than 64 bits, which msgpack does not hold
        encoded = b""
    if not encoded or len(encoded) > LARGEST_SPEC:
        alone = _spec(spec)
        return pod if alone is spec else replace(pod, spec=alone)
    filled = _known_spec(encoded)
    if filled is None:
        if len(_complete) >= _MOST_COMPLETE:
            _complete.clear()
        _complete[id(spec.containers)] = spec
        return pod
    return replace(pod, spec=replace(filled, node_name=node_name) if node_name else filled)


_MOST_COMPLETE: Final = 1 << 12
_complete: Final[dict[int, PodSpec]] = {}
"""Specs that lack nothing, by the identity of their containers: replicas that were decoded together share them."""


def lacks_as_little(spec: PodSpec, complete: PodSpec) -> bool:
    """Whether all that ``_spec`` fills in is the same as in one that lacks nothing."""
    return (
        spec.containers is complete.containers
        and spec.init_containers is complete.init_containers
        and spec.overhead is complete.overhead
        and spec.resources is complete.resources
        and spec.host_network == complete.host_network
        and bool(spec.scheduler_name and spec.restart_policy)
        and spec.termination_grace_period_seconds is not None
    )


@lru_cache(maxsize=1 << 12)
def _known_spec(encoded: bytes) -> PodSpec | None:
    """Of a spec without a node name; None when nothing is missing."""
    spec = _DECODER.decode(encoded)
    filled = _spec(spec)
    return None if filled is spec else filled


def _spec(spec: PodSpec) -> PodSpec:
    changed: dict[str, Any] = {}
    for field in ("containers", "init_containers"):
        before: tuple[Container, ...] = getattr(spec, field)
        after = tuple(_container(container, spec.host_network) for container in before)
        if any(new is not old for new, old in zip(after, before, strict=True)):
            changed[field] = after
    if spec.overhead is not None and (overhead := _whole_millis(spec.overhead)) is not spec.overhead:
        changed["overhead"] = overhead
    if not spec.scheduler_name:
        changed["scheduler_name"] = DEFAULT_SCHEDULER_NAME
    if not spec.restart_policy:
        changed["restart_policy"] = "Always"
    if spec.termination_grace_period_seconds is None:
        changed["termination_grace_period_seconds"] = 30
    if changed:
        spec = replace(spec, **changed)
    if spec.resources is not None and (spec.resources.limits or spec.resources.requests):
        resources = _pod_resources(Pod(spec=spec), spec.resources)
        if resources != spec.resources:
            spec = replace(spec, resources=resources)
    return spec


def _container(container: Container, host_network: bool) -> Container:
    changed: dict[str, Any] = {}
    resources = _container_resources(container.resources)
    if resources is not container.resources:
        changed["resources"] = resources
    if any(not port.protocol or (host_network and not port.host_port) for port in container.ports):
        changed["ports"] = tuple(_port(port, host_network) for port in container.ports)
    return replace(container, **changed) if changed else container


def _port(port: ContainerPort, host_network: bool) -> ContainerPort:
    host_port = port.container_port if host_network and not port.host_port else port.host_port
    return replace(port, protocol=port.protocol or "TCP", host_port=host_port)


def _container_resources(resources: ResourceRequirements) -> ResourceRequirements:
    """Requests default to limits; resources are rounded up to thousandths."""
    limits, requests = _whole_millis(resources.limits), _whole_millis(resources.requests)
    if limits is not None:
        missing = {name: limit for name, limit in limits.items() if name not in (requests or ())}
        if missing or requests is None:
            requests = {**(requests or {}), **missing}
    if limits is resources.limits and requests is resources.requests:
        return resources
    return replace(resources, limits=limits, requests=requests)


def _pod_resources(pod: Pod, resources: ResourceRequirements) -> ResourceRequirements:
    """Pod-level requests and limits that are only partly given (KEP-2837's rules)."""
    limits = dict(_whole_millis(resources.limits) or {})
    requests = dict(_whole_millis(resources.requests) or {})
    try:
        wanted = aggregate_container_nanos(pod)
        allowed = aggregate_container_nanos(pod, limits=True)
    except QuantityError:
        return resources  # validation names the quantity
    for name, nanos in allowed.items():
        if name.startswith("hugepages-") and name not in requests and name not in limits:
            limits[name] = str(Quantity(nanos, Format.BINARY_SI))
    if limits:
        for name, nanos in wanted.items():
            overcommit = is_native_resource_name(name) and not name.startswith("hugepages-")
            if name not in requests and overcommit and is_pod_level_resource_name(name):
                requests[name] = str(Quantity(nanos, Format.DECIMAL_SI if name == "cpu" else Format.BINARY_SI))
        for name, limit in limits.items():
            if name not in requests and is_pod_level_resource_name(name):
                requests[name] = limit
    return replace(resources, limits=limits or resources.limits, requests=requests or resources.requests)


def _whole_millis(resources: ResourceList | None) -> ResourceList | None:
    """Rounded up to thousandths, as the API server stores them; the same dictionary when they are."""
    if not resources or all(_rounded(raw) is None for raw in resources.values()):
        return resources
    return {name: raw if (rounded := _rounded(raw)) is None else rounded for name, raw in resources.items()}


@lru_cache(maxsize=1 << 14, typed=True)
def _rounded(raw: RawQuantity) -> str | None:
    """None: nothing to round, or no quantity, which validation will say."""
    try:
        quantity = parse_quantity(raw)
    except QuantityError:
        return None
    if quantity.nanos % NANOS_PER_MILLI == 0:
        return None
    return str(Quantity(-(-quantity.nanos // NANOS_PER_MILLI) * NANOS_PER_MILLI, quantity.format))
