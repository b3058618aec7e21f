"""Chunks of attempts as earlier versions wrote them, turned into the parts of today's format.

What a released version stored stays readable: a format that is replaced gets a function here, and the table in
CHANGELOG.md says which release wrote which. Nothing is stored anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np

from framework.trace.arrays import Ints, Packed, pack, unpack
from framework.trace.chunk_columns import ColumnState
from framework.trace.digest import OWN

Parts = list[msgspec.Raw]
"""Of a chunk, without its format."""
_NOTHING: Final = msgspec.Raw(msgspec.msgpack.encode(None))
_PLUGINS: Final = 9
"""Where a frame of format 2 has its plugins."""


def _raw(content: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(content))


def from_second(parts: Parts) -> Parts:
    """Each column held what it begins with; plugins had no tables of states. Raises msgspec.MsgspecError."""
    node_lists, orders, statuses, columns, frames = parts
    keys, rest = [], []
    for number, (key, *steps) in enumerate(msgspec.msgpack.decode(columns, type=list[list[msgspec.Raw]])):
        keys.append(key)
        rest.append([number, *steps])
    made: list[list[Any]] = []
    for frame in msgspec.msgpack.decode(frames, type=list[list[msgspec.Raw]]):
        plugins = frame[_PLUGINS : _PLUGINS + 1]
        scored = [
            [*each, []] for told in plugins for each in msgspec.msgpack.decode(told, type=list[list[msgspec.Raw]])
        ]
        made.append([*frame[:_PLUGINS], *([scored] if plugins else []), *frame[_PLUGINS + 1 :]])
    return [node_lists, orders, statuses, _raw(keys), _raw(rest), _raw(made)]


class _FirstFrame(msgspec.Struct, array_like=True):
    """Arrays are whole ([packed]), or what differs from the frame they refer to ([packed distances, packed values])."""

    plain: msgspec.Raw
    """All fields of the attempt but its arrays; of one that is like another, only ``OWN``."""
    reference: int
    nodes: int = -1
    statuses: list[int] = []
    verdict: list[Packed] = []
    positions: Packed | None = None
    first: int = 0
    plugins: list[tuple[str, int, list[Packed], list[Any]]] = []
    total: Packed | None = None
    candidates: Packed | None = None
    like: int = -1


class _Column:
    """An array and what became of it from one attempt of a line to the next."""

    def __init__(self, key: Packed) -> None:
        self.key = key
        self.steps: list[tuple[Ints, Ints]] = []

    def at(self, steps: int) -> Ints:
        values = unpack(self.key)
        for rows, changed in self.steps[:steps]:
            values[rows] = changed
        return values

    def packed(self, number: int) -> list[Any]:
        rows = [row for row, _ in self.steps]
        return [
            number,
            pack(np.concatenate(rows)) if rows else pack(np.zeros(0, dtype=np.int64)),
            pack(np.concatenate([values for _, values in self.steps])) if rows else pack(np.zeros(0, dtype=np.int64)),
            pack(np.array([len(each) for each in rows], dtype=np.int64)),
        ]


class _Columns:
    def __init__(self) -> None:
        self.all: list[_Column] = []

    def place(self, before: ColumnState | None, told: list[Packed]) -> ColumnState:
        if len(told) == 1:
            return self._new(told[0])
        if before is None:
            raise msgspec.ValidationError("an array differs from one that is not there")
        rows, values = np.cumsum(unpack(told[0])), unpack(told[1])
        if not len(rows):
            return before
        number, step = before
        column = self.all[number]
        if len(column.steps) == step:
            column.steps.append((rows, values))
            return number, step + 1
        # Another attempt has gone on from there already.
        array = column.at(step)
        array[rows] = values
        return self._new(pack(array))

    def _new(self, key: Packed) -> ColumnState:
        self.all.append(_Column(key))
        return len(self.all) - 1, 0


def from_first(parts: Parts) -> Parts:
    """An attempt was written as what differs from an earlier one. Raises msgspec.MsgspecError."""
    node_lists, statuses, told = parts
    columns = _Columns()
    places: list[dict[str, ColumnState]] = []
    """Of each attempt's arrays: "" is the verdicts, others are plugins."""
    frames: list[list[Any]] = []
    for frame in msgspec.msgpack.decode(told, type=list[_FirstFrame]):
        plain = msgspec.msgpack.decode(frame.plain, type=dict[str, msgspec.Raw])
        own = [plain.get(name, msgspec.Raw(b"\x00")) for name in OWN]
        before = places[frame.reference] if frame.reference >= 0 else {}
        mine: dict[str, ColumnState] = {}
        plugins = []
        if frame.like < 0 and frame.nodes >= 0:
            mine[""] = columns.place(before.get(""), frame.verdict)
            for name, weight, raw, how in frame.plugins:
                mine[name] = columns.place(before.get(name), raw)
                plugins.append([name, weight, mine[name], how, []])
        places.append(mine)
        frames.append(
            [
                own,
                frame.plain if frame.like < 0 else _NOTHING,
                frame.nodes,
                -1,
                frame.statuses,
                None,
                mine.get("", (-1, 0)),
                frame.positions,
                frame.first,
                plugins,
                frame.total,
                frame.candidates,
                frame.like,
            ]
        )
    keys = [column.key for column in columns.all]
    packed = [column.packed(number) for number, column in enumerate(columns.all)]
    return [node_lists, _raw([]), statuses, _raw(keys), _raw(packed), _raw(frames)]


OLDER: Final[dict[object, Callable[[Parts], Parts]]] = {1: from_first, 2: from_second}
"""By format. They raise ValueError for another number of parts."""
