"""Which of the candidate nodes to take, and by which criterion each other one lost.

Rules: docs/semantics/preemption.md#choice.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Candidate
from framework.preemption.victims import priority_of, start_time

_LIFT: Final = 1 << 31
"""Makes every priority positive, so that fewer victims of a negative priority stay cheaper than many."""
NOT_STARTED: Final = np.iinfo(np.int64).max
"""Stands for "now" in what is kept."""

CRITERIA: Final = (
    "fewest PodDisruptionBudget violations",
    "lowest priority of the most important victim",
    "smallest sum of victims' priorities",
    "fewest victims",
    "latest start of the most important victims",
)


class Costs:
    """One number per criterion, the smaller the better; the last one is the start, the later the better."""

    NUMBER: Final = len(CRITERIA)
    START: Final = NUMBER - 1


def earliest_start(candidate: Candidate, now: int) -> int:
    """The earliest start among the victims of the highest priority, in nanoseconds."""
    highest = max(priority_of(pod) for pod in candidate.victims)
    starts = [pod for pod in candidate.victims if priority_of(pod) == highest]
    if not any(pod.status.start_time for pod in starts):
        return NOT_STARTED
    return min(start_time(pod, now) for pod in starts)


def costs_of(candidate: Candidate, now: int) -> tuple[int, ...]:
    priorities = [priority_of(pod) for pod in candidate.victims]
    return (
        candidate.pdb_violations,
        priorities[0],
        sum(priorities) + _LIFT * len(priorities),
        len(priorities),
        earliest_start(candidate, now),
    )


def best_candidates(costs: NDArray[np.int64], now: int) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """(the candidates that are equally good, per candidate the criterion by which it lost or -1)."""
    lost_by = np.full(len(costs), -1, dtype=np.int8)
    left = np.arange(len(costs))
    for criterion in range(Costs.NUMBER):
        if len(left) == 1:
            break
        cost = costs[left, criterion]
        if criterion == Costs.START:
            cost = -np.where(cost == NOT_STARTED, now, cost)
        best = cost == cost.min()
        lost_by[left[~best]] = criterion
        left = left[best]
    return left, lost_by
