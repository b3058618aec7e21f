"""PodGroupPodsCount: prefers placements that take more pods of the group (docs/semantics/pod-groups.md#placements)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.interface import Status
from framework.interface.plugin import PlacementScorePlugin
from framework.interface.pod_groups import PlacementAssignments, PodGroupCycle
from framework.interface.scores import MAX_NODE_SCORE
from framework.sentences import noted


class PodGroupPodsCount(PlacementScorePlugin):
    name: ClassVar[str] = "PodGroupPodsCount"
    description: ClassVar[str] = noted(
        "Prefers placements that take more pods of the group (feature gate TopologyAwareWorkloadScheduling)."
    )

    def score_placement(self, group: PodGroupCycle, placed: PlacementAssignments) -> tuple[int, Status | None]:
        return group.members.scheduled_count + len(placed.assignments), None

    def normalize_placement_scores(
        self, group: PodGroupCycle, scores: Sequence[int]
    ) -> tuple[Sequence[int], Status | None]:
        most = max(scores, default=0)
        if most <= 0:
            text = "no pods from pod group are assigned to any of the candidate placements"
            return scores, Status.as_error(text)
        return [score * MAX_NODE_SCORE // most for score in scores], None
