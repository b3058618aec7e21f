"""What load-watcher measured, as the plugins read it (docs/semantics/catalogue.md#load)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Handle, NodeInfo
from framework.objects.catalogue import LoadMetric, LoadMetrics
from framework.objects.measured import CPU_LOAD, MEMORY_LOAD, Usage, usage_of
from framework.objects.quantity import parse_quantity
from framework.objects.resources import CPU, MEMORY, Resources

_MEGA: Final = 1.0 / 1024.0 / 1024.0


@dataclass(frozen=True, slots=True)
class Load:
    """Of all nodes at one moment."""

    metrics: LoadMetrics | None

    @classmethod
    def now(cls, handle: Handle) -> Load:
        return cls(handle.objects.get(LoadMetrics, "", LoadMetrics.NAME))

    @property
    def version(self) -> Hashable:
        return None if self.metrics is None else self.metrics.metadata.resource_version

    @property
    def window_end(self) -> int:
        """Seconds since 1970."""
        return 0 if self.metrics is None else self.metrics.window.end

    def of_node(self, name: str) -> tuple[LoadMetric, ...] | None:
        """None: nothing is known of the node; an empty list says no more."""
        node = None if self.metrics is None else self.metrics.data.node_metrics_map.get(name)
        return node.metrics or None if node is not None else None


@dataclass(slots=True)
class Statistics:
    """Absolute figures of one resource on one node: cpu in millicores, memory in MiB."""

    average: float
    deviation: float
    request: float
    capacity: float

    def mu_and_sigma(self) -> tuple[float, float]:
        """As shares of the capacity, 0 to 1."""
        if self.capacity <= 0:
            return 0.0, 0.0
        mu = (self.average + self.request) / self.capacity
        return _share(mu), _share(self.deviation / self.capacity)


def statistics(metrics: Sequence[LoadMetric], node: NodeInfo, requests: Resources, resource: str) -> Statistics | None:
    """None where the load of this resource was not measured."""
    usage = usage_of(metrics, CPU_LOAD if resource == CPU else MEMORY_LOAD)
    if usage is None:
        return None
    return statistics_of(usage, node.allocatable.get(resource, 0), requests.get(resource, 0), resource)


def statistics_of(usage: Usage, offered: int, requested: int, resource: str) -> Statistics:
    """``offered`` and ``requested``: cpu in millicores, memory in bytes."""
    capacity, request = float(offered), float(requested)
    if resource == MEMORY:
        capacity, request = capacity * _MEGA, request * _MEGA
    return Statistics(usage.average * capacity / 100, usage.deviation * capacity / 100, request, capacity)


def _share(number: float) -> float:
    return max(min(number, 1.0), 0.0)


def milli_cpu_capacity(node: NodeInfo) -> float:
    """Of status.capacity, not of what is allocatable."""
    assert node.node is not None
    raw = (node.node.status.capacity or {}).get(CPU)
    return 0.0 if raw is None else float(parse_quantity(raw).milli_value())


_BEYOND: Final = 2.0**63


def go_round(number: float) -> int:
    """``int64(math.Round(number))``: half away from zero; NaN and all beyond int64 are the least one, as on amd64."""
    if not -_BEYOND <= number < _BEYOND:
        return -(2**63)
    whole = int(abs(number))
    if abs(number) - whole >= 0.5:
        whole += 1
    return whole if number >= 0 else -whole


def kernel_of(score: Callable[[NodeInfo, tuple[LoadMetric, ...]], int], load: Load) -> Callable[..., NDArray[np.int64]]:
    """Over whole nodes; one of which nothing was measured gets 0."""

    def kernel(nodes: Sequence[NodeInfo | None]) -> NDArray[np.int64]:
        scores = np.zeros(len(nodes), dtype=np.int64)
        for row, node in enumerate(nodes):
            metrics = None if node is None else load.of_node(node.name)
            if node is not None and metrics is not None:
                scores[row] = score(node, metrics)
        return scores

    return kernel
