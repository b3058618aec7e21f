"""LoadVariationRiskBalancing: prefers nodes whose load is low and even.

Rules: docs/semantics/catalogue.md#loadvariationriskbalancing.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import ClassVar

from framework.interface import ColumnScorePlugin, CycleState, NodeInfo, Plan, PodInfo, View
from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.catalogue import LoadMetric
from framework.objects.resources import CPU, MEMORY, Resources
from framework.objects.simple_requests import simple_requests
from framework.plugins.trimaran.args import LoadVariationRiskBalancingArgs
from framework.plugins.trimaran.load import Load, Statistics, go_round, kernel_of, statistics
from framework.sentences import noted

COUNTED = (CPU, MEMORY)


class LoadVariationRiskBalancing(ColumnScorePlugin):
    name: ClassVar[str] = "LoadVariationRiskBalancing"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[LoadVariationRiskBalancingArgs]] = LoadVariationRiskBalancingArgs
    description: ClassVar[str] = noted("Prefers nodes whose measured load is low and varies little.")

    args: LoadVariationRiskBalancingArgs

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        load, requests = Load.now(self.handle), _requests(pod)

        def score(node: NodeInfo, metrics: Sequence[LoadMetric]) -> int:
            return self._score(node, metrics, requests)

        constants = (requests.get(CPU, 0), requests.get(MEMORY, 0), load.version)
        return Plan(kernel_of(score, load), (view.whole_nodes(),), constants)

    def fragment(self, pod: PodInfo) -> Hashable:
        requests = _requests(pod)
        return requests.get(CPU, 0), requests.get(MEMORY, 0)

    def _score(self, node: NodeInfo, metrics: Sequence[LoadMetric], requests: Resources) -> int:
        measured = [statistics(metrics, node, requests, resource) for resource in COUNTED]
        scores = [self._of(each) for each in measured if each is not None]
        # The worse of two; where one was not measured it counts as 0 beside the other.
        return go_round(min(scores) if len(scores) == len(COUNTED) else max([0.0, *scores]))

    def _of(self, figures: Statistics) -> float:
        if figures.capacity <= 0:
            return 0.0
        figures.request = max(figures.request, 0.0)
        figures.average = max(min(figures.average, figures.capacity), 0.0)
        figures.deviation = max(min(figures.deviation, figures.capacity), 0.0)
        mu, sigma = figures.mu_and_sigma()
        sensitivity = self.args.safe_variance_sensitivity or 0.0
        sigma = math.pow(sigma, 1 / sensitivity if sensitivity else math.inf)
        sigma = max(min(sigma * (self.args.safe_variance_margin or 0.0), 1.0), 0.0)
        return (1.0 - (mu + sigma) / 2) * MAX_NODE_SCORE


def _requests(pod: PodInfo) -> Resources:
    return simple_requests(pod.pod, init=COUNTED)
