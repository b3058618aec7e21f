"""Requested against allocatable per configured resource, and the strategies that score it (spec: plugins-intree §2).

All arithmetic is Go's int64: it wraps, and divisions truncate toward zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface import Column
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects.resources import CPU, MEMORY, is_scalar_resource_name

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FULL_UTILIZATION: Final = 100
EXACT: Final = 1 << 45
"""Twice as much, times MAX_NODE_SCORE, is still below 2**53: float64 holds every whole number up to there."""


class Amount(NamedTuple):
    """One configured resource with what the pod asks of it."""

    resource: str
    weight: int
    request: int

    @property
    def is_scored(self) -> bool:
        """Scalars that the pod does not ask for are left out."""
        return self.request != 0 or not is_scalar_resource_name(self.resource)


class Share(NamedTuple):
    """One scored resource over the rows."""

    weight: int
    present: NDArray[np.bool_] | None
    """Where the node offers any of it; None: everywhere."""
    allocatable: Ints
    allocated: Ints
    requested: Ints
    exact: bool
    """No number is negative or above EXACT, so that quotients may be worked out as float64."""


def shares(column: Column, amounts: Sequence[Amount], *, non_zero: bool) -> list[Share]:
    """``non_zero``: count pods without cpu or memory requests with upstream's defaults."""
    result = []
    exact = column.largest is not None and column.largest <= EXACT
    for i, amount in enumerate(amounts):
        allocatable, allocated = column.allocatable[i], column.requested[i]
        if non_zero and amount.resource == CPU:
            allocated = column.non_zero_cpu
        elif non_zero and amount.resource == MEMORY:
            allocated = column.non_zero_memory
        present = None if column.everywhere[i] else allocatable != 0
        requested = allocated + amount.request
        is_exact = exact and 0 <= amount.request <= EXACT
        result.append(Share(amount.weight, present, allocatable, allocated, requested, is_exact))
    return result


def row_count(column: Column) -> int:
    return len(column.pods)


def _divisor(share: Share) -> Ints:
    return share.allocatable if share.present is None else np.where(share.present, share.allocatable, 1)


def _hundredths(amount: Ints, share: Share) -> Ints | Floats:
    """``amount`` of what is allocatable, from 0 to 100 and truncated, in whole numbers."""
    if not share.exact:
        return quotient(amount * MAX_NODE_SCORE, _divisor(share))
    # Dividend and divisor are below 2**53: a quotient that is not whole is further from the next whole number than
    # float64 rounds, so truncating gives what Go's integer division gives.
    part: Floats = np.divide(amount * MAX_NODE_SCORE, _divisor(share))
    return np.trunc(part, out=part)


def least_allocated(share: Share) -> Ints | Floats:
    free = share.allocatable - share.requested
    if share.exact:
        return _hundredths(np.maximum(free, 0, out=free), share)
    return np.where(share.requested > share.allocatable, 0, _hundredths(free, share))


def most_allocated(share: Share) -> Ints | Floats:
    return _hundredths(np.minimum(share.requested, share.allocatable), share)


def weighted_mean(
    resources: Sequence[Share], score: Callable[[Share], Ints | Floats], rows: int
) -> NDArray[np.int64 | np.int8]:
    if resources and all(share.exact and share.present is None for share in resources):
        return _exact_mean(resources, score)
    total = np.zeros(rows, dtype=np.int64)
    weights = np.zeros(rows, dtype=np.int64)
    for share in resources:
        part = score(share).astype(np.int64, copy=False) * share.weight
        total += part if share.present is None else np.where(share.present, part, 0)
        weights += share.weight if share.present is None else np.where(share.present, share.weight, 0)
    return np.where(weights == 0, 0, quotient(total, np.where(weights == 0, 1, weights)))


def _exact_mean(resources: Sequence[Share], score: Callable[[Share], Ints | Floats]) -> NDArray[np.int8]:
    """All nodes offer all of it, and every score is a whole number from 0 to 100."""
    weights = 0
    total: Ints | Floats | None = None
    for share in resources:
        part = score(share)
        if share.weight != 1:
            part *= share.weight
        total = part if total is None else np.add(total, part, out=total)
        weights += share.weight
    assert total is not None
    if weights != 1:
        total = np.trunc(np.divide(total, weights, out=total), out=total)
    return total.astype(np.int8)


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
        counts = score > 0
        if share.present is not None:
            counts &= share.present
        total += np.where(counts, score * share.weight, 0)
        weights += np.where(counts, share.weight, 0)
    mean = total.astype(np.float64) / np.where(weights == 0, 1, weights).astype(np.float64)
    return np.where(weights == 0, 0, round_half_away(mean))


def round_half_away(values: Floats) -> Ints:
    """Go's math.Round."""
    whole = np.trunc(values)
    return (whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)).astype(np.int64)


def balance(resources: Sequence[Share], *, with_pod: bool, rows: int) -> Floats:
    """100 × (1 − standard deviation of the utilizations), truncated. One resource or none is perfectly balanced."""
    fractions = [_fraction(share, with_pod) for share in resources]
    if len(resources) == 2 and resources[0].present is None and resources[1].present is None:
        difference = np.subtract(fractions[0], fractions[1], out=fractions[0])
        difference /= 2
        return _balanced(np.abs(difference, out=difference))
    count = np.zeros(rows, dtype=np.int64)
    total = np.zeros(rows, dtype=np.float64)
    pair = (np.zeros(rows, dtype=np.float64), np.zeros(rows, dtype=np.float64))
    present = [np.ones(rows, dtype=np.bool_) if share.present is None else share.present for share in resources]
    for here, fraction in zip(present, fractions, strict=True):
        for i, place in enumerate(pair):
            np.copyto(place, fraction, where=here & (count == i))
        count += here
        total += fraction  # adding 0.0 where there is none changes nothing
    deviation = np.where(count == 2, np.abs((pair[0] - pair[1]) / 2), 0.0)
    many = count > 2
    if many.any():
        size = np.where(many, count, 1).astype(np.float64)
        mean = total / size
        squares = np.zeros(rows, dtype=np.float64)
        for here, fraction in zip(present, fractions, strict=True):
            squares += np.where(here, (fraction - mean) * (fraction - mean), 0.0)
        deviation = np.where(many, np.sqrt(squares / size), deviation)
    return _balanced(deviation)


def _fraction(share: Share, with_pod: bool) -> Floats:
    amount = share.requested if with_pod else share.allocated
    fraction: Floats = np.divide(amount, _divisor(share))  # int64 / int64 divides as float64
    if len(fraction) and np.maximum.reduce(fraction) > 1.0:
        np.minimum(fraction, 1.0, out=fraction)
    return fraction if share.present is None else np.where(share.present, fraction, 0.0)


def _balanced(deviation: Floats) -> Floats:
    """Takes the array over."""
    np.subtract(1.0, deviation, out=deviation)
    deviation *= MAX_NODE_SCORE
    return np.trunc(deviation, out=deviation)
