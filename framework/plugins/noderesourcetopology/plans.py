"""NodeResourceTopologyMatch over columns, where what is believed of a node is what the API server has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Code, NodeInfo, Plan, Reason, View
from framework.interface.columns import everywhere
from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.qos import GUARANTEED
from framework.plugins.noderesourcetopology import scoring
from framework.plugins.noderesourcetopology.args import LEAST_NUMA_NODES
from framework.plugins.noderesourcetopology.caches import HELD, Passthrough
from framework.plugins.noderesourcetopology.fits import Asking, not_aligned
from framework.plugins.noderesourcetopology.scoring import Weights
from framework.plugins.noderesourcetopology.table import APART, OF_CONTAINERS, OF_POD, Known, is_plain

Places = Sequence[int | None]
"""Of nodes; None of those of which nothing is known."""
Nodes = Sequence[NodeInfo | None]
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.ERROR, ("inconsistent resource accounting",)),
    Reason(Code.UNSCHEDULABLE, ("cannot align container",)),
    Reason(Code.UNSCHEDULABLE, ("cannot align init container",)),
    Reason(Code.UNSCHEDULABLE, ("cannot align pod",)),
    Reason(Code.UNSCHEDULABLE, ("cannot align sidecar container",)),
    Reason(Code.UNSCHEDULABLE, ("invalid node topology data",)),
)
"""Ordered as attempts list statuses that were given node by node: by code, then by text."""
_, _, CONTAINER, INIT, POD, SIDECAR, STALE = range(len(REASONS))
_CODES: Final = {reason.texts: code for code, reason in enumerate(REASONS)}


def filter_plan(asking: Asking, cache: Passthrough, view: View) -> Plan:
    devices = asking.devices
    in_arrays = all(map(is_plain, (asking.whole, *asking.requests)))

    def one(known: Known | None, node: NodeInfo | None) -> int:
        if known is None:
            return 0
        status = not_aligned(asking, () if node is None else node.allocatable, known.manager, known.zones)
        return 0 if status is None else _CODES[status.all_reasons]

    def few(values: Places, nodes: Nodes = ()) -> NDArray[np.int8]:
        known = cache.table.known
        return np.array(
            [
                0 if place is None else STALE if place == HELD else one(known[place], nodes[row] if nodes else None)
                for row, place in enumerate(values)
            ],
            dtype=np.int8,
        )

    def kernel(values: Places, nodes: Nodes = ()) -> NDArray[np.int8]:
        if not in_arrays:
            return few(values, nodes)
        table, places = cache.table, _numbers(values)
        kinds = table.kinds(places)
        codes = np.where(places == HELD, STALE, 0).astype(np.int8)

        def offers_of(rows: NDArray[np.intp]) -> Callable[[str], NDArray[np.bool_]]:
            def offers(resource: str) -> NDArray[np.bool_]:
                found = [(node := nodes[row]) is not None and resource in node.allocatable for row in rows.tolist()]
                return np.array(found, dtype=np.bool_)

            return offers

        rows = (kinds == OF_POD).nonzero()[0]
        room = table.of(places[rows]).room(asking.whole, asking.qos, offers_of(rows))
        codes[rows] = np.where(room.any(axis=1), 0, POD)
        rows = (kinds == OF_CONTAINERS).nonzero()[0]
        zones, offers, found = table.of(places[rows]), offers_of(rows), np.zeros(len(rows), dtype=np.int8)
        for is_sidecar, request in asking.init:
            refused = ~zones.room(request, asking.qos, offers).any(axis=1)
            found = np.where((found == 0) & refused, SIDECAR if is_sidecar else INIT, found)
        for request in asking.containers:
            room = zones.room(request, asking.qos, offers)
            found = np.where((found == 0) & ~room.any(axis=1), CONTAINER, found)
            zones.take(request, asking.qos, room)
        codes[rows] = found
        alone = (kinds == APART).nonzero()[0]
        for row in alone.tolist():
            codes[row] = one(table.known[places[row]], nodes[row] if nodes else None)
        return codes

    inputs = (view.node_values(cache.values), *((view.whole_nodes(),) if devices else ()))
    return Plan(kernel, inputs, asking.key, REASONS, few)


def score_plan(asking: Asking, strategy: str, weights: Weights, cache: Passthrough, view: View) -> Plan:
    inputs = (view.node_values(cache.values),)
    if asking.qos != GUARANTEED:
        return Plan(lambda values: everywhere(MAX_NODE_SCORE, len(values)), inputs, GUARANTEED)
    in_arrays = strategy != LEAST_NUMA_NODES and all(map(is_plain, (asking.whole, *asking.requests)))

    def one(known: Known | None) -> int:
        return 0 if known is None else scoring.score(asking, strategy, weights, known.manager, known.zones)

    def few(values: Places) -> NDArray[np.int64]:
        known = cache.table.known
        found = [0 if place is None or place == HELD else one(known[place]) for place in values]
        return np.array(found, dtype=np.int64)

    def kernel(values: Places) -> NDArray[np.int64]:
        if not in_arrays:
            return few(values)
        table, places = cache.table, _numbers(values)
        kinds = table.kinds(places)
        scores = np.zeros(len(places), dtype=np.int64)
        rows = (kinds == OF_POD).nonzero()[0]
        scores[rows] = table.of(places[rows]).worst(asking.whole, strategy, weights)
        rows = (kinds == OF_CONTAINERS).nonzero()[0]
        zones = table.of(places[rows])
        scores[rows] = _mean([zones.worst(each, strategy, weights) for each in asking.requests])
        for row in (kinds == APART).nonzero()[0].tolist():
            scores[row] = one(table.known[places[row]])
        return scores

    return Plan(kernel, inputs, asking.key, few=few)


def _numbers(values: Places) -> NDArray[np.intp]:
    return np.array([_NOTHING if place is None else place for place in values], dtype=np.intp)


_NOTHING: Final = HELD - 1


def _mean(scores: Sequence[NDArray[np.int64]]) -> NDArray[np.int64] | int:
    """Cut toward zero."""
    if not scores:
        return 0
    total = scores[0].astype(np.float64)
    for each in scores[1:]:
        total = total + each
    return (total / len(scores)).astype(np.int64)
