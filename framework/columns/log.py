"""Append-only logs: what changed since a version. Inputs and everything that is kept up to date pulls from them.

A log forgets its oldest entries once many readers would be faster starting over; a reader from before that is told
"all of it".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import one_row

E = TypeVar("E")

KEPT: Final = 4096
"""Entries a log keeps at least; it is cut back to them when it has grown to twice as many."""


class Log(Generic[E]):
    """Entries in order. ``version`` counts everything ever appended; ``since`` gives the entries after a version."""

    __slots__ = ("_base", "_entries", "version")

    def __init__(self) -> None:
        self._entries: list[E] = []
        self._base = 0
        self.version = 0

    def append(self, entry: E) -> None:
        self._entries.append(entry)
        self.version += 1
        if len(self._entries) >= 2 * KEPT:
            del self._entries[:KEPT]
            self._base += KEPT

    def everything(self) -> None:
        """Every reader has to start over."""
        self.version += 1
        self._base = self.version
        self._entries.clear()

    def since(self, version: int) -> list[E] | None:
        """The entries after ``version``; None when they are no longer known (start over)."""
        if version < self._base:
            return None
        return self._entries[version - self._base :]


def union(parts: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """The distinct rows of several arrays, ascending. A mask over all rows is much faster than sorting."""
    size = max((int(part.max()) + 1 for part in parts if len(part)), default=0)
    wanted = np.zeros(size, dtype=np.bool_)
    for part in parts:
        wanted[part] = True
    return np.flatnonzero(wanted)


class RowLog(Log[int]):
    """A log of row numbers."""

    __slots__ = ()

    def changed_since(self, version: int) -> NDArray[np.intp] | None:
        """The distinct rows after ``version``, ascending; None for "all rows"."""
        entries = self.since(version)
        if entries is None:
            return None
        return one_row(entries[0]) if len(entries) == 1 else np.array(sorted(set(entries)), dtype=np.intp)
