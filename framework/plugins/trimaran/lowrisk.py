"""LowRiskOverCommitment: prefers nodes where limits promise little too much, and measured load rarely exceeds requests.

Rules: docs/semantics/catalogue.md#lowriskovercommitment.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import ColumnScorePlugin, CycleState, NodeInfo, Plan, PodInfo, PreScorePlugin, Status, View
from framework.interface.scores import MAX_NODE_SCORE
from framework.objects import Pod
from framework.objects.catalogue import LoadMetric
from framework.objects.resources import CPU, MEMORY
from framework.objects.simple_requests import simple_requests
from framework.plugins.trimaran.args import LowRiskOverCommitmentArgs
from framework.plugins.trimaran.beta import Beta, probability_below
from framework.plugins.trimaran.load import Load, go_round, kernel_of, statistics
from framework.sentences import noted

COUNTED: Final = (CPU, MEMORY)
LARGEST_VARIANCE: Final = 0.99
"""Of what a distribution with this mean can have, so that nothing is divided by zero."""

Amounts = dict[str, tuple[int, int]]
"""Resource → (request, limit); a limit below the request counts as the request."""


@dataclass(slots=True)
class Committed:
    """Of one resource on one node, with the pod and without it; requests are cut at the capacity."""

    capacity: int
    request: int
    limit: int
    request_before: int
    limit_before: int


class LowRiskOverCommitment(PreScorePlugin, ColumnScorePlugin):
    name: ClassVar[str] = "LowRiskOverCommitment"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[LowRiskOverCommitmentArgs]] = LowRiskOverCommitmentArgs
    description: ClassVar[str] = noted("Prefers nodes where limits and measured load put the pod at little risk.")

    args: LowRiskOverCommitmentArgs

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        own = _amounts(pod.pod)
        constants = tuple(own.values())
        load = Load.now(self.handle)
        if not any(request or limit for request, limit in own.values()):
            return Plan(lambda nodes: np.zeros(len(nodes), dtype=np.int8), (view.whole_nodes(),), constants)

        def score(node: NodeInfo, metrics: Sequence[LoadMetric]) -> int:
            placed = [_amounts(each.pod) for each in node.pods]
            risks = [self._risk(resource, metrics, node, placed, own) for resource in COUNTED]
            return go_round((1 - max(risks)) * MAX_NODE_SCORE)

        return Plan(kernel_of(score, load), (view.whole_nodes(),), (constants, load.version))

    def fragment(self, pod: PodInfo) -> Hashable:
        return tuple(_amounts(pod.pod).values())

    def _risk(
        self, resource: str, metrics: Sequence[LoadMetric], node: NodeInfo, placed: Sequence[Amounts], own: Amounts
    ) -> float:
        committed = _committed(resource, node, placed, own)
        by_limits = 0.0
        if committed.limit > committed.capacity:
            by_limits = float(committed.limit - committed.capacity) / float(committed.limit - committed.request)
        by_load = 0.0
        measured = statistics(metrics, node, {}, resource)
        if measured is not None:
            mu, sigma = measured.mu_and_sigma()
            by_load = 1 - self._probability(mu, sigma, committed)
        weights: dict[str, Any] = self.args.risk_limit_weights or {}
        weight = float(weights.get(resource, 0.5))
        return min(max(weight * by_limits + (1 - weight) * by_load, 0.0), 1.0)

    def _probability(self, mu: float, sigma: float, committed: Committed) -> float:
        """That the load stays below what is requested, given that it stays below what limits allow."""
        # Averaging over windows has made the variation smaller than it is.
        sigma *= math.pow(float(self.args.smoothing_window_size or 1), 0.5)
        largest = mu * (1 - mu) if 0 < mu < 1 else 0.0
        sigma = min(sigma, math.sqrt(largest * LARGEST_VARIANCE))
        capacity = committed.capacity
        threshold = _divided(committed.request_before, capacity)
        below, distribution = probability_below(mu, sigma, min(max(threshold, 0.0), 1.0))
        if committed.limit_before < capacity and committed.request_before <= committed.limit_before:
            limit = _divided(committed.limit_before, capacity)
            if limit == 0:
                return 1.0
            if isinstance(distribution, Beta) and (within := distribution.below(limit)) > 0:
                return min(max(below / within, 0.0), 1.0)
        return below


def _divided(part: int, whole: int) -> float:
    """As Go divides: by zero, too."""
    if whole:
        return float(part) / float(whole)
    return math.nan if part == 0 else math.copysign(math.inf, part)


def _committed(resource: str, node: NodeInfo, placed: Sequence[Amounts], own: Amounts) -> Committed:
    """``placed``: of the pods on the node."""
    capacity = node.allocatable.get(resource, 0)
    request = sum(each[resource][0] for each in placed)
    limit = sum(each[resource][1] for each in placed)
    more = own[resource]
    return Committed(
        capacity,
        request=min(request + more[0], capacity),
        limit=limit + more[1],
        request_before=min(request, capacity),
        limit_before=limit,
    )


def _amounts(pod: Pod) -> Amounts:
    requests = simple_requests(pod, init=COUNTED)
    limits = simple_requests(pod, "limits", init=COUNTED)
    found: Amounts = {}
    for resource in COUNTED:
        request = requests.get(resource, 0)
        found[resource] = (request, max(limits.get(resource, 0), request))
    return found
