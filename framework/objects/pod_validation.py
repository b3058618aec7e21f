"""What the API server checks of a pod, as far as decisions rely on it, with its texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from framework.objects.affinity_validation import affinity_errors, label_errors, spread_errors, toleration_errors
from framework.objects.field_errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from framework.objects.metadata import ResourceList
from framework.objects.names import dns1123_label_errors, dns1123_subdomain_errors, qualified_name_errors
from framework.objects.pod import Container, ContainerPort, Pod, PodSpec, PodStatus, ResourceRequirements
from framework.objects.quantity import NANOS, QuantityError, parse_quantity
from framework.objects.remembering import LARGEST_SPEC, remembered
from framework.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    is_extended_resource_name,
    is_native_resource_name,
    is_pod_level_resource_name,
)
from framework.objects.timestamps import TimestampError, parse_timestamp

NEGATIVE: Final = "must be greater than or equal to 0"
MAX_INT32: Final = (1 << 31) - 1
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(PodSpec)


def pod_errors(pod: Pod, *, comparisons: bool = False) -> Iterable[FieldError]:
    """``comparisons``: the API server's gate TaintTolerationComparisonOperators."""
    node_name = pod.spec.node_name
    spec = replace(pod.spec, node_name="") if node_name else pod.spec
    try:
        # Replicas have one spec but for the node they are on.
        encoded = _ENCODER.encode(spec)
    except OverflowError:  # a number of more than 64 bits, which msgpack does not hold
        encoded = b""
    if encoded and len(encoded) <= LARGEST_SPEC:
        yield from _known_spec_errors(encoded, comparisons)
    else:
        yield from _spec_errors(spec, comparisons)
    yield from own_errors(pod)


def own_errors(pod: Pod) -> list[FieldError]:
    """About what replicas do not share: node and status."""
    name, status = pod.spec.node_name, pod.status
    errors: list[FieldError] = []
    if name and (wrong := _node_name_errors(name)):
        errors += [invalid("spec.nodeName", name, text) for text in wrong]
    if status.start_time is not None:
        errors += timestamp_errors(status.start_time, "status.startTime")
    if status.container_statuses or status.init_container_statuses or status.resources or status.allocated_resources:
        errors += _amounts_in_use_errors(status)
    return errors


@remembered(1 << 14)
def _node_name_errors(name: str) -> tuple[str, ...]:
    """Many pods are on one node."""
    return dns1123_subdomain_errors(name)


@lru_cache(maxsize=1 << 12)
def _known_spec_errors(encoded: bytes, comparisons: bool) -> tuple[FieldError, ...]:
    """Of a spec without a node name."""
    return tuple(_spec_errors(_DECODER.decode(encoded), comparisons))


def _spec_errors(spec: PodSpec, comparisons: bool) -> Iterable[FieldError]:
    yield from _container_list_errors(spec)
    if spec.resources is not None:
        yield from _requirement_errors(spec.resources, "spec.resources", pod_level=True)
    if spec.restart_policy and spec.restart_policy not in _RESTART_POLICIES:
        yield not_supported("spec.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    if spec.node_selector:
        yield from label_errors(spec.node_selector, "spec.nodeSelector")
    if spec.affinity is not None:
        yield from affinity_errors(spec.affinity, "spec.affinity")
    if spec.scheduling_gates:
        yield from _gate_errors(spec)
    if spec.topology_spread_constraints:
        yield from spread_errors(spec.topology_spread_constraints, "spec.topologySpreadConstraints")
    if spec.tolerations:
        yield from toleration_errors(spec.tolerations, "spec.tolerations", comparisons=comparisons)
    if spec.priority_class_name:
        for text in dns1123_subdomain_errors(spec.priority_class_name):
            yield invalid("spec.priorityClassName", spec.priority_class_name, text)
    if spec.priority is not None and not -MAX_INT32 - 1 <= spec.priority <= MAX_INT32:
        yield invalid("spec.priority", spec.priority, "must fit in 32 bits")
    if spec.preemption_policy is not None and spec.preemption_policy not in PREEMPTION_POLICIES:
        yield not_supported("spec.preemptionPolicy", spec.preemption_policy, PREEMPTION_POLICIES)
    if spec.overhead is not None:
        yield from amount_errors(spec.overhead, "spec.overhead")


def _container_list_errors(spec: PodSpec) -> Iterable[FieldError]:
    if not spec.containers:
        yield required("spec.containers")
    names: set[str] = set()
    host_ports: set[str] = set()
    for i, container in enumerate(spec.containers):
        at = f"spec.containers[{i}]"
        yield from _container_errors(container, at)
        if container.name and container.name in names:
            yield duplicate(f"{at}.name", container.name)
        names.add(container.name)
        if container.ports:
            yield from _port_errors(container.ports, at, host_ports, spec.host_network)
    for i, container in enumerate(spec.init_containers):
        at = f"spec.initContainers[{i}]"
        yield from _container_errors(container, at)
        if container.name and container.name in names:
            yield duplicate(f"{at}.name", container.name)
        names.add(container.name)
        if container.ports:
            yield from _port_errors(container.ports, at, set(), False)


def _container_errors(container: Container, at: str) -> Iterable[FieldError]:
    """The image is not asked for: no decision fails for want of it, and generated clusters leave it out."""
    if not container.name:
        yield required(f"{at}.name")
    else:
        for text in dns1123_label_errors(container.name):
            yield invalid(f"{at}.name", container.name, text)
    if container.resources.requests or container.resources.limits:
        yield from _requirement_errors(container.resources, f"{at}.resources")
    if container.restart_policy is not None and container.restart_policy not in _RESTART_POLICIES:
        yield not_supported(f"{at}.restartPolicy", container.restart_policy, _RESTART_POLICIES)


def _port_errors(
    ports: tuple[ContainerPort, ...], container: str, host_ports: set[str], host_network: bool
) -> Iterable[FieldError]:
    for i, port in enumerate(ports):
        at = f"{container}.ports[{i}]"
        if port.container_port == 0:
            yield required(f"{at}.containerPort")
        elif not 1 <= port.container_port <= 65535:
            yield invalid(f"{at}.containerPort", port.container_port, "must be between 1 and 65535, inclusive")
        if port.protocol and port.protocol not in _PROTOCOLS:
            yield not_supported(f"{at}.protocol", port.protocol, _PROTOCOLS)
        if port.host_port == 0:
            continue
        if not 1 <= port.host_port <= 65535:
            yield invalid(f"{at}.hostPort", port.host_port, "must be between 1 and 65535, inclusive")
        if host_network and port.host_port != port.container_port:
            yield invalid(f"{at}.hostPort", port.host_port, "must match `containerPort` when `hostNetwork` is true")
        taken = f"{port.protocol}/{port.host_ip}/{port.host_port}"
        if taken in host_ports:
            yield duplicate(f"{at}.hostPort", taken)
        host_ports.add(taken)


def _requirement_errors(resources: ResourceRequirements, path: str, *, pod_level: bool = False) -> Iterable[FieldError]:
    limits = resources.limits or {}
    for kind, amounts in (("limits", limits), ("requests", resources.requests or {})):
        for name in amounts:
            yield from _resource_name_errors(name, f"{path}.{kind}[{name}]", pod_level)
        yield from amount_errors(amounts, f"{path}.{kind}")
    for name, raw in (resources.requests or {}).items():
        try:
            request = parse_quantity(raw)
            limit = parse_quantity(limits[name]) if name in limits else None
        except QuantityError:
            continue  # said above
        overcommit = is_native_resource_name(name) and not name.startswith("hugepages-")
        if limit is None:
            if not overcommit:
                yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif request.nanos != limit.nanos and not overcommit:
            yield invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")
        elif request.nanos > limit.nanos:
            yield invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")


def _resource_name_errors(name: str, path: str, pod_level: bool) -> Iterable[FieldError]:
    if found := qualified_name_errors(name):
        yield from (invalid(path, name, text) for text in found)
    elif pod_level:
        if not is_pod_level_resource_name(name):
            yield not_supported(path, name, (CPU, "hugepages-", MEMORY))
    elif "/" not in name:
        if name not in (CPU, MEMORY, EPHEMERAL_STORAGE) and not name.startswith("hugepages-"):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not is_native_resource_name(name) and not is_extended_resource_name(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def amount_errors(amounts: ResourceList, path: str, *, dotted: bool = False) -> Iterable[FieldError]:
    """Quantities that parse, are not negative, and are whole where only whole ones make sense.

    ``dotted``: upstream writes ``status.capacity.cpu`` for nodes, ``resources.requests[cpu]`` for containers.
    """
    for name, raw in amounts.items():
        at = f"{path}.{name}" if dotted else f"{path}[{name}]"
        try:
            quantity = parse_quantity(raw)
        except QuantityError as error:
            yield invalid(at, raw, str(error))
            continue
        if quantity.nanos < 0:
            yield invalid(at, str(quantity), NEGATIVE)
        if quantity.nanos % NANOS and (name == PODS or is_extended_resource_name(name)):
            yield invalid(at, str(quantity), "must be an integer")


def _gate_errors(spec: PodSpec) -> Iterable[FieldError]:
    seen: set[str] = set()
    for i, gate in enumerate(spec.scheduling_gates):
        at = f"spec.schedulingGates[{i}]"
        for text in qualified_name_errors(gate.name):
            yield invalid(at, gate.name, text)
        if gate.name in seen:
            yield duplicate(at, gate.name)
        seen.add(gate.name)


def _amounts_in_use_errors(status: PodStatus) -> Iterable[FieldError]:
    for name, statuses in (
        ("containerStatuses", status.container_statuses),
        ("initContainerStatuses", status.init_container_statuses),
    ):
        for i, container in enumerate(statuses):
            at = f"status.{name}[{i}]"
            if container.resources is not None:
                yield from amount_errors(container.resources.requests or {}, f"{at}.resources.requests")
            if container.allocated_resources is not None:
                yield from amount_errors(container.allocated_resources, f"{at}.allocatedResources")
    if status.resources is not None:
        yield from amount_errors(status.resources.requests or {}, "status.resources.requests")
    if status.allocated_resources is not None:
        yield from amount_errors(status.allocated_resources, "status.allocatedResources")


def timestamp_errors(text: str, path: str) -> Sequence[FieldError]:
    try:
        parse_timestamp(text)
    except TimestampError as error:
        return (invalid(path, text, str(error)),)
    return ()


@lru_cache(maxsize=1 << 14)
def namespace_errors(namespace: str, namespaced: bool) -> tuple[FieldError, ...]:
    if not namespaced:
        return (forbidden("metadata.namespace", "not allowed on this type"),) if namespace else ()
    if not namespace:
        return (required("metadata.namespace"),)
    return tuple(invalid("metadata.namespace", namespace, text) for text in dns1123_label_errors(namespace))
