"""What victims of a preemption give back to their zones (docs/semantics/catalogue.md#numa-placement)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.objects import Pod
from framework.objects.catalogue import NodeResourceTopology
from framework.objects.qos import GUARANTEED, pod_qos
from framework.objects.quantity import parse_quantity
from framework.objects.resources import Nanos
from framework.objects.simple_requests import listed
from framework.plugins.noderesourcetopology.fingerprint import Pinned
from framework.plugins.noderesourcetopology.fits import nanos_of
from framework.plugins.noderesourcetopology.zones import (
    Zone,
    asks_for_devices,
    is_exclusive,
    resource_names,
    zone_id,
)


class NotPossible(Exception):
    """The node cannot be judged; the text is upstream's."""


def after_eviction(
    topology: NodeResourceTopology, zones: Sequence[Zone], victims: Sequence[Pod], placement: dict[Pinned, int]
) -> None:
    """Adds it to ``zones``. Raises NotPossible."""
    given_back = _given_back(victims, placement, resource_names(topology))
    if not given_back:
        raise NotPossible("no resources to add, cannot process eviction simulation")
    allocatable = {
        (zone_id(zone.name), resource.name): parse_quantity(resource.allocatable).nanos
        for zone in topology.zones
        for resource in zone.resources
    }
    for zone in zones:
        for name, amount in given_back.get(zone.id, {}).items():
            if name not in zone.available:
                continue
            zone.available[name] += amount
            if zone.available[name] > allocatable[zone.id, name]:
                raise NotPossible("resource release request exceeds NUMA allocatable")


def _given_back(victims: Sequence[Pod], placement: dict[Pinned, int], of_topology: frozenset[str]) -> dict[int, Nanos]:
    """Zone → what their app containers had of it to themselves."""
    found: dict[int, Nanos] = {}
    for victim in victims:
        guaranteed = pod_qos(victim) == GUARANTEED
        if not guaranteed and not asks_for_devices(victim):
            continue
        for container in victim.spec.containers:
            pinned = Pinned(victim.metadata.namespace, victim.metadata.name, container.name)
            zone = placement.get(pinned, -1)
            if zone < 0:
                continue
            for name, amount in nanos_of(listed(container)).items():
                if is_exclusive(guaranteed, name, amount, of_topology):
                    there = found.setdefault(zone, {})
                    there[name] = there.get(name, 0) + amount
    return found
