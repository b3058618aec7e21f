"""PodState: points for nodes that pods are about to leave, none for those promised to others.

Rules: docs/semantics/catalogue.md#podstate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from framework.interface import BoundsNormalizer, ColumnScorePlugin, CycleState, NodeInfo, Plan, PodInfo, View
from framework.interface.scores import between_bounds
from framework.sentences import noted


class PodState(ColumnScorePlugin, BoundsNormalizer):
    name: ClassVar[str] = "PodState"
    origin = "scheduler-plugins"
    description: ClassVar[str] = noted(
        "Prefers nodes with many terminating pods and few pods that are nominated to run there."
    )

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        nominator = self.handle.nominator
        nominated = {name: len(nominator.nominated_pods_for_node(name)) for name in nominator.nominated_nodes()}

        def kernel(nodes: Sequence[NodeInfo | None]) -> NDArray[np.int64]:
            scores = np.zeros(len(nodes), dtype=np.int64)
            for row, node in enumerate(nodes):
                if node is None:
                    continue
                terminating = sum(placed.pod.metadata.deletion_timestamp is not None for placed in node.pods)
                scores[row] = terminating - nominated.get(node.name, 0)
            return scores

        return Plan(kernel, (view.whole_nodes(),), tuple(sorted(nominated.items())))

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return between_bounds(scores, lowest, highest)
