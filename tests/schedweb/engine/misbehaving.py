"""A plugin that raises, as a package of somebody else might."""

from __future__ import annotations

from typing import ClassVar

from framework.interface import CycleState, FilterPlugin, NodeInfo, Status
from framework.objects import Pod


class CostFilter(FilterPlugin):
    name: ClassVar[str] = "CostFilter"
    description: ClassVar[str] = "Raises for pods without a price."

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        prices = {"web": 3}
        return None if prices[pod.metadata.labels["app"]] < 10 else Status.unschedulable("too dear")
