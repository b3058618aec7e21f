"""Scores: their range, upstream's usual normalisation, and Go's integer division over columns."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MIN_NODE_SCORE: Final = 0
MAX_NODE_SCORE: Final = 100


def quotient(dividend: NDArray[np.int64], divisor: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """``dividend / divisor`` as Go divides int64: truncated toward zero. The divisor must not be 0."""
    divisors = np.asarray(divisor)
    floored: NDArray[np.int64] = dividend // divisor
    if not len(floored) or (dividend.min() >= 0 and divisors.min() > 0):
        return floored
    uneven = floored * divisor != dividend
    result: NDArray[np.int64] = floored + (uneven & ((dividend < 0) != (divisors < 0)))
    return result


def default_normalize(scores: NDArray[np.int64], highest: int, *, reverse: bool) -> NDArray[np.int64]:
    """Scales scores so that the highest becomes 100; ``reverse`` turns them round.

    Rules: docs/semantics/plugins.md#normalising.

    They may be some of a pod's scores; ``highest`` is that of all of them.
    """
    highest = max(highest, 0)
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = quotient(MAX_NODE_SCORE * scores, highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled


def between_bounds(scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
    """Scales scores so that the lowest becomes 0 and the highest 100; all become 0 where they are equal.

    Rules: docs/semantics/catalogue.md#between-bounds.
    """
    spread = (np.int64(highest) - np.int64(lowest)).item() if highest != lowest else 0
    if spread == 0:
        return np.zeros_like(scores, dtype=np.int64)
    return quotient((scores.astype(np.int64) - lowest) * MAX_NODE_SCORE, spread)


def less_is_better(scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
    """Scales costs so that the lowest gets 100 and the highest 0, by way of floating point, as scheduler-plugins does.

    Rules: docs/semantics/catalogue.md#less-is-better.
    """
    if lowest == highest == 0:
        return scores
    costs = (scores - lowest).astype(np.float64)
    if highest != lowest:
        costs = MAX_NODE_SCORE * costs / float(highest - lowest)
    return MAX_NODE_SCORE - costs.astype(np.int64)
