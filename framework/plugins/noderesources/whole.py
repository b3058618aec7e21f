"""Scores of nodes that all offer the resources in question, in numbers that float64 holds: what clusters are like.

As ``framework.kernels.amounts``, with fewer passes over the rows: what nodes are without the pod is
kept (``PREPARED``), and whole numbers from 0 to 100 are truncated to one byte at once and reckoned with as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Column
from framework.interface.scores import MAX_NODE_SCORE
from framework.kernels.amounts import PREPARED, Amount, Floats, is_exact

Scores = NDArray[np.int8]
HALF: Final = MAX_NODE_SCORE // 2


def is_whole(column: Column, amounts: Sequence[Amount]) -> bool:
    """Whether the functions here may be asked."""
    return bool(amounts) and all(column.everywhere) and is_exact(column, amounts)


def mean_utilization(column: Column, amounts: Sequence[Amount], *, most: bool) -> Scores:
    """LeastAllocated, or ``most``: MostAllocated. Raises nothing; ``is_whole`` holds."""
    numbers, count = column.worked_out(PREPARED), len(amounts)
    offered = numbers[:count]
    hundredfold = [amount.request * float(MAX_NODE_SCORE) for amount in amounts]
    free = numbers[2 * count + 2 : -1] - np.array(hundredfold).reshape(-1, 1)
    if not all(map(le, hundredfold, column.lowest(PREPARED, slice(2 * count + 2, -1)))):
        np.maximum(free, 0.0, out=free)
    if most:
        np.subtract(offered * MAX_NODE_SCORE, free, out=free)
    # Dividend and divisor are below 2**53: a quotient that is not whole is further from the next whole number than
    # float64 rounds, so truncating gives what Go's integer division gives.
    free /= offered
    scores = free.astype(np.uint8)
    weights = [amount.weight for amount in amounts]
    mean: NDArray[Any] = scores[0]
    if count == 1:
        return mean.view(np.int8)
    if count == 2 and weights[0] == weights[1]:
        mean += scores[1]
        mean >>= 1
        return mean.view(np.int8)
    total: NDArray[np.int64] = np.array(weights, dtype=np.int64) @ scores
    return (total // sum(weights)).astype(np.int8)


def gain_of_two(column: Column, amounts: Sequence[Amount]) -> Scores:
    """How much better balanced the node is with the pod than without: 50 and half of the difference, as Go truncates.

    ``is_whole`` holds, and there are two resources.
    """
    numbers = column.worked_out(PREPARED)
    requests = [float(amount.request) for amount in amounts]
    free = column.lowest(PREPARED, slice(6, -1))
    fractions: Floats = numbers[2:4] + np.array(requests).reshape(-1, 1)
    fractions /= numbers[:2]
    # What scoring counts as used is no less than this.
    if requests[0] * MAX_NODE_SCORE > free[0] or requests[1] * MAX_NODE_SCORE > free[1]:
        np.minimum(fractions, 1.0, out=fractions)
    # 100 x (1 - deviation), the deviation of two numbers being half of their difference: doubling loses nothing.
    after = np.subtract(fractions[0], fractions[1], out=fractions[0])
    np.abs(after, out=after)
    np.subtract(2.0, after, out=after)
    after *= HALF
    # Both are from 50 to 100, so 50 + (50 + after - before) / 2 is no division of a negative number.
    gained: NDArray[Any] = after.astype(np.uint8)
    gained += 3 * HALF
    gained -= numbers[-1].astype(np.uint8)
    gained >>= 1
    return gained.view(np.int8)
