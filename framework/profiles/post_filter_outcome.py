"""What a PostFilter plugin answered, as the trace keeps it."""

from __future__ import annotations

from typing import Final

from framework.interface.plugin import PostFilterResult
from framework.interface.status import Status
from framework.objects import Pod
from framework.trace.attempt import CandidateNode, PostFilterOutcome

KEPT: Final = 1 << 16


class PostFilterOutcomes:
    """Remembers candidates: of hundreds of them few are others from one attempt to the next."""

    def __init__(self) -> None:
        self._candidates: dict[str, tuple[tuple[Pod, ...], CandidateNode]] = {}

    def of(self, plugin: str, status: Status, result: PostFilterResult | None) -> PostFilterOutcome:
        if result is None:
            return PostFilterOutcome(plugin, status, None, (), (), ())
        if len(self._candidates) > KEPT:
            self._candidates.clear()
        violations, lost_by, known = result.pdb_violations, result.lost_by, self._candidates
        candidates: list[CandidateNode] = []
        for node, victims in result.candidates.items():
            lost = lost_by.get(node, "")
            pods, before = known.get(node, (None, None))
            if before is not None and pods is victims and before[2:4] == (violations.get(node, 0), lost):
                candidates.append(before)
                continue
            made = CandidateNode(
                node,
                tuple(victim.key for victim in victims),
                violations.get(node, 0),
                lost,
                tuple(victim.spec.priority or 0 for victim in victims),
            )
            known[node] = (victims, made)
            candidates.append(made)
        return PostFilterOutcome(
            plugin,
            status,
            result.nominated_node,
            tuple(victim.key for victim in result.victims),
            tuple(candidates),
            result.nominated_any,
            tuple(result.refused.items()),
            result.not_tried,
        )
