"""Arrays that change a few rows at a time, and still know what they held before.

A column of 5,000 scores of which one has changed since the last attempt is not copied for that attempt: the attempt
keeps a mark, and the array as it was is put together from a whole copy and the steps up to the mark when it is asked
for. The steps are the log of changes, too, by which others follow the array.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import one_row

Array = NDArray[Any]
Rows = NDArray[np.intp]

NARROW: Final = 1 << 7
MOST_STEPS: Final = 1024
"""Steps after which a segment is closed, even when each is one row."""


class Segment:
    """A whole array and steps from there on: (row, value) or (rows, values)."""

    __slots__ = ("_at", "_cursor", "key", "limits", "steps")

    def __init__(self, key: Array, limits: tuple[int, int] | None = None) -> None:
        self.key = key
        """Never written to."""
        self.limits = limits
        """Lowest and highest of ``key``, if that is known."""
        self.steps: list[tuple[Any, Any]] = []
        self._cursor: Array | None = None
        self._at = 0

    def at(self, index: int) -> Array:
        """The array after ``index`` steps, for reading; good until the next call."""
        if index == 0:
            return self.key
        if self._cursor is None or self._at > index:
            self._cursor, self._at = self.key.copy(), 0
        for rows, values in self.steps[self._at : index]:
            self._cursor[rows] = values
        self._at = index
        return self._cursor


def narrowest(low: int, high: int) -> type[np.int8] | type[np.int64]:
    """For numbers from ``low`` to ``high``: most scores and verdict codes need one byte."""
    return np.int8 if low >= -NARROW and high < NARROW else np.int64


EMPTY: Final = Segment(np.zeros(0, dtype=np.int8), (0, 0))
"""Without rows, so it gets no steps."""


class Mark:
    """A history at one moment. Cheap to keep; it holds on to its segment."""

    __slots__ = ("index", "segment")

    def __init__(self, segment: Segment, index: int) -> None:
        self.segment = segment
        self.index = index

    def array(self) -> Array:
        """For reading, and only until another mark of the same history is asked."""
        return self.segment.at(self.index)


class History:
    """``values`` is the array as it is now; it belongs to the history and changes only through it."""

    __slots__ = ("_end", "_first", "_mark", "_room", "_segment", "_shared", "limits", "values", "version")

    def __init__(self, values: Array | None = None) -> None:
        """Takes the array over: signed integers. None: no rows yet."""
        self.version = 0
        """Grows with every step."""
        self._begin(EMPTY if values is None else Segment(values))

    def replace(self, values: Array, limits: tuple[int, int] | None = None) -> None:
        """All rows anew. Takes the array over, but never writes to it: histories may share it.

        ``limits``: its lowest and highest, if known.
        """
        self._begin(Segment(values, limits))

    def fill(self, value: int, rows: int) -> None:
        """``rows`` rows of one number."""
        dtype = np.int8 if -NARROW <= value < NARROW else np.int64
        self._begin(Segment(np.full(rows, value, dtype=dtype), (value, value)))

    def _begin(self, segment: Segment) -> None:
        self.limits = segment.limits
        """Lowest and highest, if that is known."""
        self.version += 1
        self._first = self.version
        """The version with which the segment began."""
        self.values = segment.key
        self._end = 1 << (8 * segment.key.itemsize - 1)
        """Numbers from -_end to below it can be held."""
        self._mark: Mark | None = None
        self._segment = segment
        self._shared = True
        self._room = len(segment.key)

    def mark(self) -> Mark:
        """The same one as long as nothing changes."""
        if self._mark is None:
            self._mark = Mark(self._segment, len(self._segment.steps))
        return self._mark

    def write(self, rows: Any, values: Any, count: int) -> None:
        """``count`` rows (an index and a number, or arrays) get new values."""
        self._mark = self.limits = None
        self._room -= count
        if not (-self._end <= values < self._end if type(values) is int else self._holds(values)):
            self._begin(Segment(self.values.astype(np.int64)))
        if self._shared:
            # The key of the segment is what marks read.
            self.values = self.values.copy()
            self._shared = False
        elif self._room < 0 or len(self._segment.steps) >= MOST_STEPS:
            self._segment = Segment(self.values.copy())
            self.version += 1
            self._first = self.version
            self._room = len(self.values) - count
        self.values[rows] = values
        self._segment.steps.append((rows, values))
        self.version += 1

    def _holds(self, values: Any) -> bool:
        end = self._end
        if not isinstance(values, np.ndarray):
            return bool(-end <= values < end)
        if values.itemsize <= self.values.itemsize or not values.size:
            return True
        return bool(-end <= values.min() and values.max() < end)

    def update(self, values: Array) -> None:
        """All rows get these; only what differs is a step. Takes the array over."""
        if len(values) != len(self.values):
            self.replace(values)
            return
        changed = (self.values != values).nonzero()[0]
        if len(changed) * 2 > len(values):
            self.replace(values)
        elif len(changed):
            self.write(changed, values[changed], len(changed))

    def changed_since(self, version: int) -> Rows | None:
        """The distinct rows of the steps after ``version``, ascending; None when they are no longer known."""
        if version < self._first:
            return None
        steps = self._segment.steps[version - self._first :]
        if len(steps) == 1:
            rows = steps[0][0]
            return rows if isinstance(rows, np.ndarray) else one_row(rows)
        found: set[int] = set()
        for rows, _ in steps:
            if isinstance(rows, np.ndarray):
                found.update(rows.tolist())
            else:
                found.add(rows)
        return np.array(sorted(found), dtype=np.intp)
