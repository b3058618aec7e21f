"""NUMA zones of nodes, and what each lacks for a pod, by the rules of NodeResourceTopologyMatch.

As NodeResourceTopologies say now; what a cache of the plugin takes off for pods that were just placed is not in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.objects import Pod
from framework.objects.catalogue import NodeResourceTopology
from framework.objects.decode import decode_manifest
from framework.objects.qos import GUARANTEED, pod_qos
from framework.objects.quantity import NANOS, parse_quantity
from framework.objects.resources import CPU, Nanos
from framework.objects.simple_requests import effective_request, listed
from framework.plugins.noderesourcetopology.fits import nanos_of, suits
from framework.plugins.noderesourcetopology.zones import (
    POD_SCOPE,
    SINGLE_NUMA_NODE,
    TopologyManager,
    Zone,
    is_bound_to_zones,
    zone_id,
    zones_of,
)
from schedweb.engine.amounts import amount_text
from schedweb.runs.objects.claims import Manifest, Objects

PLUGIN: Final = "NodeResourceTopologyMatch"
MILLI: Final = NANOS // 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """What has to come from one zone together."""

    container: str
    """"" where it is the whole pod."""
    request: Nanos
    qos: str


@dataclass(frozen=True, slots=True)
class ZoneOfNode:
    node: str
    zone: Zone
    missing: Mapping[str, int]
    """Resource → how much is not there, in millicores of cpu, else in units."""

    @property
    def name(self) -> str:
        return f"node-{self.zone.id}"


def topologies(objects: Objects) -> dict[str, NodeResourceTopology]:
    """By name of the node."""
    read = (decode_manifest({"apiVersion": NodeResourceTopology.api_version, **each}) for each in _all(objects))
    return {each.metadata.name: each for each in read if isinstance(each, NodeResourceTopology)}


def numa_of(objects: Objects, node: str) -> dict[str, Any] | None:
    """All zones of one node with what is free in each; None of one without a NodeResourceTopology."""
    manifest = objects.get(NodeResourceTopology.kind, "", node)
    found = None if manifest is None else decode_manifest({"apiVersion": NodeResourceTopology.api_version, **manifest})
    return zones_body(found, None) if isinstance(found, NodeResourceTopology) else None


def _all(objects: Objects) -> Iterable[Manifest]:
    return objects.all("NodeResourceTopology")


def asked_of_a_zone(pod: Pod, topology: NodeResourceTopology) -> Asked:
    """The whole pod, or with scope container the one that asks for most (cpu first): it is the hardest to align."""
    qos = pod_qos(pod)
    if TopologyManager.of(topology).scope == POD_SCOPE or not pod.spec.containers:
        return Asked("", effective_request(pod), qos)
    requests = [(each.name, nanos_of(listed(each))) for each in (*pod.spec.init_containers, *pod.spec.containers)]
    name, request = max(requests, key=lambda each: (each[1].get(CPU, 0), sum(each[1].values())))
    return Asked(name, request, qos)


def zones_for(pod: Pod, topology: NodeResourceTopology) -> Iterator[ZoneOfNode]:
    """Each zone with what it lacks; nothing of a node whose topology manager asks for no single zone."""
    if TopologyManager.of(topology).policy != SINGLE_NUMA_NODE:
        return
    asked = asked_of_a_zone(pod, topology)
    zones = zones_of(topology)
    somewhere = {name for zone in zones for name in zone.available}
    for zone in zones:
        missing = {
            name: _amount(name, amount) - _amount(name, zone.available.get(name, 0))
            for name, amount in asked.request.items()
            if amount and name in somewhere and not suits(asked.qos, name, amount, zone.available.get(name, 0))
        }
        yield ZoneOfNode(topology.metadata.name, zone, missing)


def share_missing(pod: Pod, topology: NodeResourceTopology, zone: ZoneOfNode) -> float:
    """Of what is asked for; the zone with the least is the nearest."""
    request = asked_of_a_zone(pod, topology).request
    return sum(amount / max(1, _amount(name, request[name])) for name, amount in zone.missing.items())


def nearest_zone(pod: Pod, known: Mapping[str, NodeResourceTopology], nodes: Iterable[str]) -> ZoneOfNode | None:
    """Among the nodes the zone that lacks the smallest share; None where no zone lacks anything by itself."""
    ranked = [
        (share_missing(pod, known[name], each), name, each.zone.id, each)
        for name in nodes
        if name in known
        for each in zones_for(pod, known[name])
        if each.missing
    ]
    return min(ranked, key=lambda each: each[:3])[3] if ranked else None


def _amount(resource: str, nanos: int) -> int:
    """Millicores of cpu, units of all else; rounded up, as a request is."""
    return -(-nanos // MILLI) if resource == CPU else -(-nanos // NANOS)


def zones_body(topology: NodeResourceTopology, pod: Pod | None) -> dict[str, Any]:
    """All zones of a node. ``pod``: the one for which what is asked and lacking is told beside what is free."""
    manager = TopologyManager.of(topology)
    asked = None if pod is None else asked_of_a_zone(pod, topology)
    lacking = {} if pod is None else {each.zone.id: each.missing for each in zones_for(pod, topology)}
    return {
        "node": topology.metadata.name,
        "policy": manager.policy,
        "scope": manager.scope,
        "container": "" if asked is None else asked.container,
        "zones": [
            {
                "name": zone.name,
                "costs": [{"name": cost.name, "value": cost.value} for cost in zone.costs if cost.name != zone.name],
                "fits": asked is not None and number in lacking and not lacking[number],
                "resources": [
                    _resource_body(each.name, each.available, each.allocatable, asked, lacking.get(number, {}))
                    for each in zone.resources
                ],
            }
            for zone in topology.zones
            if (number := zone_id(zone.name)) is not None
        ],
    }


def _resource_body(
    name: str, available: str | int | float, allocatable: str | int | float, asked: Asked | None, missing: Any
) -> dict[str, Any]:
    free, whole = (_amount(name, parse_quantity(each).nanos) for each in (available, allocatable))
    wanted = 0 if asked is None else _amount(name, asked.request.get(name, 0))
    bound = asked is None or asked.qos == GUARANTEED or not is_bound_to_zones(name)
    return {
        "name": name,
        "free": {"amount": free, "text": amount_text(name, free)},
        "allocatable": {"amount": whole, "text": amount_text(name, whole)},
        "asked": None if not wanted or not bound else {"amount": wanted, "text": amount_text(name, wanted)},
        "short": None if name not in missing else {"amount": missing[name], "text": amount_text(name, missing[name])},
    }
