"""Scores: what the Score plugins give a class of pods on every node, normalised and added up.

Columns are of three kinds. Scores that are taken as they are have their sum by row, shared with other classes
(``Sums``). Scores of states (``StateColumn``) are normalised per state and spread over the rows. What is left is
normalised by row. Adding up 5,000 rows costs less than finding out which of them have changed, so totals are made for
every attempt; what is on record are the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.profiles.plan_column import PlanColumn
from framework.profiles.score_part import Ints, ScorePart
from framework.profiles.state_column import StateColumn
from framework.profiles.sums import Sums
from framework.profiles.verdicts import Verdicts
from framework.profiles.work import Work
from framework.trace.attempt import RecordedScores
from framework.trace.history import History, Mark

NOT_FEASIBLE: Final = -(1 << 62)

MakeSums = Callable[[Sequence[ScorePart]], Sums]
"""The Sums of the columns of these parts."""


class OutOfRange(Exception):
    """A score lies outside of 0 to 100 on a feasible node."""


class Totals(NamedTuple):
    by_row: Ints
    """Without ``everywhere``; NOT_FEASIBLE for nodes that are not. Not to be written to."""
    everywhere: int
    """What all feasible nodes have on top."""


class OfStates:
    """A plugin's scores per state."""

    __slots__ = ("_among", "_limits", "_table", "normalized", "same", "weighted")

    def __init__(self) -> None:
        self._table: Ints | None = None
        self._among: tuple[object, object] | None = None
        self._limits: tuple[int, int] = (0, 0)
        self.normalized: Ints = np.zeros(0, dtype=np.int64)
        self.weighted: Ints = self.normalized
        self.same: int | None = None
        """What all feasible nodes get, weighted; None when they differ."""

    def follow(self, part: ScorePart, verdicts: Verdicts) -> None:
        column = part.column
        assert isinstance(column, StateColumn)
        column.follow()
        if len(column.table) == 1 and verdicts.counts[0]:
            if column.table is not self._table:
                self._one_state(part, column)
            return
        states = column.states
        everywhere = verdicts.counts[0] == len(verdicts.history.values)
        among = (states.occurring(), None) if everywhere else (states.history.mark(), verdicts.feasible)
        known = self._among
        if column.table is self._table and known is not None and known[0] is among[0] and known[1] is among[1]:
            return
        occur = states.occurring()[0] if everywhere else states.among(verdicts.history.values == 0)
        self._among = among
        raw = column.table[occur]
        limits = (int(raw.min()), int(raw.max())) if len(raw) else (0, 0)
        if column.table is not self._table or limits != self._limits:
            self.normalized = column.table
            if part.bounds is not None:
                self.normalized = part.bounds.normalize_between(column.table, *limits)
            self.weighted = self.normalized * np.int64(part.point.weight)
            self._table, self._limits = column.table, limits
        points = self.normalized[occur]
        _check_range(points)
        self.same = int(self.weighted[occur[0]]) if len(occur) and (points == points[0]).all() else None

    def _one_state(self, part: ScorePart, column: StateColumn) -> None:
        """All rows are in it."""
        table, bounds = column.table, part.bounds
        known = column.alone
        if known is None or known[0] is not table or known[1] is not bounds:
            raw = table.item(0)
            normalized = table if bounds is None else bounds.normalize_between(table, raw, raw)
            known = column.alone = (table, bounds, normalized)
        self._table, _, self.normalized = known
        points = self.normalized.item(0)
        if not MIN_NODE_SCORE <= points <= MAX_NODE_SCORE:
            raise OutOfRange
        self.same = points * part.point.weight


class ByRow:
    """A plugin's normalised scores by row."""

    __slots__ = ("_limits", "_mark", "history", "same", "weighted")

    def __init__(self) -> None:
        self._limits: tuple[int, int] | None = None
        """Lowest and highest raw score among the feasible nodes."""
        self._mark: Mark | None = None
        self.history = History(np.zeros(0, dtype=np.int8))
        self.weighted: Ints = np.zeros(0, dtype=np.int64)
        self.same: int | None = None
        """As of ``OfStates``."""

    def follow(self, part: ScorePart, verdicts: Verdicts, work: Work) -> None:
        assert isinstance(part.column, PlanColumn)
        assert part.bounds is not None
        mark = part.column.follow().mark()
        limits = _limits(part.column.history, verdicts)
        if mark is self._mark and limits == self._limits:
            return
        self._mark, self._limits = mark, limits
        work.whole += 1
        values = part.bounds.normalize_between(part.column.history.values.astype(np.int64), *limits)
        _check_feasible(values, verdicts)
        self.weighted = values * np.int64(part.point.weight)
        self.same = None
        if limits[0] == limits[1]:
            (value,) = part.bounds.normalize_between(np.array(limits[:1], dtype=np.int64), *limits).tolist()
            self.same = value * part.point.weight
        self.history.update(values.astype(np.int8))


def _limits(history: History, verdicts: Verdicts) -> tuple[int, int]:
    """Lowest and highest of the feasible nodes."""
    raw = history.values
    if verdicts.counts[0] != len(raw):
        raw = raw[verdicts.feasible_rows()]
    elif history.limits is not None:
        return history.limits
    return (int(raw.min()), int(raw.max())) if len(raw) else (0, 0)


class Scores:
    __slots__ = (
        "_by_row",
        "_of_states",
        "_others",
        "_snapshot",
        "_source",
        "_sums",
        "_taken",
        "_verdicts",
        "_work",
        "parts",
    )

    def __init__(
        self, snapshot: Snapshot, work: Work, verdicts: Verdicts, parts: Sequence[ScorePart], make_sums: MakeSums
    ) -> None:
        self._snapshot = snapshot
        self._work = work
        self._verdicts = verdicts
        self._others: dict[tuple[str, str], History] = {}
        self._sort(parts)
        self._sums = make_sums(self._taken)
        self._of_states: list[OfStates | None] = []
        self._by_row: list[ByRow | None] = []
        for part in self.parts:
            by_state = type(part.column) is StateColumn
            self._of_states.append(OfStates() if by_state else None)
            self._by_row.append(None if by_state or part.bounds is None else ByRow())

    def _sort(self, parts: Sequence[ScorePart]) -> None:
        self._source = parts
        self.parts = [part for part in parts if part.follows]
        """Those that can be followed."""
        self._taken = [part for part in self.parts if isinstance(part.column, PlanColumn) and part.bounds is None]

    def is_of(self, verdicts: Verdicts, parts: Sequence[ScorePart]) -> bool:
        if parts is self._source:
            return verdicts is self._verdicts
        parts = [part for part in parts if part.follows]
        return (
            verdicts is self._verdicts
            and len(parts) == len(self.parts)
            and all(
                a.column is b.column and a.point is b.point and a.bounds is b.bounds
                for a, b in zip(parts, self.parts, strict=True)
            )
        )

    def take(self, parts: Sequence[ScorePart]) -> None:
        """The same columns by other plans."""
        if parts is not self._source:
            self._sort(parts)

    def follow(self) -> Totals:
        """Raises OutOfRange, and what kernels raise; these scores are then of no use any more."""
        verdicts = self._verdicts
        total = self._sums.follow(self._taken)
        if not self._sums.in_range:
            for part in self._taken:
                assert isinstance(part.column, PlanColumn)
                _check_feasible(part.column.history.values, verdicts)
        everywhere = 0
        for part, of_states, by_row in zip(self.parts, self._of_states, self._by_row, strict=True):
            if of_states is not None:
                of_states.follow(part, verdicts)
                if of_states.same is not None:
                    everywhere += of_states.same
                else:
                    assert isinstance(part.column, StateColumn)
                    self._work.whole += 1
                    total = total + of_states.weighted.take(part.column.states.history.values)
            elif by_row is not None:
                by_row.follow(part, verdicts, self._work)
                if by_row.same is not None:
                    everywhere += by_row.same
                else:
                    self._work.whole += 1
                    total = total + by_row.weighted
        if verdicts.counts[0] != len(total):
            total = np.where(verdicts.history.values == 0, total, NOT_FEASIBLE)
        return Totals(total, everywhere)

    # --- reading ----------------------------------------------------------------------------------------------------

    def normalized_by_row(self, plugin: str) -> NDArray[Any] | None:
        """None when its raw scores are the scores, or are not followed."""
        for part, of_states, by_row in zip(self.parts, self._of_states, self._by_row, strict=True):
            if part.point.plugin == plugin:
                if of_states is not None:
                    assert isinstance(part.column, StateColumn)
                    return of_states.normalized[part.column.states.history.values]
                return None if by_row is None else by_row.history.values
        return None

    def keep(self, plugin: str, what: str, rows: NDArray[np.intp], values: Ints) -> Mark:
        """Scores that are not followed but given anew each time: on record as what has changed since the last time."""
        history = self._others.get((plugin, what))
        size = self._snapshot.row_count
        if history is None or len(history.values) != size:
            by_row: Ints = np.zeros(size, dtype=np.int64)
            by_row[rows] = values
            history = self._others[plugin, what] = History(by_row)
            return history.mark()
        differs = history.values[rows] != values
        if differs.any():
            changed = rows[differs]
            history.write(changed, values[differs], len(changed))
        return history.mark()

    def recorded(self) -> list[RecordedScores]:
        made = []
        for part, of_states, by_row in zip(self.parts, self._of_states, self._by_row, strict=True):
            point, column = part.point, part.column
            if of_states is not None:
                assert isinstance(column, StateColumn)
                normalized = None if part.bounds is None else of_states.normalized
                made.append(
                    RecordedScores(
                        point.plugin, point.weight, column.states.history.mark(), None, (column.table, normalized)
                    )
                )
            else:
                assert isinstance(column, PlanColumn)
                mark = None if by_row is None else by_row.history.mark()
                made.append(RecordedScores(point.plugin, point.weight, column.history.mark(), mark))
        return made


def _check_feasible(values: NDArray[Any], verdicts: Verdicts) -> None:
    """``values`` are those of all rows."""
    if len(values) and (values.min() < MIN_NODE_SCORE or values.max() > MAX_NODE_SCORE):
        _check_range(values[verdicts.history.values == 0])


def _check_range(values: NDArray[Any]) -> None:
    if len(values) and (values.min() < MIN_NODE_SCORE or values.max() > MAX_NODE_SCORE):
        raise OutOfRange
