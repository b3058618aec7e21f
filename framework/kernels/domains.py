"""Scores of PodTopologySpread before they are normalised: over many rows, and row by row.

Rules: docs/semantics/plugins.md#podtopologyspread.
"""

from __future__ import annotations

from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import ABSENT, DomainCounts


class Credit(NamedTuple):
    """``per_node`` (hostname): counts come per row instead of per domain."""

    per_node: bool
    weight: float
    extra: int


def scores_of(credits: tuple[Credit, ...], require_all: bool, *gathered: Any) -> NDArray[np.int64]:
    inputs = iter(gathered)
    total: NDArray[np.float64] | None = None
    lacking: NDArray[np.bool_] | None = None
    for credit in credits:
        if credit.per_node:
            here: NDArray[np.bool_] = next(inputs)
            number: NDArray[np.int64] = next(inputs)
        else:
            counts: DomainCounts = next(inputs)
            here = counts.codes >= 0
            number = counts.table[counts.codes]
        share: NDArray[np.float64] = number.astype(np.float64) * credit.weight + float(credit.extra)
        if not here.all():
            share[~here] = 0.0
            lacking = ~here if lacking is None else lacking | ~here
        total = share if total is None else total + share
    assert total is not None
    scores = _rounded(total)
    if require_all and lacking is not None:
        scores[lacking] = 0
    return scores


def scores_of_few(credits: tuple[Credit, ...], require_all: bool, *gathered: Any) -> NDArray[np.int64]:
    """The same row by row."""
    inputs = iter(gathered)
    totals: list[float] = []
    lacking: set[int] = set()
    for credit in credits:
        if credit.per_node:
            codes = [0 if is_here else ABSENT for is_here in next(inputs).tolist()]
            numbers = next(inputs).tolist()
        else:
            counts: DomainCounts = next(inputs)
            codes = counts.codes.tolist()
            numbers = counts.table.take(counts.codes).tolist()
        weight, extra = credit.weight, float(credit.extra)
        shares = [number * weight + extra for number in numbers]
        if codes and min(codes) < 0:
            for row, code in enumerate(codes):
                if code < 0:
                    lacking.add(row)
                    shares[row] = 0.0
        totals = list(map(add, totals, shares)) if totals else shares
    # Go's math.Round: half away from zero, and nothing is negative.
    scores = [int(total) + (total - int(total) >= 0.5) for total in totals]
    if require_all:
        for row in lacking:
            scores[row] = 0
    return np.array(scores, dtype=np.int64)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Go's math.Round of values that are not negative: half away from zero."""
    whole = np.trunc(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)
