"""Zones of many nodes as arrays, and the rules of fits.py and scoring.py over them.

Amounts are exact: whole units and the billionths beyond them. What does not lend itself to that (zones that share an
id, amounts that are negative or larger than a float holds exactly, very many zones) is worked out node by node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.go_numbers import to_int64
from framework.objects.quantity import NANOS
from framework.objects.resources import Nanos
from framework.plugins.noderesourcetopology.args import BALANCED_ALLOCATION, LEAST_ALLOCATED
from framework.plugins.noderesourcetopology.fits import ALWAYS_OFFERED, exempt
from framework.plugins.noderesourcetopology.scoring import Weights, variance
from framework.plugins.noderesourcetopology.zones import (
    POD_SCOPE,
    SINGLE_NUMA_NODE,
    TopologyManager,
    Zone,
    may_be_without_zone,
)

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
UNLISTED: Final = -(1 << 63)
NOT_LISTED: Final = UNLISTED * NANOS
MOST: Final = (1 << 53) * NANOS
MOST_ZONES: Final = 16
MOST_RESOURCES: Final = 64
FREE, OF_POD, OF_CONTAINERS, APART = range(4)
"""Kinds of nodes: nothing has to be aligned, the pod as a whole, each container; to be looked at alone."""


class Known(NamedTuple):
    """What is believed of a node."""

    manager: TopologyManager
    zones: list[Zone]


class Amounts(NamedTuple):
    """A line for each node, a column for each of its zones."""

    whole: Ints
    """Negative where the zone does not list the resource."""
    rest: Ints
    """Billionths."""

    def of(self, places: NDArray[np.intp]) -> Amounts:
        return Amounts(self.whole[places], self.rest[places])

    def reach(self, nanos: int) -> Bools:
        """Whether there is so much, which is not negative."""
        whole, rest = divmod(nanos, NANOS)
        enough: Bools = (self.whole > whole) | ((self.whole == whole) & (self.rest >= rest))
        return enough


class ZoneTable:
    """Of nodes by place, a number that a node keeps. It is brought up to date by who asks."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._stale: dict[str, None] = {}
        self._exists = np.zeros((1, 0), dtype=np.bool_)
        self._amounts: dict[str, Amounts] = {}
        """Of the resources that pods asked for."""
        self.known: list[Known | None] = []
        """By place; None of a node of which nothing is known."""
        self._kinds = np.zeros(1, dtype=np.int8)

    def place(self, node: str) -> int:
        found = self._places.get(node)
        if found is None:
            found = self._places[node] = len(self._places)
            self._stale[node] = None
        return found

    def forget(self, node: str) -> None:
        """What was read of it is no longer so."""
        if node in self._places:
            self._stale[node] = None

    def refresh(self, read: Callable[[str], Known | None]) -> None:
        if not self._stale:
            return
        places: Sequence[int] = [self._places[name] for name in self._stale]
        self.known += [None] * (len(self._places) - len(self.known))
        for name, place in zip(self._stale, places, strict=True):
            self.known[place] = read(name)
        self._stale.clear()
        kinds = np.array([_kind(self.known[place]) for place in places], dtype=np.int8)
        width = max([len(known.zones) for known in self.known if known is not None], default=0)
        width = max(self._exists.shape[1], min(width, MOST_ZONES))
        if len(self.known) > len(self._kinds) or width > self._exists.shape[1]:
            room = 2 * len(self.known)
            kept, self._kinds = self._kinds, np.zeros(room, dtype=np.int8)
            self._kinds[: len(kept)] = kept
            self._exists = np.zeros((room, width), dtype=np.bool_)
            self._amounts.clear()
            self._kinds[places] = kinds
            places = range(len(self.known))
        else:
            self._kinds[places] = kinds
        zones = self._zones(places)
        self._exists[places] = np.array([zone is not _NO_ZONE for zone in zones]).reshape(len(places), width)
        for resource, amounts in self._amounts.items():
            _fill(amounts, resource, places, zones)

    def _zones(self, places: Sequence[int]) -> list[Zone]:
        """The same number of each."""
        width = self._exists.shape[1]
        found: list[Zone] = []
        for place, kind in zip(places, self._kinds[places].tolist(), strict=True):
            known = self.known[place]
            mine = () if known is None or kind in (FREE, APART) else sorted(known.zones, key=attrgetter("id"))
            found += mine
            found += [_NO_ZONE] * (width - len(mine))
        return found

    def _of(self, resource: str) -> Amounts:
        found = self._amounts.get(resource)
        if found is None:
            if len(self._amounts) >= MOST_RESOURCES:
                self._amounts.clear()
            shape = self._exists.shape
            found = self._amounts[resource] = Amounts(np.full(shape, UNLISTED), np.zeros(shape, dtype=np.int64))
            places = range(len(self.known))
            _fill(found, resource, places, self._zones(places))
        return found

    def kinds(self, places: NDArray[np.intp]) -> NDArray[np.int8]:
        """Of what is no place, FREE."""
        return np.where(places >= 0, self._kinds[np.maximum(places, 0)], FREE)

    def of(self, places: NDArray[np.intp]) -> Zones:
        """For nodes of the kinds OF_POD and OF_CONTAINERS."""
        return Zones(self._exists[places], lambda resource: self._of(resource).of(places))


class Zones:
    """Of some nodes, in the order of their ids. What is taken from them is taken from a copy."""

    def __init__(self, exists: Bools, amounts: Callable[[str], Amounts]) -> None:
        self._exists = exists
        self._amounts = lru_cache(maxsize=None)(amounts)

    def room(self, request: Nanos, qos: str, offers: Callable[[str], Bools]) -> Bools:
        """By node, whether a zone has all of it; the last column is true where no zone restricts the request.

        ``zone_for`` finds the first zone. ``offers``: which of the nodes have a resource at all."""
        left: Bools = np.ones((len(self._exists), self._exists.shape[1] + 1), dtype=np.bool_)
        for resource, amount in request.items():
            if amount == 0:
                continue
            here: Bools = np.zeros_like(left)
            amounts = self._amounts(resource)
            listing = amounts.whole >= 0
            here[:, :-1] = listing if exempt(qos, resource) else amounts.reach(amount)
            if may_be_without_zone(resource):
                here |= ~listing.any(axis=1, keepdims=True)
            left &= here
            if resource not in ALWAYS_OFFERED:
                left &= offers(resource).reshape(-1, 1)
        left[:, :-1] &= self._exists
        return left

    def take(self, request: Nanos, qos: str, room: Bools) -> None:
        """From the first zone of each node that has ``room``: there is enough. What no zone lists is not taken."""
        nodes = np.flatnonzero(room[:, :-1].any(axis=1))
        if not len(nodes):
            return
        zones = room[nodes, :-1].argmax(axis=1)
        for resource, amount in request.items():
            amounts = self._amounts(resource)
            listed = amounts.whole[nodes, zones] >= 0
            if exempt(qos, resource) or not listed.any():
                continue
            at = nodes[listed], zones[listed]
            whole, rest = divmod(amount, NANOS)
            left = amounts.rest[at] - rest
            amounts.whole[at] -= whole + (left < 0)
            amounts.rest[at] = left % NANOS

    def worst(self, request: Nanos, strategy: str, weights: Weights) -> Ints:
        """The least score of a zone of each node; 0 is a zone that does not come into question."""
        asked = [(name, amount, self._amounts(name)) for name, amount in request.items()]
        of_zones = _balanced if strategy == BALANCED_ALLOCATION else _weighted
        scores = np.where(self._exists, of_zones(asked, strategy, weights), 0)
        least = np.where(scores == 0, _LARGEST, scores).min(axis=1, initial=_LARGEST)
        return np.where((scores == 0).all(axis=1), 0, least)


Asked = Sequence[tuple[str, int, Amounts]]
"""(resource, nanos, what zones have)."""
_NO_ZONE: Final = Zone(-1, {})
_LARGEST: Final = int(np.iinfo(np.int64).max)


def _fill(amounts: Amounts, resource: str, places: Sequence[int], zones: Sequence[Zone]) -> None:
    """``zones``: the same number of each of ``places``."""
    shape = (len(places), amounts.whole.shape[1])
    nanos = [zone.available.get(resource, NOT_LISTED) for zone in zones]
    amounts.whole[places] = np.array([each // NANOS for each in nanos], dtype=np.int64).reshape(shape)
    amounts.rest[places] = np.array([each % NANOS for each in nanos], dtype=np.int64).reshape(shape)


def _kind(known: Known | None) -> int:
    if known is None or known.manager.policy != SINGLE_NUMA_NODE:
        return FREE
    zones = known.zones
    if len(zones) > MOST_ZONES or len({zone.id for zone in zones}) < len(zones):
        return APART
    if not all([is_plain(zone.available) for zone in zones]):  # noqa: C419 (half of the time)
        return APART
    return OF_POD if known.manager.scope == POD_SCOPE else OF_CONTAINERS


def is_plain(amounts: Nanos) -> bool:
    return all([0 <= amount < MOST for amount in amounts.values()])  # noqa: C419 (half of the time)


def _units(amounts: Amounts) -> Ints:
    """Whole ones, rounded up; 0 of what is not listed."""
    return np.maximum(amounts.whole + (amounts.rest > 0), 0)


def _weighted(asked: Asked, strategy: str, weights: Weights) -> Any:
    """LeastAllocated and MostAllocated."""
    total: Any = 0
    whole = 0
    for resource, nanos, amounts in asked:
        weight = max(weights.get(resource, 1), 1)
        there, amount = _units(amounts), -(-nanos // NANOS)
        gained = there - amount if strategy == LEAST_ALLOCATED else amount
        points = gained * MAX_NODE_SCORE // np.maximum(there, 1)
        total = total + np.where((there > 0) & amounts.reach(nanos), points, 0) * weight
        whole += weight
    return total // whole if whole else total


def _balanced(asked: Asked, strategy: str, weights: Weights) -> Any:
    fractions = []
    for _, nanos, amounts in asked:
        there = _units(amounts)
        fractions.append(np.where(there > 0, -(-nanos // NANOS) / np.maximum(there, 1), 1.0))
    if len(fractions) < 2:
        even: Any = float(to_int64(math.nan))
    else:
        even = (1 - variance([np.minimum(each, 1) for each in fractions])) * MAX_NODE_SCORE
    too_much = np.logical_or.reduce([each > 1 for each in fractions]) if fractions else False
    return np.where(too_much, 0, even).astype(np.int64)
