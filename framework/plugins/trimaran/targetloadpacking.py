"""TargetLoadPacking: fills nodes up to a target utilization of their cpu.

Rules: docs/semantics/catalogue.md#targetloadpacking.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ColumnScorePlugin,
    CycleState,
    Handle,
    NodeInfo,
    NodeValues,
    ObjectListener,
    PeriodicPlugin,
    Plan,
    PodInfo,
    View,
)
from framework.objects import Container, KubernetesObject, Pod
from framework.objects.catalogue import LoadMetric
from framework.objects.go_numbers import parse_float
from framework.objects.measured import AVERAGE, CPU_LOAD, LATEST
from framework.objects.quantity import parse_quantity
from framework.objects.resources import CPU, resource_value
from framework.objects.timestamps import SECOND
from framework.plugins.trimaran.args import TargetLoadPackingArgs
from framework.plugins.trimaran.load import Load, go_round, milli_cpu_capacity
from framework.sentences import noted

REPORTING_SECONDS: Final = 60
"""How long agents take to report a pod's load, on average."""
CLEANING_PERIOD: Final = 300 * SECOND

Placed = tuple[tuple[int, str, int], ...]
"""Pods that came to a node: (when, in nanoseconds; uid; what they are taken to use, in millicores)."""


class TargetLoadPacking(ColumnScorePlugin, ObjectListener, PeriodicPlugin):
    name: ClassVar[str] = "TargetLoadPacking"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[TargetLoadPackingArgs]] = TargetLoadPackingArgs
    description: ClassVar[str] = noted("Fills nodes up to a target utilization of their cpu, and avoids fuller ones.")
    listens_to = (Pod,)
    period = CLEANING_PERIOD

    args: TargetLoadPackingArgs

    def __init__(self, args: TargetLoadPackingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        raw = (args.default_requests or {}).get(CPU)
        self._default = 0 if raw is None else resource_value(CPU, raw)
        self._multiplier = parse_float(args.default_requests_multiplier or "") or 0.0
        self._target = float(args.target_utilization or 0)
        self._placed: NodeValues[Placed] = NodeValues()

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        before = old.spec.node_name if isinstance(old, Pod) else ""
        after = new.spec.node_name if isinstance(new, Pod) else ""
        if isinstance(new, Pod) and after and before != after:
            known = self._placed.get(after) or ()
            entry = (self.handle.now(), new.metadata.uid, self._predicted(new))
            self._placed.set(after, (*known, entry))
        elif new is None and isinstance(old, Pod) and before and (placed := self._placed.get(before)):
            gone = next((i for i, (_, uid, _) in enumerate(placed) if uid == old.metadata.uid), None)
            if gone is not None:
                self._placed.set(before, (*placed[:gone], *placed[gone + 1 :]))

    def tick(self) -> None:
        """What agents have reported by now need not be added any more."""
        now = self.handle.now()
        for node in list(self._placed):
            placed = self._placed.get(node) or ()
            kept = next(
                (i for i, (at, _, _) in enumerate(placed) if at + REPORTING_SECONDS * SECOND > now), len(placed)
            )
            # As upstream: where all of it is old, all of it stays.
            if 0 < kept < len(placed):
                self._placed.set(node, placed[kept:])

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        load, own = Load.now(self.handle), self._predicted(pod.pod)

        def kernel(nodes: Sequence[NodeInfo | None], placed: Sequence[Placed | None]) -> NDArray[np.int64]:
            scores = np.zeros(len(nodes), dtype=np.int64)
            for row, node in enumerate(nodes):
                metrics = None if node is None else load.of_node(node.name)
                if node is not None and metrics is not None:
                    scores[row] = self._score(node, metrics, own + _not_reported(placed[row] or (), load.window_end))
            return scores

        return Plan(kernel, (view.whole_nodes(), view.node_values(self._placed)), (own, load.version))

    def fragment(self, pod: PodInfo) -> Hashable:
        return self._predicted(pod.pod)

    def _score(self, node: NodeInfo, metrics: Sequence[LoadMetric], more: int) -> int:
        """``more``: millicores of this pod and of pods that nobody has reported yet."""
        # The last one counts.
        measured = [m.value for m in metrics if m.type == CPU_LOAD and m.operator in (AVERAGE, LATEST)]
        if not measured:
            return 0
        capacity, target = milli_cpu_capacity(node), self._target
        used = (measured[-1] / 100) * capacity
        utilization = 100 * (used + float(more)) / capacity if capacity else 0.0
        if utilization <= target:
            return go_round((100 - target) * utilization / target + target)
        return 0 if utilization > 100 else go_round(target * (100 - utilization) / (100 - target))

    def _predicted(self, pod: Pod) -> int:
        """What the pod is taken to use, in millicores; init containers are left out."""
        overhead = (pod.spec.overhead or {}).get(CPU)
        own = sum(map(self._predicted_of, pod.spec.containers))
        return own + (0 if overhead is None else parse_quantity(overhead).milli_value())

    def _predicted_of(self, container: Container) -> int:
        limit = (container.resources.limits or {}).get(CPU)
        if limit is not None:
            return parse_quantity(limit).milli_value()
        request = (container.resources.requests or {}).get(CPU)
        if request is not None:
            return go_round(float(parse_quantity(request).milli_value()) * self._multiplier)
        return self._default


def _not_reported(placed: Placed, window_end: int) -> int:
    """Millicores of pods that came after the window, or so shortly before its end that agents may not know them."""
    return sum(use for at, _, use in placed if window_end - at // SECOND < REPORTING_SECONDS)
