"""Sums: scores that are taken as plugins gave them, weighted and added up by row, for all classes with these columns.

Pods of different workloads that ask for the same have the same scores for what a node has left. They differ in what is
normalised, and that each class adds for itself (``framework.profiles.scores``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.profiles.plan_column import PlanColumn
from framework.profiles.score_part import ScorePart
from framework.profiles.verdicts import rows_of
from framework.profiles.work import Work
from framework.trace.history import Mark, steps_since

MANY: Final = 4
"""All rows are added up when more than one in so many has changed."""
Added = NDArray[Any]
"""int16 where that is enough, else int64: passes over a quarter of the bytes take a quarter of the time."""


def totals_type(weights: int) -> type[np.int16] | type[np.int64]:
    """For scores from 0 to 100 and ``weights``, the sum of all weights without their signs. The lowest number of the
    type is no total: it stands for "not feasible"."""
    return np.int16 if weights * MAX_NODE_SCORE <= np.iinfo(np.int16).max else np.int64


class Sums:
    __slots__ = ("__weakref__", "_marks", "_snapshot", "_work", "dtype", "in_range", "total")

    def __init__(
        self, snapshot: Snapshot, work: Work, parts: int, dtype: type[np.int16] | type[np.int64] = np.int64
    ) -> None:
        self._snapshot = snapshot
        self._work = work
        self._marks: list[Mark | None] = [None] * parts
        self.in_range = True
        """Known: no row has a score outside of 0 to 100."""
        self.dtype = dtype
        self.total: Added = np.zeros(0, dtype=dtype)

    def follow(self, parts: Sequence[ScorePart]) -> Added:
        """Σ weight x score of ``parts``, always those of the same columns. For reading, until the next call."""
        # Σ is only made of columns of plans (``framework.profiles.scores``).
        columns: list[Any] = [part.column for part in parts]
        histories = [column.follow() for column in columns]
        steps = steps_since(histories, self._marks)
        full = steps is None or len(self.total) != self._snapshot.row_count
        if steps and not full:
            if len(steps) == 1 and not isinstance(steps[0][0], np.ndarray):
                self._one(parts, steps[0][0])
                return self.total
            rows = rows_of(steps)
            if len(rows) == 1:
                self._one(parts, int(rows[0]))
            elif len(rows) * MANY > len(self.total):
                full = True
            else:
                self._some(parts, rows)
        if full:
            self._anew(parts)
        return self.total

    def _one(self, parts: Sequence[ScorePart], row: int) -> None:
        total = 0
        for part in parts:
            assert isinstance(part.column, PlanColumn)
            value = part.column.history.values.item(row)
            if not MIN_NODE_SCORE <= value <= MAX_NODE_SCORE:
                self.in_range = False
                self._some(parts, np.array([row], dtype=np.intp))
                return
            total += value * part.point.weight
        self.total[row] = total

    def _some(self, parts: Sequence[ScorePart], rows: NDArray[np.intp]) -> None:
        sums: Added = np.zeros(len(rows), dtype=self.dtype)
        for part in parts:
            assert isinstance(part.column, PlanColumn)
            values = part.column.history.values[rows]
            self._look(int(values.min()), int(values.max()))
            sums += self._weighted(values, part.point.weight)
        self.total[rows] = sums

    def _weighted(self, values: NDArray[Any], weight: int) -> Added:
        """Scores out of range wrap if need be; what they add up to is of no use on nodes that are feasible."""
        weighted: Added = values.astype(self.dtype)
        weighted *= weight
        return weighted

    def _anew(self, parts: Sequence[ScorePart]) -> None:
        rows = self._snapshot.row_count
        self.in_range = True
        everywhere = 0
        total: Added | None = None
        for part in parts if rows else ():
            column, weight = part.column, part.point.weight
            assert isinstance(column, PlanColumn)
            values = column.history.values
            self._look(*(column.history.limits or (int(values.min()), int(values.max()))))
            if column.is_constant:
                everywhere += int(values[0]) * weight
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
