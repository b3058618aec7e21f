"""LowRiskOverCommitment: prefers nodes where limits promise little too much, and measured load rarely exceeds requests.

Rules: docs/semantics/catalogue.md#lowriskovercommitment.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface import ColumnScorePlugin, CycleState, NodeInfo, Plan, PodInfo, PreScorePlugin, Status, View
from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.catalogue import LoadMetric
from framework.objects.measured import CPU_LOAD, MEMORY_LOAD, Usage, usage_of
from framework.objects.resources import CPU, MEMORY
from framework.objects.simple_requests import simple_requests
from framework.plugins.trimaran.args import LowRiskOverCommitmentArgs
from framework.plugins.trimaran.beta import Beta, probability_below
from framework.plugins.trimaran.load import Load, go_round, kernel_of, statistics_of
from framework.sentences import noted

COUNTED: Final = (CPU, MEMORY)
LOADS: Final = (CPU_LOAD, MEMORY_LOAD)
LARGEST_VARIANCE: Final = 0.99
"""Of what a distribution with this mean can have, so that nothing is divided by zero."""
REMEMBERED: Final = 1 << 16
"""Risks that are remembered: two of each node of a large cluster, all of them different."""
_AMOUNTS: Final = "LowRiskOverCommitment"


class Amounts(NamedTuple):
    """What a pod requests and may use, cpu in millicores and memory in bytes. No limit is below its request."""

    cpu: int
    memory: int
    cpu_limit: int
    memory_limit: int


class LowRiskOverCommitment(PreScorePlugin, ColumnScorePlugin):
    name: ClassVar[str] = "LowRiskOverCommitment"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[LowRiskOverCommitmentArgs]] = LowRiskOverCommitmentArgs
    description: ClassVar[str] = noted("Prefers nodes where limits and measured load put the pod at little risk.")

    args: LowRiskOverCommitmentArgs

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        own = _amounts(pod)
        load = Load.now(self.handle)
        if not any(own):
            return Plan(lambda nodes: np.zeros(len(nodes), dtype=np.int8), (view.whole_nodes(),), own)
        window = float(self.args.smoothing_window_size or 1)
        given: dict[str, Any] = self.args.risk_limit_weights or {}
        weights = [float(given.get(resource, 0.5)) for resource in COUNTED]

        def score(node: NodeInfo, metrics: Sequence[LoadMetric]) -> int:
            placed = _sums(node.pods)
            risk = 0.0
            for i, weight in enumerate(weights):
                capacity = node.allocatable.get(COUNTED[i], 0)
                before, limit_before = placed[i], placed[i + 2]
                request, limit = min(before + own[i], capacity), limit_before + own[i + 2]
                by_limits = float(limit - capacity) / float(limit - request) if limit > capacity else 0.0
                by_load = 0.0
                measured = usage_of(metrics, LOADS[i])
                if measured is not None:
                    by_load = risk_of_load(COUNTED[i], measured, window, capacity, min(before, capacity), limit_before)
                risk = max(risk, min(max(weight * by_limits + (1 - weight) * by_load, 0.0), 1.0))
            return go_round((1 - risk) * MAX_NODE_SCORE)

        return Plan(kernel_of(score, load), (view.whole_nodes(),), (own, load.version))

    def fragment(self, pod: PodInfo) -> Hashable:
        return _amounts(pod)


@lru_cache(maxsize=REMEMBERED)
def risk_of_load(resource: str, measured: Usage, window: float, capacity: int, request: int, limit: int) -> float:
    """That the load exceeds what the pods on the node request, given that it stays below what their limits allow.

    It does not depend on the pod that is to come, so most pods find it worked out. ``request`` is cut at the capacity.
    """
    mu, sigma = statistics_of(measured, capacity, 0, resource).mu_and_sigma()
    # Averaging over windows has made the variation smaller than it is.
    sigma *= math.pow(window, 0.5)
    largest = mu * (1 - mu) if 0 < mu < 1 else 0.0
    sigma = min(sigma, math.sqrt(largest * LARGEST_VARIANCE))
    threshold = _divided(request, capacity)
    below, distribution = probability_below(mu, sigma, min(max(threshold, 0.0), 1.0))
    if limit < capacity and request <= limit:
        within_limits = _divided(limit, capacity)
        if within_limits == 0:
            return 0.0
        if isinstance(distribution, Beta) and (within := distribution.below(within_limits)) > 0:
            return 1 - min(max(below / within, 0.0), 1.0)
    return 1 - below


def _divided(part: int, whole: int) -> float:
    """As Go divides: by zero, too."""
    if whole:
        return float(part) / float(whole)
    return math.nan if part == 0 else math.copysign(math.inf, part)


def _sums(pods: Sequence[PodInfo]) -> tuple[int, int, int, int]:
    """The Amounts of all of them together."""
    if len(pods) == 1:
        return _amounts(pods[0])
    cpu = memory = cpu_limit = memory_limit = 0
    for pod in pods:
        of_pod = _amounts(pod)
        cpu += of_pod[0]
        memory += of_pod[1]
        cpu_limit += of_pod[2]
        memory_limit += of_pod[3]
    return cpu, memory, cpu_limit, memory_limit


def _amounts(pod: PodInfo) -> Amounts:
    known: Amounts | None = pod.alike.get(_AMOUNTS)
    if known is None:
        requests = simple_requests(pod.pod, init=COUNTED)
        limits = simple_requests(pod.pod, "limits", init=COUNTED)
        cpu, memory = (requests.get(resource, 0) for resource in COUNTED)
        known = Amounts(cpu, memory, max(limits.get(CPU, 0), cpu), max(limits.get(MEMORY, 0), memory))
        pod.alike[_AMOUNTS] = known
    return known
