"""The columns of a chunk: arrays that many attempts read, each as it was at some step of its history.

A column is its first state and the steps from there on, so an attempt that changed two of 5,000 scores costs two
numbers. Columns come from the histories the scores were worked out in (``framework.trace.history``), or are put
together here from whole arrays that differ little from one attempt to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.trace.arrays import CONSTANT, LISTED, SHORT, Ints, Packed, pack, pack_list, unpack
from framework.trace.history import Mark, Segment

ColumnState = tuple[int, int]
"""(number of the column, steps after its first state)."""
FEW: Final = 4
"""A step is worth it when it changes at most one in so many rows."""
NOTHING: Final = -1
"""What most members of a ``sparse`` array are."""
CLOSE: Final = 64
"""Rows that may have changed since the beginning of a history for it to be the beginning of its column, too."""


class StoredColumn(msgspec.Struct, array_like=True):
    key: int
    """Number of its first state: columns that begin alike share it."""
    rows: Packed
    """Of all steps, one after the other."""
    values: Packed
    counts: Packed
    """How many rows each step changes."""


class OpenColumn:
    """A column for reading; quick for who reads its steps in ascending order."""

    __slots__ = ("_at", "_ends", "_key", "_now", "_rows", "_values")

    def __init__(self, column: StoredColumn, key: Packed) -> None:
        self._key = key
        self._at = 0
        self._now = unpack(self._key)
        counts = unpack(column.counts)
        self._ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
        self._rows, self._values = unpack(column.rows), unpack(column.values)

    def at(self, steps: int) -> Ints:
        """The array after so many steps: not to be changed, and only until the column is asked again."""
        if steps < self._at:
            self._at, self._now = 0, unpack(self._key)
        if steps > self._at:
            changed = slice(int(self._ends[self._at]), int(self._ends[steps]))
            # Of rows that are there more than once the last one counts.
            self._now[self._rows[changed]] = self._values[changed]
            self._at = steps
        return self._now


class _FromHistory:
    """A part of a segment: from the first step that an attempt of the chunk reads to the last."""

    __slots__ = ("first", "last", "segment")

    def __init__(self, mark: Mark) -> None:
        self.segment: Segment = mark.segment
        self.first = self.last = mark.index
        if mark.index and _changed(self.segment.steps[: mark.index]) <= CLOSE:
            self.first = 0

    def key(self) -> NDArray[Any]:
        return self.segment.at(self.first)

    def packed_key(self) -> Packed:
        return pack(self.key(), None if self.first else self.segment.limits)

    def packed_steps(self) -> tuple[Packed, Packed, Packed]:
        return _packed_steps(self.segment.steps[self.first : self.last])


def _changed(steps: Sequence[tuple[Any, Any]]) -> int:
    """Rows, as often as they were written."""
    return sum(1 if type(row) is int else len(row) for row, _ in steps)


class _FromArrays:
    __slots__ = ("_key", "_now", "few", "steps")

    def __init__(self, key: NDArray[Any], few: Mapping[int, int] | None = None) -> None:
        """``few``: its members that are not NOTHING, if they are few."""
        self._key = self._now = key
        self.few = few
        self.steps: list[tuple[Any, Any]] = []

    @property
    def now(self) -> NDArray[Any]:
        if self.few is not None:
            self._now = filled(len(self._key), self.few)
        return self._now

    def step(self, rows: Any, values: Any, now: NDArray[Any]) -> None:
        """On to the next state."""
        self.steps.append((rows, values))
        self._now, self.few = now, None

    def __len__(self) -> int:
        return len(self._key)

    def key(self) -> NDArray[Any]:
        return self._key

    def packed_key(self) -> Packed:
        return pack(self._key)

    def packed_steps(self) -> tuple[Packed, Packed, Packed]:
        return _packed_steps(self.steps)


def _packed_steps(steps: Sequence[tuple[Any, Any]]) -> tuple[Packed, Packed, Packed]:
    """(rows, values, counts). A step is a row and a number, or arrays of both."""
    if not steps:
        return [LISTED, []], [LISTED, []], [CONSTANT, 1, 0]
    if all(type(row) is int for row, _ in steps):
        rows, values = [row for row, _ in steps], [int(value) for _, value in steps]
        return pack_list(rows), pack_list(values), [CONSTANT, 1, len(steps)]
    if all(type(row) is list for row, _ in steps):
        listed = [row for step in steps for row in step[0]], [value for step in steps for value in step[1]]
        ints = [np.array(each, dtype=np.int64) for each in (*listed, [len(row) for row, _ in steps])]
        return pack(ints[0]), pack(ints[1]), pack(ints[2])
    many = [np.atleast_1d(np.asarray(row, dtype=np.int64)) for row, _ in steps]
    changed = [
        np.broadcast_to(np.asarray(value, dtype=np.int64), row.shape)
        for row, (_, value) in zip(many, steps, strict=True)
    ]
    counts = np.array([len(row) for row in many], dtype=np.int64)
    return pack(np.concatenate(many)), pack(np.concatenate(changed)), pack(counts)


def filled(size: int, few: Mapping[int, int]) -> Ints:
    """NOTHING but for a few: row → value."""
    made = np.full(size, NOTHING, dtype=np.int64)
    for row, value in few.items():
        made[row] = value
    return made


def _between(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """(the rows that differ, ascending, what they are after)."""
    if len(before) == len(after) == 1:
        # Pods of a batch, one node each.
        ((old, held),), ((new, value),) = before.items(), after.items()
        if old != new:
            return ([old, new], [NOTHING, value]) if old < new else ([new, old], [value, NOTHING])
        return ([], []) if held == value else ([new], [value])
    rows = sorted({row for row, _ in before.items() ^ after.items()})
    return rows, [after.get(row, NOTHING) for row in rows]


class ColumnWriter:
    def __init__(self) -> None:
        self._columns: list[_FromHistory | _FromArrays] = []
        self._segments: dict[int, int] = {}
        """Id of a segment, which its column keeps alive → the column that goes on."""
        self._marks: dict[int, tuple[Mark, ColumnState]] = {}
        """Id of a mark → where it is: most columns stay as they are from one attempt to the next."""

    def mark(self, mark: Mark) -> ColumnState:
        known = self._marks.get(id(mark))
        if known is None:
            known = self._marks[id(mark)] = (mark, self._place(mark))
        return known[1]

    def _place(self, mark: Mark) -> ColumnState:
        number = self._segments.get(id(mark.segment))
        if number is not None:
            column = self._columns[number]
            assert isinstance(column, _FromHistory)
            if mark.index >= column.first:
                if mark.index > column.last:
                    column.last = mark.index
                return number, mark.index - column.first
        number = self._segments[id(mark.segment)] = len(self._columns)
        column = _FromHistory(mark)
        self._columns.append(column)
        return number, mark.index - column.first

    def array(self, values: NDArray[Any], before: ColumnState | None) -> ColumnState:
        """``before``: where a like array of an earlier attempt was put, if there is one. Takes ``values`` over."""
        if before is not None:
            number, step = before
            column = self._columns[number]
            # Only the newest state of a column can be gone on from.
            if isinstance(column, _FromArrays) and len(column.steps) == step and len(column) == len(values):
                rows = np.flatnonzero(column.now != values)
                if not len(rows):
                    return before
                if len(rows) * FEW <= len(values):
                    # Lists are packed together, arrays one by one.
                    if len(rows) <= SHORT:
                        column.step(rows.tolist(), values[rows].tolist(), values)
                    else:
                        column.step(rows, values[rows], values)
                    return number, step + 1
        self._columns.append(_FromArrays(values))
        return len(self._columns) - 1, 0

    def sparse(self, few: Mapping[int, int], size: int, before: ColumnState | None) -> ColumnState:
        """As ``array`` of ``size`` members that are NOTHING but for a ``few``: row → value. Takes ``few`` over."""
        if before is not None:
            number, step = before
            column = self._columns[number]
            if isinstance(column, _FromArrays) and column.few is not None:
                if len(column.steps) == step and len(column) == size:
                    rows, values = _between(column.few, few)
                    if not rows:
                        return before
                    if len(rows) * FEW <= size:
                        column.steps.append((rows, values))
                        column.few = few
                        return number, step + 1
            else:
                place = self.array(filled(size, few), before)
                column = self._columns[place[0]]
                assert isinstance(column, _FromArrays)
                column.few = few
                return place
        self._columns.append(_FromArrays(filled(size, few), few))
        return len(self._columns) - 1, 0

    def state(self, place: ColumnState) -> NDArray[Any] | None:
        """The array at this place, if it is the newest of its column."""
        column = self._columns[place[0]]
        return column.now if isinstance(column, _FromArrays) and len(column.steps) == place[1] else None

    def packed(self) -> tuple[list[Packed], list[StoredColumn]]:
        """(first states, columns)."""
        keys: list[Packed] = []
        numbers: dict[int, tuple[NDArray[Any], int]] = {}
        columns = []
        for column in self._columns:
            key = column.key()
            known = numbers.get(id(key))
            if known is None:
                # Arrays of cursors are used again: only histories' own first states are known by their ids.
                known = (key, len(keys))
                keys.append(column.packed_key())
                if isinstance(column, _FromHistory) and column.first == 0:
                    numbers[id(key)] = known
            columns.append(StoredColumn(known[1], *column.packed_steps()))
        return keys, columns
