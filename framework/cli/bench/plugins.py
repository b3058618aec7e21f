"""A third party's plugins, as simple as an author's first one: node by node, with one promise."""

from __future__ import annotations

from framework.interface import CycleState, FilterPlugin, NodeInfo, ScorePlugin, Status
from framework.objects import Pod

FULL = Status.unschedulable("node has too many pods for my taste")


class FewPodsFirst(ScorePlugin):
    name = "FewPodsFirst"
    node_local = True
    description = "Prefers nodes with few pods."

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        return max(0, 100 - len(node.pods)), None


class AtMostAHundred(FilterPlugin):
    name = "AtMostAHundred"
    node_local = True
    description = "Rejects nodes with a hundred pods."

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return FULL if len(node.pods) >= 100 else None
