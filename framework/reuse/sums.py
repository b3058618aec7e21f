"""Sums: scores that are taken as plugins gave them, weighted and added up by row, for all classes with these columns.

Pods of different workloads that ask for the same have the same scores for what a node has left. They differ in what is
normalised, and that each class adds for itself (``framework.profiles.scores``).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Incremental, Snapshot
from framework.interface.columns import one_row
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.reuse.columns import PlanColumn, Work

MANY: Final = 4
"""All rows are added up when more than one in so many has changed."""
Added = NDArray[Any]
"""int16 where that is enough, else int64: passes over a quarter of the bytes take a quarter of the time."""


TotalsType = type[np.int16] | type[np.int64]


def totals_type(weights: int) -> TotalsType:
    """For scores from 0 to 100 and ``weights``, the sum of all weights without their signs. The lowest number of the
    type is no total: it stands for "not feasible"."""
    return np.int16 if weights * MAX_NODE_SCORE <= np.iinfo(np.int16).max else np.int64


class ScoreSums(Incremental):
    __slots__ = ("__weakref__", "_columns", "_work", "dtype", "in_range", "total")

    def __init__(
        self,
        snapshot: Snapshot,
        work: Work,
        columns: Sequence[tuple[PlanColumn, int]],
        dtype: TotalsType,
    ) -> None:
        """``columns`` with their weights."""
        super().__init__(snapshot.extent, [*map(itemgetter(0), columns)])
        self._columns = columns
        self._work = work
        self.in_range = True
        """Known: no row has a score outside of 0 to 100."""
        self.dtype = dtype
        self.total: Added = np.zeros(0, dtype=dtype)
        """For reading, until the next ``refresh``."""

    def _make_one(self, row: int) -> None:
        total = 0
        for column, weight in self._columns:
            value = column.history.values.item(row)
            if not MIN_NODE_SCORE <= value <= MAX_NODE_SCORE:
                self.in_range = False
                self._make_some(one_row(row))
                return
            total += value * weight
        self.total[row] = total

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        if len(rows) * MANY > len(self.total):
            self._make_all()
            return
        sums: Added = np.zeros(len(rows), dtype=self.dtype)
        for column, weight in self._columns:
            values = column.history.values[rows]
            self._look(int(values.min()), int(values.max()))
            sums += self._weighted(values, weight)
        self.total[rows] = sums

    def _weighted(self, values: NDArray[Any], weight: int) -> Added:
        """Scores out of range wrap if need be; what they add up to is of no use on nodes that are feasible."""
        weighted: Added = values.astype(self.dtype)
        weighted *= weight
        return weighted

    def _make_all(self) -> None:
        rows = self._rows.used
        self.in_range = True
        everywhere = 0
        total: Added | None = None
        for column, weight in self._columns if rows else ():
            values = column.history.values
            low, high = column.history.limits or (int(values.min()), int(values.max()))
            self._look(low, high)
            if low == high:
                everywhere += low * weight
                continue
            self._work.whole += 1
            weighted = self._weighted(values, weight)
            total = weighted if total is None else np.add(total, weighted, out=total)
        if not self.in_range:
            everywhere = 0  # of no use, and perhaps no number of this type
        if total is None:
            total = np.full(rows, everywhere, dtype=self.dtype)
        elif everywhere:
            total += self.dtype(everywhere)
        self.total = total

    def _look(self, low: int, high: int) -> None:
        if low < MIN_NODE_SCORE or high > MAX_NODE_SCORE:
            self.in_range = False
