"""What it costs to talk from a node's region or zone to another one (docs/semantics/catalogue.md#network-costs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from framework.interface.go_sort import go_sorted
from framework.objects.catalogue import NetworkOrigin, NetworkTopology, NetworkTopologyInfo
from framework.plugins.networkaware.app_groups import find_by_halves

REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"
MEASURED: Final = "NetperfCosts"
"""These come sorted; lists of other names are sorted first."""
T = TypeVar("T")

Costs = dict[tuple[str, str], int]
"""(origin, destination) → cost. Regions and zones share it: of equal names the zone's cost is the last."""


class NetworkCosts:
    """One NetworkTopology's costs by the region and zone of the origin."""

    def __init__(self, topology: NetworkTopology, weights: str) -> None:
        self._lists = [each for each in topology.spec.weights if each.name == weights]
        self._sorts = weights != MEASURED
        self._known: dict[tuple[str, str], Costs] = {}

    def of(self, region: str, zone: str) -> Costs:
        known = self._known.get((region, zone))
        if known is None:
            known = self._known[region, zone] = self._found(region, zone)
        return known

    def _found(self, region: str, zone: str) -> Costs:
        costs: Costs = {}
        for weights in self._lists:
            by_key = self._ordered(weights.topology_list, _key)
            for key, origin in ((REGION, region), (ZONE, zone)):
                topology = find_by_halves(by_key, key, _key) if origin else None
                if topology is None:
                    continue
                found = find_by_halves(self._ordered(topology.origin_list, _origin), origin, _origin)
                for each in found.cost_list if found else ():
                    costs[origin, each.destination] = each.network_cost
        return costs

    def _ordered(self, items: tuple[T, ...], key: Callable[[T], str]) -> list[T]:
        if not self._sorts:
            return list(items)
        return go_sorted(items, lambda a, b: key(a) < key(b))


def _key(info: NetworkTopologyInfo) -> str:
    return info.topology_key


def _origin(origin: NetworkOrigin) -> str:
    return origin.origin
