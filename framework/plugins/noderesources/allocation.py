"""Requested against allocatable per configured resource, and the strategies that score it (spec: plugins-intree §2).

All arithmetic is Go's int64: it wraps, and divisions truncate toward zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Column
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects.resources import CPU, MEMORY, is_scalar_resource_name

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FULL_UTILIZATION: Final = 100


@dataclass(frozen=True, slots=True)
class Amount:
    """One configured resource with what the pod asks of it."""

    resource: str
    weight: int
    request: int

    @property
    def is_scored(self) -> bool:
        """Scalars that the pod does not ask for are left out."""
        return self.request != 0 or not is_scalar_resource_name(self.resource)


@dataclass(frozen=True, slots=True)
class Share:
    """One scored resource over the rows; ``present`` is where the node offers any of it."""

    weight: int
    present: NDArray[np.bool_]
    allocatable: Ints
    allocated: Ints
    requested: Ints


def shares(column: Column, amounts: Sequence[Amount], *, non_zero: bool) -> list[Share]:
    """``non_zero``: count pods without cpu or memory requests with upstream's defaults."""
    result = []
    for amount, allocatable, own in zip(amounts, column.allocatable, column.requested, strict=True):
        allocated = own
        if non_zero and amount.resource == CPU:
            allocated = column.non_zero_cpu
        elif non_zero and amount.resource == MEMORY:
            allocated = column.non_zero_memory
        result.append(Share(amount.weight, allocatable != 0, allocatable, allocated, allocated + amount.request))
    return result


def row_count(column: Column) -> int:
    return len(column.pods)


def _divisor(share: Share) -> Ints:
    return np.where(share.present, share.allocatable, 1)


def least_allocated(share: Share) -> Ints:
    free = quotient((share.allocatable - share.requested) * MAX_NODE_SCORE, _divisor(share))
    return np.where(share.requested > share.allocatable, 0, free)


def most_allocated(share: Share) -> Ints:
    used = np.minimum(share.requested, share.allocatable)
    return quotient(used * MAX_NODE_SCORE, _divisor(share))


def weighted_mean(resources: Sequence[Share], score: Callable[[Share], Ints], rows: int) -> Ints:
    total = np.zeros(rows, dtype=np.int64)
    weights = np.zeros(rows, dtype=np.int64)
    for share in resources:
        total += np.where(share.present, score(share) * share.weight, 0)
        weights += np.where(share.present, share.weight, 0)
    return np.where(weights == 0, 0, quotient(total, np.where(weights == 0, 1, weights)))


def broken_linear(shape: Sequence[tuple[int, int]], p: Ints) -> Ints:
    """Straight lines through the (utilization, score) points; flat before the first and after the last."""
    result = np.full(len(p), shape[-1][1], dtype=np.int64)
    for i in range(len(shape) - 1, 0, -1):
        (u0, s0), (u1, s1) = shape[i - 1], shape[i]
        result = np.where(p <= u1, s0 + quotient((s1 - s0) * (p - u0), u1 - u0), result)
    return np.where(p <= shape[0][0], shape[0][1], result)


def ratio_score(resources: Sequence[Share], shape: Sequence[tuple[int, int]], rows: int) -> Ints:
    """RequestedToCapacityRatio: resources that score 0 do not count, and the mean is rounded."""
    total = np.zeros(rows, dtype=np.int64)
    weights = np.zeros(rows, dtype=np.int64)
    for share in resources:
        part = quotient(share.requested * FULL_UTILIZATION, _divisor(share))
        utilization = np.where(share.requested > share.allocatable, FULL_UTILIZATION, part)
        score = broken_linear(shape, utilization)
        counts = share.present & (score > 0)
        total += np.where(counts, score * share.weight, 0)
        weights += np.where(counts, share.weight, 0)
    mean = total.astype(np.float64) / np.where(weights == 0, 1, weights).astype(np.float64)
    return np.where(weights == 0, 0, round_half_away(mean))


def round_half_away(values: Floats) -> Ints:
    """Go's math.Round."""
    whole = np.trunc(values)
    return (whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)).astype(np.int64)


def balance(resources: Sequence[Share], *, with_pod: bool, rows: int) -> Ints:
    """100 × (1 − standard deviation of the utilizations), truncated. One resource or none is perfectly balanced."""
    fractions = [_fraction(share, with_pod) for share in resources]
    if len(resources) == 2 and all(share.present.all() for share in resources):
        return _balanced(np.abs((fractions[0] - fractions[1]) / 2))
    count = np.zeros(rows, dtype=np.int64)
    total = np.zeros(rows, dtype=np.float64)
    pair = (np.zeros(rows, dtype=np.float64), np.zeros(rows, dtype=np.float64))
    for share, fraction in zip(resources, fractions, strict=True):
        for i, place in enumerate(pair):
            np.copyto(place, fraction, where=share.present & (count == i))
        count += share.present
        total += fraction  # adding 0.0 where there is none changes nothing
    deviation = np.where(count == 2, np.abs((pair[0] - pair[1]) / 2), 0.0)
    many = count > 2
    if many.any():
        size = np.where(many, count, 1).astype(np.float64)
        mean = total / size
        squares = np.zeros(rows, dtype=np.float64)
        for share, fraction in zip(resources, fractions, strict=True):
            squares += np.where(share.present, (fraction - mean) * (fraction - mean), 0.0)
        deviation = np.where(many, np.sqrt(squares / size), deviation)
    return _balanced(deviation)


def _fraction(share: Share, with_pod: bool) -> Floats:
    amount = share.requested if with_pod else share.allocated
    fraction = np.minimum(amount / _divisor(share), 1.0)  # int64 / int64 divides as float64
    return np.where(share.present, fraction, 0.0)


def _balanced(deviation: Floats) -> Ints:
    return ((1.0 - deviation) * MAX_NODE_SCORE).astype(np.int64)
