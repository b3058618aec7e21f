"""Scores: what the Score plugins give a class of pods on every node, normalised and added up.

Follows the columns of the plugins and the class's verdicts. A score is normalised again where it has changed, or
everywhere when the lowest or highest among the feasible nodes is another; totals follow. Nodes that are not feasible
hold any numbers, and a total below all that can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.profiles.score_part import Ints, ScorePart
from framework.profiles.verdicts import Verdicts, rows_of
from framework.profiles.work import Work
from framework.trace.attempt import RecordedScores
from framework.trace.history import History, Mark

NOT_FEASIBLE: Final = -(1 << 62)
"""Far enough down that normalising again, which moves every total, never brings it back."""


Steps = list[tuple[Any, Any]]


class OutOfRange(Exception):
    """A score lies outside of 0 to 100 on a feasible node."""


class Normalized:
    """A plugin's scores between 0 and 100 by row."""

    __slots__ = ("history", "limits")

    def __init__(self) -> None:
        self.limits: tuple[int, int] | None = None
        """Lowest and highest raw score among the feasible nodes."""
        self.history = History(np.zeros(0, dtype=np.int8))


class Scores:
    __slots__ = (
        "_feasible",
        "_marks",
        "_others",
        "_snapshot",
        "_source",
        "_verdict_mark",
        "_verdicts",
        "_work",
        "normalized",
        "parts",
        "total",
    )

    def __init__(self, snapshot: Snapshot, work: Work, verdicts: Verdicts, parts: Sequence[ScorePart]) -> None:
        self._snapshot = snapshot
        self._work = work
        self._verdicts = verdicts
        self._verdict_mark: Mark | None = None
        self._feasible: object = None
        self._source = parts
        self.parts = [part for part in parts if part.follows]
        """Those that can be followed."""
        parts = self.parts
        self._marks: list[Mark | None] = [None] * len(parts)
        self.normalized = [None if part.bounds is None else Normalized() for part in parts]
        self.total: Ints = np.zeros(0, dtype=np.int64)
        self._others: dict[tuple[str, str], History] = {}

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
            self._source = parts
            self.parts = [part for part in parts if part.follows]

    # --- following --------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Raises OutOfRange, and what kernels raise; these scores are then of no use any more."""
        verdicts = self._verdicts
        steps = verdicts.history.since(self._verdict_mark)
        full = steps is None
        changed: list[Steps] = [[] for _ in self.parts]
        for k, part in enumerate(self.parts):
            assert part.column is not None
            assert part.plan is not None
            history = part.column.follow(part.plan)
            since = history.since(self._marks[k])
            if since is None:
                full = True
            elif since:
                changed[k] = since
            else:
                continue
            self._marks[k] = history.mark()
        self._verdict_mark = verdicts.history.mark()
        if full:
            self._anew()
        elif steps or any(changed):
            self._some(list(steps or ()), changed)

    def _anew(self) -> None:
        verdict = self._verdicts.history.values
        rows = len(verdict)
        base = 0
        """What all rows have in common."""
        total: Ints | None = None
        for part, mine in zip(self.parts, self.normalized, strict=True):
            column, weight = part.column, part.point.weight
            assert column is not None
            if column.is_constant and rows:
                base += self._constant(part, mine) * weight
                continue
            self._work.whole += 1
            if mine is None:
                values = column.history.values
                self._check(values, column.history.limits)
            else:
                mine.limits = self._limits(part)
                values = self._normalize(part, mine)
            points = values.astype(np.int64)
            if weight != 1:
                points *= weight
            total = points if total is None else np.add(total, points, out=total)
        if total is None:
            total = np.full(rows, base, dtype=np.int64)
        elif base:
            total += base
        if self._verdicts.counts[0] != rows:
            total[verdict != 0] = NOT_FEASIBLE
        self.total = total
        self._feasible = self._verdicts.feasible

    def _constant(self, part: ScorePart, mine: Normalized | None) -> int:
        """The score that all nodes have."""
        assert part.column is not None
        raw = part.column.history.values
        if mine is None:
            value = int(raw[0])
        else:
            assert part.bounds is not None
            mine.limits = self._limits(part)
            value = int(part.bounds.normalize_between(raw[:1].astype(np.int64), *mine.limits)[0])
            mine.history.fill(value, len(raw))
        if not MIN_NODE_SCORE <= value <= MAX_NODE_SCORE:
            raise OutOfRange
        return value

    def _some(self, steps: Steps, changed: Sequence[Steps]) -> None:
        """``steps`` of the verdicts, ``changed`` of each part's raw scores."""
        moved = self._verdicts.feasible is not self._feasible
        self._feasible = self._verdicts.feasible
        for part, mine, of_part in zip(self.parts, self.normalized, changed, strict=True):
            if mine is None:
                steps += of_part
            elif of_part or moved:
                limits = self._limits(part)
                if limits == mine.limits:
                    self._normalize_some(part, mine, limits, of_part)
                    steps += of_part
                    continue
                mine.limits = limits
                before = mine.history.values
                self._normalize(part, mine)
                self._work.whole += 1
                difference = mine.history.values.astype(np.int16) - before
                self.total += np.multiply(difference, part.point.weight, dtype=np.int64)
        if len(steps) == 1 and not isinstance(steps[0][0], np.ndarray):
            self._add_up_one(steps[0][0])
        elif steps:
            rows = rows_of(steps)
            if len(rows) == 1:
                self._add_up_one(int(rows[0]))
            elif len(rows):
                self._add_up(rows)

    def _normalize_some(self, part: ScorePart, mine: Normalized, limits: tuple[int, int], steps: Steps) -> None:
        if not steps:
            return
        assert part.column is not None
        assert part.bounds is not None
        rows = rows_of(steps)
        values = part.bounds.normalize_between(part.column.history.values[rows].astype(np.int64), *limits)
        _check_range(values[self._verdicts.history.values[rows] == 0])
        mine.history.write(rows, values.astype(np.int8), len(rows))

    def _add_up_one(self, row: int) -> None:
        if self._verdicts.history.values[row] != 0:
            self.total[row] = NOT_FEASIBLE
            return
        total = 0
        for part, mine in zip(self.parts, self.normalized, strict=True):
            assert part.column is not None
            if mine is not None:
                total += int(mine.history.values[row]) * part.point.weight
                continue
            value = int(part.column.history.values[row])
            if not MIN_NODE_SCORE <= value <= MAX_NODE_SCORE:
                raise OutOfRange
            total += value * part.point.weight
        self.total[row] = total

    def _add_up(self, rows: NDArray[np.intp]) -> None:
        feasible = self._verdicts.history.values[rows] == 0
        sums: Ints = np.zeros(len(rows), dtype=np.int64)
        for part, mine in zip(self.parts, self.normalized, strict=True):
            assert part.column is not None
            values = (part.column.history if mine is None else mine.history).values[rows]
            if mine is None:
                _check_range(values[feasible])
            sums += np.multiply(values, part.point.weight, dtype=np.int64)
        sums[~feasible] = NOT_FEASIBLE
        self.total[rows] = sums

    def _limits(self, part: ScorePart) -> tuple[int, int]:
        """Lowest and highest raw score among the feasible nodes."""
        column = part.column
        assert column is not None
        raw = column.history.values
        if column.is_constant and len(raw):
            return int(raw[0]), int(raw[0])
        if column.by_code is not None and column.axis is not None:
            raw = column.by_code[self._verdicts.codes_among_feasible(column.axis)]
        elif self._verdicts.counts[0] != len(raw):
            raw = raw[self._verdicts.feasible_rows()]
        elif column.history.limits is not None:
            return column.history.limits
        return (int(raw.min()), int(raw.max())) if len(raw) else (0, 0)

    def _normalize(self, part: ScorePart, mine: Normalized) -> NDArray[Any]:
        """All rows anew, by ``mine.limits``."""
        column, bounds, limits = part.column, part.bounds, mine.limits
        assert column is not None
        assert bounds is not None
        assert limits is not None
        if column.by_code is not None and column.axis is not None:
            table = bounds.normalize_between(column.by_code, *limits)
            _check_range(table[self._verdicts.codes_among_feasible(column.axis)])
            mine.history.replace(table.astype(np.int8).take(column.axis.codes))
        else:
            values = bounds.normalize_between(column.history.values.astype(np.int64), *limits)
            self._check(values, None)
            mine.history.replace(values.astype(np.int8))
        return mine.history.values

    def _check(self, values: NDArray[Any], limits: tuple[int, int] | None) -> None:
        """``values`` of all rows; ``limits``: their lowest and highest, if known."""
        if not len(values):
            return
        low, high = limits or (values.min(), values.max())
        if low < MIN_NODE_SCORE or high > MAX_NODE_SCORE:
            _check_range(values[self._verdicts.history.values == 0])

    # --- reading ----------------------------------------------------------------------------------------------------

    def normalized_of(self, plugin: str) -> Normalized | None:
        """None when its raw scores are the scores."""
        found = (mine for part, mine in zip(self.parts, self.normalized, strict=True) if part.point.plugin == plugin)
        return next(found, None)

    def keep(self, plugin: str, what: str, rows: NDArray[np.intp], values: Ints) -> Mark:
        """Scores that are not followed but given anew each time: on record as what has changed since the last time."""
        history = self._others.get((plugin, what))
        if history is None or len(history.values) != len(self.total):
            by_row: Ints = np.zeros(len(self.total), dtype=np.int64)
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
        for part, mine in zip(self.parts, self.normalized, strict=True):
            assert part.column is not None
            normalized = None if mine is None else mine.history.mark()
            made.append(RecordedScores(part.point.plugin, part.point.weight, part.column.history.mark(), normalized))
        return made


def _check_range(values: NDArray[Any]) -> None:
    if len(values) and (values.min() < MIN_NODE_SCORE or values.max() > MAX_NODE_SCORE):
        raise OutOfRange
