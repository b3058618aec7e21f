"""Which of the candidate nodes to take (spec: preemption §5), and by which criterion each other one lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from framework.plugins.defaultpreemption.victims import Victims, priority_of, start_time

_LIFT: Final = 1 << 31
"""Makes every priority positive, so that fewer victims of a negative priority stay cheaper than many."""

CRITERIA: Final = (
    "fewest PodDisruptionBudget violations",
    "lowest priority of the most important victim",
    "smallest sum of victims' priorities",
    "fewest victims",
    "latest start of the most important victims",
)


def earliest_start(victims: Victims, now: int) -> int:
    """The earliest start among the victims of the highest priority, in nanoseconds."""
    highest = max(priority_of(pod) for pod in victims.pods)
    return min(start_time(pod, now) for pod in victims.pods if priority_of(pod) == highest)


def best_candidates(candidates: Sequence[Victims], now: int) -> tuple[list[Victims], dict[str, str]]:
    """(the candidates that are equally good, node → criterion for each of the others)."""
    scores: tuple[Callable[[Victims], int], ...] = (
        lambda v: -v.pdb_violations,
        lambda v: -priority_of(v.pods[0]),
        lambda v: -sum(priority_of(pod) + _LIFT for pod in v.pods),
        lambda v: -len(v.pods),
        lambda v: earliest_start(v, now),
    )
    left = list(candidates)
    lost: dict[str, str] = {}
    for criterion, score in zip(CRITERIA, scores, strict=True):
        if len(left) == 1:
            break
        best = max(map(score, left))
        lost.update((v.node, criterion) for v in left if score(v) != best)
        left = [v for v in left if score(v) == best]
    return left, lost
