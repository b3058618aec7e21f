"""Load of nodes over time, and as the figures that plugins read (docs/semantics/catalogue.md#where-load-comes-from)."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Final, NamedTuple

from msgspec.structs import replace

from framework.objects import Node, ObjectMeta, Pod
from framework.objects.catalogue import LoadData, LoadHistory, LoadMetric, LoadMetrics, LoadWindow, NodeLoad
from framework.objects.resources import node_allocatable, placed_requests
from framework.sentences import SentenceError

CPU: Final = "CPU"
MEMORY: Final = "Memory"
AVERAGE: Final = "AVG"
DEVIATION: Final = "STD"
LATEST: Final = "Latest"
OPERATORS: Final = {"avg": AVERAGE, "std": DEVIATION, "latest": LATEST}
MOST_POINTS: Final = 120
"""Of a history; longer ones are averaged."""
MADE_POINTS: Final = 60
MADE_STEP: Final = 60
"""Seconds."""
_OF_RESOURCES: Final = {CPU: "cpu", MEMORY: "memory"}


class LoadRefused(SentenceError):
    """What was given is no load of this cluster's nodes."""


class Series(NamedTuple):
    node: str
    resource: str
    """CPU or Memory."""
    operator: str
    """AVG, STD or Latest of a single figure; "" of values over time."""
    moments: Sequence[float]
    """Seconds since 1970, ascending."""
    values: Sequence[float]
    """Percent of what the node has."""


def metrics_of(series: Iterable[Series], source: str) -> LoadMetrics:
    """Values over time become their mean, their deviation and the history; single figures stay what they are."""
    loads: dict[str, NodeLoad] = {}
    first, last = math.inf, 0.0
    for each in series:
        first, last = min(first, each.moments[0]), max(last, each.moments[-1])
        load = loads.get(each.node, NodeLoad())
        loads[each.node] = replace(
            load, metrics=(*load.metrics, *_figures(each)), history=(*load.history, *_history(each))
        )
    end, start = int(last), int(min(first, last))
    window = LoadWindow(duration=f"{max(1, round((end - start) / 60))}m", start=start, end=end)
    return LoadMetrics(
        metadata=ObjectMeta(name=LoadMetrics.NAME),
        timestamp=end,
        window=window,
        source=source,
        data=LoadData(node_metrics_map=dict(sorted(loads.items()))),
    )


def _figures(series: Series) -> Iterable[LoadMetric]:
    minutes = f"{max(1, round((series.moments[-1] - series.moments[0]) / 60))}m"
    figures = (
        {series.operator: series.values[-1]}
        if series.operator
        else {AVERAGE: fmean(series.values), DEVIATION: pstdev(series.values)}
    )
    for operator, value in figures.items():
        yield LoadMetric(
            name=f"host.{series.resource.lower()}.utilisation",
            type=series.resource,
            operator=operator,
            rollup="" if series.operator else minutes,
            value=round(value, 2),
        )


def _history(series: Series) -> Iterable[LoadHistory]:
    if series.operator or len(series.values) < 2:
        return
    width = -(-len(series.values) // MOST_POINTS)
    # From the end, so that the last value is that of the last moment.
    ends = range(len(series.values), 0, -width)
    points = [round(fmean(series.values[max(0, end - width) : end]), 2) for end in ends]
    step = (series.moments[-1] - series.moments[0]) / (len(series.values) - 1) * width
    yield LoadHistory(type=series.resource, step=max(1, round(step)), values=tuple(reversed(points)))


def together(first: LoadMetrics, second: LoadMetrics) -> LoadMetrics:
    """Both; what the second one says anew of a node counts."""
    loads = dict(first.data.node_metrics_map)
    for node, load in second.data.node_metrics_map.items():
        known = loads.get(node, NodeLoad())
        said = {(each.type, each.operator) for each in load.metrics}
        # A mean that comes anew takes the history of the earlier one along.
        shown = {*(each.type for each in load.history), *(type_ for type_, operator in said if operator == AVERAGE)}
        loads[node] = NodeLoad(
            metrics=(*(each for each in known.metrics if (each.type, each.operator) not in said), *load.metrics),
            history=(*(each for each in known.history if each.type not in shown), *load.history),
        )
    start, end = min(first.window.start, second.window.start), max(first.window.end, second.window.end)
    window = LoadWindow(duration=f"{max(1, round((end - start) / 60))}m", start=start, end=end)
    return replace(
        second,
        timestamp=end,
        window=window,
        source=", ".join(dict.fromkeys(filter(None, (first.source, second.source)))),
        data=LoadData(node_metrics_map=dict(sorted(loads.items()))),
    )


def made_load(nodes: Iterable[Node], pods: Iterable[Pod], seed: int, end: int) -> LoadMetrics:
    """An hour of load up to ``end`` (seconds since 1970) that nobody measured.

    A node uses 35 to 95 % of what its pods request, rises and falls over the hour by up to a fifth of that, and wavers;
    one without pods idles. Of one seed each node has the same load whatever other nodes there are.
    """
    requested: dict[str, dict[str, int]] = {}
    for pod in pods:
        if pod.spec.node_name and pod.status.phase not in ("Succeeded", "Failed"):
            on_node = requested.setdefault(pod.spec.node_name, {})
            for name, amount in placed_requests(pod).items():
                on_node[name] = on_node.get(name, 0) + amount
    moments = [float(end - MADE_STEP * (MADE_POINTS - 1 - point)) for point in range(MADE_POINTS)]
    series = [
        Series(node.metadata.name, resource, "", moments, values)
        for node in nodes
        for resource, values in _made(node, requested.get(node.metadata.name, {}), seed).items()
    ]
    return metrics_of(series, f"generated, seed {seed}")


def _shares(of: str) -> Iterator[float]:
    """Numbers from 0 to 1 without end, the same for the same text on every machine."""
    for block in itertools.count():
        digest = hashlib.sha256(f"{of}/{block}".encode()).digest()
        yield from (int.from_bytes(digest[start : start + 4]) / 2**32 for start in range(0, len(digest), 4))


def _made(node: Node, requested: Mapping[str, int], seed: int) -> dict[str, list[float]]:
    chance = _shares(f"{seed}/{node.metadata.name}")
    offered = node_allocatable(node)
    made: dict[str, list[float]] = {}
    for resource, name in _OF_RESOURCES.items():
        share = 100 * requested.get(name, 0) / offered[name] if offered.get(name) else 0.0
        level = 1 + min(share, 100.0) * (0.35 + 0.6 * next(chance))
        swing, phase, wavering = 0.2 * level * next(chance), math.tau * next(chance), 0.0
        calm = 0.02 if resource == MEMORY else 0.06
        values = []
        for point in range(MADE_POINTS):
            wavering = 0.7 * wavering + calm * level * (2 * next(chance) - 1)
            value = level + swing * math.sin(phase + math.tau * point / MADE_POINTS) + wavering
            values.append(round(min(max(value, 0.0), 100.0), 2))
        made[resource] = values
    return made
