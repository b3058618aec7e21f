"""Whether a pod can be aligned to one NUMA zone (docs/semantics/catalogue.md#aligning)."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import NamedTuple

from framework.interface import Status
from framework.objects import Pod
from framework.objects.qos import BEST_EFFORT, GUARANTEED, pod_qos
from framework.objects.quantity import parse_quantity
from framework.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Nanos
from framework.objects.simple_requests import effective_request, listed
from framework.plugins.noderesourcetopology.zones import (
    POD_SCOPE,
    SINGLE_NUMA_NODE,
    TopologyManager,
    Zone,
    asks_for_devices,
    is_bound_to_zones,
    may_be_without_zone,
)

ALWAYS_OFFERED = (CPU, MEMORY, EPHEMERAL_STORAGE, "pods")


class Asking(NamedTuple):
    """What a pod asks for, in billionths of a unit."""

    qos: str
    needs_zones: bool
    """Neither BestEffort nor without devices."""
    whole: Nanos
    init: tuple[tuple[bool, Nanos], ...]
    """Of each: whether it is a sidecar, and its requests."""
    containers: tuple[Nanos, ...]

    @property
    def requests(self) -> tuple[Nanos, ...]:
        """Of all containers."""
        return (*(request for _, request in self.init), *self.containers)

    @property
    def key(self) -> Hashable:
        """Equal for pods that ask for the same, in the same order."""
        init = tuple([(is_sidecar, *request.items()) for is_sidecar, request in self.init])
        containers = tuple([tuple(request.items()) for request in self.containers])
        return self.qos, self.needs_zones, tuple(self.whole.items()), init, containers

    @property
    def devices(self) -> tuple[str, ...]:
        """What a node may not offer at all."""
        named = [name for request in (self.whole, *self.requests) for name, amount in request.items() if amount]
        return tuple(dict.fromkeys([name for name in named if name not in ALWAYS_OFFERED]))

    @classmethod
    def of(cls, pod: Pod) -> Asking:
        qos = pod_qos(pod)
        return cls(
            qos,
            qos != BEST_EFFORT or asks_for_devices(pod),
            effective_request(pod),
            tuple((each.restart_policy == "Always", nanos_of(listed(each))) for each in pod.spec.init_containers),
            tuple(nanos_of(listed(each)) for each in pod.spec.containers),
        )


def not_aligned(asking: Asking, offered: Container[str], manager: TopologyManager, zones: list[Zone]) -> Status | None:
    """``offered``: the resources that the node has at all."""
    if manager.policy != SINGLE_NUMA_NODE:
        return None
    qos = asking.qos
    if manager.scope == POD_SCOPE:
        fits = zone_for(asking.whole, qos, offered, zones) is not None
        return None if fits else Status.unschedulable("cannot align pod")
    for is_sidecar, request in asking.init:
        # They run one after the other, before the others: nothing adds up.
        if zone_for(request, qos, offered, zones) is None:
            return Status.unschedulable(f"cannot align {'sidecar' if is_sidecar else 'init'} container")
    if len(asking.containers) == 1 and 0 not in asking.containers[0].values():
        # What the zone that was found for it has left interests nobody; of what is asked for it has enough.
        fits = zone_for(asking.containers[0], qos, offered, zones) is not None
        return None if fits else Status.unschedulable("cannot align container")
    left = [zone.copy() for zone in zones]
    for request in asking.containers:
        chosen = zone_for(request, qos, offered, left)
        if chosen is None:
            return Status.unschedulable("cannot align container")
        if not _take(request, qos, left, chosen):
            return Status.as_error("inconsistent resource accounting")
    return None


def nanos_of(resources: dict[str, str | int | float]) -> Nanos:
    return {name: parse_quantity(raw).nanos for name, raw in resources.items()}


def zone_for(request: Nanos, qos: str, offered: Container[str], zones: Sequence[Zone]) -> int | None:
    """The lowest id of a zone that has all of it; None when none has. Of a request that no zone restricts it is 0."""
    suitable: set[int] | None = None
    for resource, amount in request.items():
        if amount == 0:
            continue
        if resource not in ALWAYS_OFFERED and resource not in offered:
            return None
        listing = [zone for zone in zones if resource in zone.available]
        if not listing and may_be_without_zone(resource):
            continue
        if exempt(qos, resource):
            here = {zone.id for zone in listing}
        else:
            here = {zone.id for zone in listing if zone.available[resource] >= amount}
        suitable = here if suitable is None else suitable & here
        if not suitable:
            return None
    return 0 if suitable is None else min(suitable)


def exempt(qos: str, resource: str) -> bool:
    """Whether it is enough for a zone to list it, however much it has."""
    return qos != GUARANTEED and is_bound_to_zones(resource)


def suits(qos: str, resource: str, amount: int, available: int) -> bool:
    return exempt(qos, resource) or available >= amount


def _take(request: Nanos, qos: str, zones: Sequence[Zone], chosen: int) -> bool:
    """False where more is taken than there is."""
    for zone in zones:
        if zone.id != chosen:
            continue
        for resource, amount in request.items():
            if exempt(qos, resource) or resource not in zone.available:
                continue
            zone.available[resource] -= amount
            if zone.available[resource] < 0:
                return False
    return True
