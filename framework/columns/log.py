"""Append-only logs: what changed since a version. Inputs and everything that is kept up to date pulls from them.

A log forgets its oldest entries once many readers would be faster starting over; a reader from before that is told
"all of it".
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

E = TypeVar("E")

KEPT: Final = 4096
"""Entries a log keeps at least; it is cut back to them when it has grown to twice as many."""


class Log(Generic[E]):
    """Entries in order. ``version`` counts everything ever appended; ``since`` gives the entries after a version."""

    __slots__ = ("_base", "_entries")

    def __init__(self) -> None:
        self._entries: list[E] = []
        self._base = 0

    @property
    def version(self) -> int:
        return self._base + len(self._entries)

    def append(self, entry: E) -> None:
        self._entries.append(entry)
        if len(self._entries) >= 2 * KEPT:
            del self._entries[:KEPT]
            self._base += KEPT

    def everything(self) -> None:
        """Every reader has to start over."""
        self._base = self.version + 1
        self._entries.clear()

    def since(self, version: int) -> list[E] | None:
        """The entries after ``version``; None when they are no longer known (start over)."""
        if version < self._base:
            return None
        return self._entries[version - self._base :]


class RowLog(Log[int]):
    """A log of row numbers."""

    __slots__ = ()

    def changed_since(self, version: int) -> NDArray[np.intp] | None:
        """The distinct rows after ``version``, ascending; None for "all rows"."""
        entries = self.since(version)
        return None if entries is None else np.unique(np.array(entries, dtype=np.intp))
