"""Requested against allocatable per configured resource, and the strategies that score it.

Rules: docs/semantics/plugins.md#noderesourcesfit.

All arithmetic is Go's int64: it wraps, and divisions truncate toward zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface import Column, WorkOut
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects.resources import CPU, MEMORY, is_scalar_resource_name

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = NDArray[Any]
"""Either."""

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


def scored_of(amounts: tuple[Amount, ...]) -> tuple[Amount, ...]:
    for amount in amounts:
        if not amount.is_scored:
            return tuple(each for each in amounts if each.is_scored)
    return amounts


class Share(NamedTuple):
    """One scored resource over the rows."""

    weight: int
    present: NDArray[np.bool_] | None
    """Where the node offers any of it; None: everywhere."""
    allocatable: Numbers
    requested: Numbers
    """With the pod."""
    exact: bool
    """No number is negative or above EXACT, so that quotients may be worked out as float64, which these are then."""


def is_exact(column: Column, amounts: Sequence[Amount]) -> bool:
    """Whether what is offered, used and asked for can be reckoned with as float64."""
    if column.largest is None or column.largest > EXACT:
        return False
    return all([0 <= amount.request <= EXACT for amount in amounts])  # noqa: C419 (half of the time)


def shares(column: Column, amounts: Sequence[Amount], *, non_zero: bool) -> list[Share]:
    """``non_zero``: count pods without cpu or memory requests with upstream's defaults."""
    exact = is_exact(column, amounts)
    numbers: Sequence[Numbers] | Floats = column.worked_out(PREPARED) if exact else _in_order(column)
    result = []
    count = len(column.resources)
    for i, (resource, weight, request) in enumerate(amounts):
        requested = count + i
        if non_zero and resource == CPU:
            requested = 2 * count
        elif non_zero and resource == MEMORY:
            requested = 2 * count + 1
        present = None if column.everywhere[i] else numbers[i] != 0
        result.append(Share(weight, present, numbers[i], numbers[requested] + request, exact))
    return result


def balance_before(column: Column) -> Floats:
    """``balance`` of the nodes without the pod. Not to be written to."""
    before: Floats = column.worked_out(PREPARED)[-1]
    return before


def _in_order(column: Column) -> tuple[Ints, ...]:
    return (*column.allocatable, *column.requested, column.non_zero_cpu, column.non_zero_memory)


def _prepared(column: Column) -> Floats:
    """``_in_order`` as float64, a hundred times what scoring counts as free per resource, and last ``balance`` of the
    nodes as they are."""
    count = len(column.resources)
    counted = [_counted(column, i) for i in range(count)]
    numbers = np.array((*_in_order(column), *counted, column.pods), dtype=np.float64)
    free = numbers[2 * count + 2 : -1]
    np.subtract(numbers[:count], free, out=free)
    free *= MAX_NODE_SCORE
    as_they_are = [
        Share(1, None if column.everywhere[i] else numbers[i] != 0, numbers[i], numbers[count + i], exact=True)
        for i in range(count)
    ]
    numbers[-1] = balance(as_they_are, row_count(column))
    return numbers


def _counted(column: Column, number: int) -> Ints:
    """What pods use of a resource as scoring counts it."""
    resource = column.resources[number]
    if resource == CPU:
        return column.non_zero_cpu
    return column.non_zero_memory if resource == MEMORY else column.requested[number]


def _prepared_of_row(column: Column) -> Floats:
    numbers = [float(each.item()) for each in _in_order(column)]
    count = len(column.resources)
    pairs = list(zip(numbers[count : 2 * count], numbers, strict=False))
    free = [(numbers[i] - float(_counted(column, i).item())) * MAX_NODE_SCORE for i in range(count)]
    return np.array((*numbers, *free, balance_of(pairs)), dtype=np.float64).reshape(-1, 1)


PREPARED: Final = WorkOut(_prepared, _prepared_of_row)


def _free(column: Column) -> NDArray[np.int64]:
    """What is left of each resource, and last 1 where there is room for a pod more, else 0."""
    found = np.empty((len(column.resources) + 1, row_count(column)), dtype=np.int64)
    for i, allocatable in enumerate(column.allocatable):
        np.subtract(allocatable, column.requested[i], out=found[i])
    np.less(column.pods, column.allowed_pods, out=found[-1])
    return found


def _free_of_row(column: Column) -> NDArray[np.int64]:
    if column.largest is None:  # differences may wrap
        return _free(column)
    free = [a.item() - b.item() for a, b in zip(column.allocatable, column.requested, strict=True)]
    return np.array([*free, column.pods.item() < column.allowed_pods.item()], dtype=np.int64).reshape(-1, 1)


FREE: Final = WorkOut(_free, _free_of_row)


def balance_of(pairs: Sequence[tuple[float, float]]) -> int:
    """``balance`` of one node: (requested, allocatable) per resource."""
    fractions = [min(requested / allocatable, 1.0) for requested, allocatable in pairs if allocatable]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = squares = 0.0  # sum() may be more precise than Go
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        deviation = math.sqrt(squares / len(fractions))
    return int((1.0 - deviation) * MAX_NODE_SCORE)


def row_count(column: Column) -> int:
    return len(column.pods)


def _divisor(share: Share) -> Numbers:
    return share.allocatable if share.present is None else np.where(share.present, share.allocatable, 1)


def _hundredths(amount: Numbers, share: Share) -> Numbers:
    """``amount`` of what is allocatable, from 0 to 100 and truncated, in whole numbers. Takes the array over."""
    amount *= MAX_NODE_SCORE
    if not share.exact:
        return quotient(amount, _divisor(share))
    # Dividend and divisor are below 2**53: a quotient that is not whole is further from the next whole number than
    # float64 rounds, so truncating gives what Go's integer division gives.
    amount /= _divisor(share)
    return np.trunc(amount, out=amount)


def least_allocated(share: Share) -> Numbers:
    free = share.allocatable - share.requested
    if share.exact:
        return _hundredths(np.maximum(free, 0, out=free), share)
    return np.where(share.requested > share.allocatable, 0, _hundredths(free, share))


def most_allocated(share: Share) -> Numbers:
    return _hundredths(np.minimum(share.requested, share.allocatable), share)


def weighted_mean(resources: Sequence[Share], score: Callable[[Share], Numbers], rows: int) -> Ints:
    total = np.zeros(rows, dtype=np.int64)
    weights = np.zeros(rows, dtype=np.int64)
    for share in resources:
        part = score(share).astype(np.int64, copy=False) * share.weight
        total += part if share.present is None else np.where(share.present, part, 0)
        weights += share.weight if share.present is None else np.where(share.present, share.weight, 0)
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
        requested: Ints = share.requested.astype(np.int64, copy=False)
        part = quotient(requested * FULL_UTILIZATION, _divisor(share).astype(np.int64, copy=False))
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


def balance(resources: Sequence[Share], rows: int) -> Floats:
    """100 × (1 − standard deviation of the utilizations), truncated. One resource or none is perfectly balanced."""
    fractions = [_fraction(share) for share in resources]
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


def _fraction(share: Share) -> Floats:
    fraction: Floats = np.divide(share.requested, _divisor(share))  # int64 / int64 divides as float64
    if len(fraction) and np.maximum.reduce(fraction) > 1.0:
        np.minimum(fraction, 1.0, out=fraction)
    return fraction if share.present is None else np.where(share.present, fraction, 0.0)


def _balanced(deviation: Floats) -> Floats:
    """Takes the array over."""
    np.subtract(1.0, deviation, out=deviation)
    deviation *= MAX_NODE_SCORE
    return np.trunc(deviation, out=deviation)
