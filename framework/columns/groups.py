"""Groups of rows that gather the same from some inputs, so that a kernel is asked once per group.

An input that tells rows apart by few things says by which (``grouping``): facts of nodes, of which every row has one of
a few kinds, and a number per row that is 0 almost everywhere (pods of a workload on a node).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import Input

if TYPE_CHECKING:
    from framework.columns.facts import Extent

FEW: Final = 8
"""Kinds are few when there are at least so many rows for each."""
_SMALL: Final = 1 << 14


class Axis(Protocol):
    """A fact of nodes."""

    @property
    def version(self) -> int: ...

    def kinds(self) -> tuple[NDArray[Any], int]:
        """(number of every row's kind, numbers are below this)."""
        ...


class Grouping(NamedTuple):
    """Rows that agree in ``axes`` gather the same, and, if ``numbered``, in ``number_of``."""

    axes: tuple[Axis, ...] = ()
    numbered: bool = False
    is_of_nodes: bool = True
    """It stays the same until a node object comes, changes or goes."""


class Numbered(Input, Protocol):
    """``changed_since`` names the rows whose number changed."""

    def number_of(self, row: int) -> int: ...

    def numbers(self) -> NDArray[np.int64]:
        """Of all rows."""
        ...


class Groups:
    """Rows by axes: those with one number are of one kind on all of them. ``apart``: every row is a group."""

    def __init__(self, extent: Extent, axes: Sequence[Axis], *, apart: bool) -> None:
        self._extent = extent
        self._axes = tuple(axes)
        self._apart = apart
        self._nodes = -1
        self._positions: list[int] = []
        self.numbers: NDArray[Any] = np.zeros(0, dtype=np.int16)
        """By row. Not to be written to; another array when a row has come, gone or moved."""
        self.rows: list[int] = []
        """One of each group."""
        self.sizes: list[int] = []

    def refresh(self) -> None:
        nodes, used = self._extent.nodes_log.version, self._extent.used
        if nodes == self._nodes:
            return
        self._nodes = nodes
        positions = [axis.version for axis in self._axes]
        if positions == self._positions and len(self.numbers) == used:
            return
        self._positions = positions
        numbers = np.arange(used) if self._apart else np.zeros(used, dtype=np.int64)
        for axis in self._axes:
            kinds, count = axis.kinds()
            if count > 1:
                numbers = np.unique(numbers * count + kinds, return_inverse=True)[1]
        _, rows, sizes = np.unique(numbers, return_index=True, return_counts=True)
        self.numbers = numbers.astype(np.int16 if used < _SMALL else np.int32)
        self.rows, self.sizes = rows.tolist(), sizes.tolist()


def groupings(inputs: Sequence[Input]) -> tuple[Grouping, ...] | None:
    """How each input tells rows apart; None if one of them cannot say."""
    found = []
    for each in inputs:
        ask = getattr(each, "grouping", None)
        grouping: Grouping | None = None if ask is None else ask()
        if grouping is None:
            return None
        found.append(grouping)
    return tuple(found)
