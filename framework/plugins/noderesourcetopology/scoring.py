"""How well a Guaranteed pod suits a node's zones (docs/semantics/catalogue.md#zone-scores)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.go_numbers import to_int64
from framework.objects.resources import Nanos
from framework.objects.simple_requests import nanos_value
from framework.plugins.noderesourcetopology.args import (
    BALANCED_ALLOCATION,
    LEAST_ALLOCATED,
    LEAST_NUMA_NODES,
    MOST_ALLOCATED,
)
from framework.plugins.noderesourcetopology.fits import Asking, suits
from framework.plugins.noderesourcetopology.zones import POD_SCOPE, SINGLE_NUMA_NODE, TopologyManager, Zone

UNKNOWN_DISTANCE: Final = 255
Weights = Mapping[str, int]
ZoneScore = Callable[[Nanos, Nanos, Weights], int]


def score(asking: Asking, strategy: str, weights: Weights, manager: TopologyManager, zones: list[Zone]) -> int:
    if strategy == LEAST_NUMA_NODES:
        return _fewest_zones(asking, manager, zones)
    if manager.policy != SINGLE_NUMA_NODE:
        return 0
    of_zone = _STRATEGIES[strategy]
    if manager.scope == POD_SCOPE:
        return _worst(asking.whole, zones, of_zone, weights)
    scores = [float(_worst(request, zones, of_zone, weights)) for request in asking.requests]
    return to_int64(sum(scores) / len(scores)) if scores else 0


# --- one zone ---------------------------------------------------------------------------------------------------------


def _worst(request: Nanos, zones: Sequence[Zone], of_zone: ZoneScore, weights: Weights) -> int:
    """The least score of a zone; 0 is a zone that does not come into question."""
    least = 0
    for zone in zones:
        found = of_zone(request, zone.available, weights)
        if least == 0 or (found != 0 and found < least):
            least = found
    return least


def _weighted(request: Nanos, available: Nanos, weights: Weights, of: Callable[[int, int], int]) -> int:
    total = sum_of_weights = 0
    for resource, amount in request.items():
        weight = max(weights.get(resource, 1), 1)
        there = available.get(resource, 0)
        # In whole units: of cpu, whole cores.
        total += (of(nanos_value(amount), nanos_value(there)) if 0 != there >= amount else 0) * weight
        sum_of_weights += weight
    return total // sum_of_weights if sum_of_weights else 0


def _least(request: Nanos, available: Nanos, weights: Weights) -> int:
    return _weighted(request, available, weights, lambda amount, there: (there - amount) * MAX_NODE_SCORE // there)


def _most(request: Nanos, available: Nanos, weights: Weights) -> int:
    return _weighted(request, available, weights, lambda amount, there: amount * MAX_NODE_SCORE // there)


def _balanced(request: Nanos, available: Nanos, weights: Weights) -> int:
    fractions = []
    for resource, amount in request.items():
        there = nanos_value(available.get(resource, 0))
        fraction = nanos_value(amount) / there if there else 1.0
        if fraction > 1:
            return 0
        fractions.append(fraction)
    return to_int64((1 - variance(fractions)) * MAX_NODE_SCORE)


def variance(values: Sequence[Any]) -> Any:
    """Of a sample of numbers, or number by number of arrays, by the corrected two-pass algorithm; NaN for fewer than
    two values."""
    count = len(values)
    if count < 2:
        return math.nan
    mean = _added(values) / count
    apart = [value - mean for value in values]
    both = _added(apart)
    return (_added([each * each for each in apart]) - both * both / count) / (count - 1)


def _added(values: Sequence[Any]) -> Any:
    """One after the other, as upstream adds: ``sum`` of later Pythons is more exact."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


_STRATEGIES: Final[Mapping[str, ZoneScore]] = {
    LEAST_ALLOCATED: _least,
    MOST_ALLOCATED: _most,
    BALANCED_ALLOCATION: _balanced,
}

# --- fewest zones -----------------------------------------------------------------------------------------------------


def _fewest_zones(asking: Asking, manager: TopologyManager, zones: list[Zone]) -> int:
    requests = [asking.whole] if manager.scope == POD_SCOPE else asking.requests
    most, nearest = 0, True
    if len(requests) > 1:
        zones = [zone.copy() for zone in zones]  # each takes from what is left
    for request in requests:
        if not any(resource in zone.available for resource in request for zone in zones):
            continue
        found = _needed(request, asking.qos, zones)
        if found is None:
            return 0
        chosen, is_nearest = found
        nearest = nearest and is_nearest
        most = max(most, len(chosen))
        if len(requests) > 1:
            _drain(request, zones, sorted(zones[index].id for index in chosen))
    if most == 0:
        return MAX_NODE_SCORE
    of_zone = MAX_NODE_SCORE // manager.most_zones
    points = MAX_NODE_SCORE - most * of_zone
    return points + of_zone // 2 if nearest else points


def _needed(request: Nanos, qos: str, zones: Sequence[Zone]) -> tuple[tuple[int, ...], bool] | None:
    """(places of the fewest zones that have it together, whether none of so many are nearer to each other)."""
    for number in range(1, len(zones) + 1):
        groups = list(combinations(range(len(zones)), number))
        nearest = min([np.float32(UNKNOWN_DISTANCE), *(_distance(zones, group) for group in groups)])
        best, distance = None, np.float32(UNKNOWN_DISTANCE + 1)
        for group in groups:
            if not _have(request, qos, [zones[index] for index in group]):
                continue
            apart = _distance(zones, group)
            if apart == nearest:
                return group, True
            if apart < distance:
                best, distance = group, apart
        if best is not None:
            return best, False
    return None


def _distance(zones: Sequence[Zone], group: Sequence[int]) -> np.float32:
    total = sum(zones[a].costs.get(zones[b].id, UNKNOWN_DISTANCE) for a in group for b in group)
    return np.float32(np.float32(total) / np.float32(len(group) ** 2))


def _have(request: Nanos, qos: str, zones: Sequence[Zone]) -> bool:
    """Together, if each of them has something of everything."""
    return all(all(resource in zone.available for zone in zones) for resource in request) and all(
        suits(qos, resource, amount, sum(zone.available[resource] for zone in zones))
        for resource, amount in request.items()
        if amount
    )


def _drain(request: Nanos, zones: Sequence[Zone], ids: Sequence[int]) -> None:
    """Zone by zone; ids are taken for places in the list, as upstream does."""
    for resource, amount in request.items():
        left = amount
        for place in ids:
            if left == 0 or place >= len(zones):
                break
            available = zones[place].available
            if resource in available:
                taken = min(left, available[resource])
                available[resource] -= taken
                left -= taken
