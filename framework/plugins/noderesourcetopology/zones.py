"""A node's NUMA zones and its topology manager, read from its NodeResourceTopology.

Rules: docs/semantics/catalogue.md#zones. Amounts are exact, in billionths of a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from framework.objects import Pod
from framework.objects.catalogue import NodeResourceTopology, TopologyAttribute
from framework.objects.go_numbers import parse_int
from framework.objects.quantity import NANOS, parse_quantity
from framework.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Nanos, is_native_resource_name
from framework.objects.simple_requests import listed, nanos_value

POD_SCOPE: Final = "pod"
CONTAINER_SCOPE: Final = "container"
SINGLE_NUMA_NODE: Final = "single-numa-node"
POLICIES: Final = ("none", "best-effort", "restricted", SINGLE_NUMA_NODE)
DEFAULT_MOST_ZONES: Final = 8
MOST_ZONES: Final = 1024
LARGEST_ID: Final = 64
ZONE_TYPE: Final = "Node"
_NAME: Final = re.compile(r"node-(\d{1,9})", re.ASCII)
_OLD_POLICIES: Final = {
    f"{old}{scope}Level": (policy, scope.lower())
    for old, policy in (
        ("SingleNUMANode", SINGLE_NUMA_NODE),
        ("BestEffort", "best-effort"),
        ("Restricted", "restricted"),
    )
    for scope in ("Pod", "Container")
}


@lru_cache(256)
def zone_id(name: str) -> int | None:
    found = _NAME.fullmatch(name)
    return int(found[1]) if found and int(found[1]) <= LARGEST_ID else None


@dataclass(frozen=True, slots=True)
class TopologyManager:
    """Of the node's kubelet."""

    scope: str = CONTAINER_SCOPE
    policy: str = "none"
    most_zones: int = DEFAULT_MOST_ZONES

    @classmethod
    def of(cls, topology: NodeResourceTopology) -> TopologyManager:
        scope, policy, most = CONTAINER_SCOPE, "none", DEFAULT_MOST_ZONES
        if topology.topology_policies:
            policy, scope = _OLD_POLICIES.get(topology.topology_policies[0], (policy, scope))
        for attribute in topology.attributes:
            name, value = attribute.name, attribute.value
            if name == "topologyManagerScope" and value in (POD_SCOPE, CONTAINER_SCOPE):
                scope = value
            elif name == "topologyManagerPolicy" and value in POLICIES:
                policy = value
            elif name == "topologyManagerMaxNUMANodes" and (number := parse_int(value, 64)) is not None and number > 1:
                most = min(number, MOST_ZONES)
        return cls(scope, policy, most)


@dataclass(slots=True)
class Zone:
    id: int
    available: Nanos
    costs: Mapping[int, int] = field(default_factory=dict)
    """Zone id → distance."""

    def copy(self) -> Zone:
        """With what is available for its own."""
        return Zone(self.id, self.available.copy(), self.costs)


def zones_of(topology: NodeResourceTopology, assumed: Iterable[Nanos] = ()) -> list[Zone]:
    """What is free in each zone. ``assumed``: requests of pods whose zone is not known yet, taken off all zones."""
    zones = []
    assumed = tuple(assumed)
    for zone in topology.zones:
        number = zone_id(zone.name)
        if zone.type != ZONE_TYPE or number is None:
            continue
        available = {each.name: parse_quantity(each.available).nanos for each in zone.resources}
        for request in assumed:
            for name, amount in request.items():
                if name in available:
                    available[name] = max(available[name] - amount, 0)
        costs = {other: cost.value for cost in zone.costs if (other := zone_id(cost.name)) is not None}
        zones.append(Zone(number, available, costs))
    return zones


def resource_names(topology: NodeResourceTopology) -> frozenset[str]:
    return frozenset(resource.name for zone in topology.zones for resource in zone.resources)


def attribute(attributes: Iterable[TopologyAttribute], name: str) -> str | None:
    return next((each.value for each in attributes if each.name == name), None)


def is_bound_to_zones(resource: str) -> bool:
    """What only a pod of the class Guaranteed gets from one zone; devices may be bound to one, or not."""
    return resource in (CPU, MEMORY) or resource.startswith("hugepages-")


def may_be_without_zone(resource: str) -> bool:
    return resource in (EPHEMERAL_STORAGE, "storage") or not is_native_resource_name(resource)


def asks_for_devices(pod: Pod) -> bool:
    return any(
        not is_native_resource_name(name)
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for name in listed(container)
    )


def is_exclusive(guaranteed: bool, resource: str, amount: int, of_topology: frozenset[str]) -> bool:
    """Whether a container has this to itself: devices, and for Guaranteed pods whole cpus and memory."""
    if not is_native_resource_name(resource):
        return resource in of_topology
    if not guaranteed:
        return False
    if resource == CPU:
        return amount > 0 and amount % NANOS == 0
    return (resource == MEMORY or resource.startswith("hugepages-")) and nanos_value(amount) > 0
