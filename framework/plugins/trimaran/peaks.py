"""Peaks: prefers nodes whose power grows least with the pod (docs/semantics/catalogue.md#peaks)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.interface import BoundsNormalizer, ColumnScorePlugin, CycleState, NodeInfo, Plan, PodInfo, View
from framework.interface.scores import less_is_better
from framework.objects import Pod
from framework.objects.catalogue import LoadMetric
from framework.objects.go_numbers import to_int64
from framework.objects.measured import AVERAGE, CPU_LOAD, LATEST
from framework.objects.resources import CPU, pod_requests
from framework.plugins.trimaran.args import PeaksArgs, PowerModel
from framework.plugins.trimaran.load import Load, kernel_of, milli_cpu_capacity
from framework.sentences import noted

SCALE: Final = 10.0**15
"""Scores are whole numbers, and power differs by little."""
UNKNOWN: Final = PowerModel()


class Peaks(ColumnScorePlugin, BoundsNormalizer):
    name: ClassVar[str] = "Peaks"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[PeaksArgs]] = PeaksArgs
    description: ClassVar[str] = noted("Prefers nodes whose power consumption grows least with the pod.")

    args: PeaksArgs

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        load, request = Load.now(self.handle), _milli_cpu(pod.pod)

        def score(node: NodeInfo, metrics: Sequence[LoadMetric]) -> int:
            return self._score(node, metrics, request)

        return Plan(kernel_of(score, load), (view.whole_nodes(),), (request, load.version))

    def fragment(self, pod: PodInfo) -> Hashable:
        return _milli_cpu(pod.pod)

    def _score(self, node: NodeInfo, metrics: Sequence[LoadMetric], request: int) -> int:
        # The first one counts.
        measured = [m.value for m in metrics if m.type == CPU_LOAD and m.operator in (AVERAGE, LATEST)]
        if not measured:
            return 0
        before, capacity = measured[0], milli_cpu_capacity(node)
        used = (before / 100) * capacity
        after = 100 * (used + float(request)) / capacity if capacity else 0.0
        if after > 100:
            return 0
        model = self.args.node_power_model.get(node.name, UNKNOWN)
        return to_int64(model.k1 * (_exp(model.k2 * after) - _exp(model.k2 * before)) * SCALE)

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return less_is_better(scores, lowest, highest)


def _exp(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf


def _milli_cpu(pod: Pod) -> int:
    """Kubernetes' own sum; the overhead is added only to something (upstream ``GetResourceRequestQuantity``)."""
    own = pod_requests(replace(pod, spec=replace(pod.spec, overhead=None))).get(CPU, 0)
    return pod_requests(pod).get(CPU, 0) if own else 0
