"""The columns of a chunk: arrays that many attempts read, each as it was at some step of its history.

A column is its first state and the steps from there on, so an attempt that changed two of 5,000 scores costs two
numbers. Columns come from the histories the scores were worked out in (``framework.trace.history``), or are put
together here from whole arrays that differ little from one attempt to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.trace.arrays import Ints, Packed, pack, unpack
from framework.trace.history import Mark, Segment

Place = tuple[int, int]
"""(number of the column, steps after its first state)."""
FEW: Final = 4
"""A step is worth it when it changes at most one in so many rows."""


class Column(msgspec.Struct, array_like=True):
    key: Packed
    rows: Packed
    """Of all steps, one after the other."""
    values: Packed
    counts: Packed
    """How many rows each step changes."""

    def at(self, steps: int) -> Ints:
        """The array after so many steps."""
        values = unpack(self.key)
        if steps:
            end = int(unpack(self.counts)[:steps].sum())
            # Of rows that are there more than once the last one counts.
            values[unpack(self.rows)[:end]] = unpack(self.values)[:end]
        return values


class _FromHistory:
    """A part of a segment: from the first step that an attempt of the chunk reads to the last."""

    __slots__ = ("first", "last", "segment")

    def __init__(self, mark: Mark) -> None:
        self.segment: Segment = mark.segment
        self.first = self.last = mark.index

    def packed(self) -> Column:
        key = pack(self.segment.at(self.first))
        steps = self.segment.steps[self.first : self.last]
        return Column(key, *_packed_steps(steps))


class _FromArrays:
    __slots__ = ("key", "now", "steps")

    def __init__(self, key: NDArray[Any]) -> None:
        self.key = self.now = key
        self.steps: list[tuple[Any, Any]] = []

    def packed(self) -> Column:
        return Column(pack(self.key), *_packed_steps(self.steps))


def _packed_steps(steps: Sequence[tuple[Any, Any]]) -> tuple[Packed, Packed, Packed]:
    """(rows, values, counts). A step is a row and a number, or arrays of both."""
    if all(type(row) is int for row, _ in steps):
        rows = np.array([row for row, _ in steps], dtype=np.int64)
        values = np.array([value for _, value in steps], dtype=np.int64)
        return pack(rows), pack(values), pack(np.ones(len(steps), dtype=np.int64))
    many = [np.atleast_1d(np.asarray(row, dtype=np.int64)) for row, _ in steps]
    told = [
        np.broadcast_to(np.asarray(value, dtype=np.int64), row.shape)
        for row, (_, value) in zip(many, steps, strict=True)
    ]
    counts = np.array([len(row) for row in many], dtype=np.int64)
    return pack(np.concatenate(many)), pack(np.concatenate(told)), pack(counts)


class ColumnWriter:
    def __init__(self) -> None:
        self._columns: list[_FromHistory | _FromArrays] = []
        self._segments: dict[int, int] = {}
        """Id of a segment, which its column keeps alive → the column that goes on."""
        self._marks: dict[int, tuple[Mark, Place]] = {}
        """Id of a mark → where it is: most columns stay as they are from one attempt to the next."""

    def mark(self, mark: Mark) -> Place:
        known = self._marks.get(id(mark))
        if known is None:
            known = self._marks[id(mark)] = (mark, self._place(mark))
        return known[1]

    def _place(self, mark: Mark) -> Place:
        number = self._segments.get(id(mark.segment))
        if number is not None:
            column = self._columns[number]
            assert isinstance(column, _FromHistory)
            if mark.index >= column.first:
                if mark.index > column.last:
                    column.last = mark.index
                return number, mark.index - column.first
        number = self._segments[id(mark.segment)] = len(self._columns)
        self._columns.append(_FromHistory(mark))
        return number, 0

    def array(self, values: NDArray[Any], before: Place | None) -> Place:
        """``before``: where a like array of an earlier attempt was put, if there is one. Takes ``values`` over."""
        if before is not None:
            number, step = before
            column = self._columns[number]
            # Only the newest state of a column can be gone on from.
            if isinstance(column, _FromArrays) and len(column.steps) == step and len(column.now) == len(values):
                rows = np.flatnonzero(column.now != values)
                if not len(rows):
                    return before
                if len(rows) * FEW <= len(values):
                    column.steps.append((rows, values[rows]))
                    column.now = values
                    return number, step + 1
        self._columns.append(_FromArrays(values))
        return len(self._columns) - 1, 0

    def state(self, place: Place) -> NDArray[Any] | None:
        """The array at this place, if it is the newest of its column."""
        column = self._columns[place[0]]
        return column.now if isinstance(column, _FromArrays) and len(column.steps) == place[1] else None

    def packed(self) -> list[Column]:
        return [column.packed() for column in self._columns]
