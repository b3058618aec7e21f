"""Incremental arrays: values by row that are worked out again only where what they are made from has changed.

Everything that is kept from one attempt to the next is made from *sources*: logs of rows, facts of nodes, counts, other
incremental arrays. A source has a version and can name the rows that changed since an earlier one. Nobody is told of a
change; whoever is asked for its version brings itself up to date first, and asks its own sources before.

A log forgets its oldest entries once many readers would be faster starting over; a reader from before that is told
"all of it".
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import Rows, one_row
from framework.interface.node_info import PodInfo

E = TypeVar("E")
Placement = tuple[int, PodInfo, int]
"""(row, pod, sign): the pod came to (1) or left (-1) the node of the row."""

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

    def one_since(self, version: int) -> int:
        """The row of the only entry after ``version``; -1 where there are others or none."""
        return self._entries[-1] if version + 1 == self.version and version >= self._base else -1

    def changed_since(self, version: int) -> NDArray[np.intp] | None:
        """The distinct rows after ``version``, ascending; None for "all rows"."""
        entries = self.since(version)
        if entries is None:
            return None
        return one_row(entries[0]) if len(entries) == 1 else np.array(sorted(set(entries)), dtype=np.intp)


NO_ROWS: Final[NDArray[np.intp]] = np.zeros(0, dtype=np.intp)


class Source(Protocol):
    """``changed_since`` names rows that may differ since a version, or None for all of them; new rows need no name."""

    @property
    def version(self) -> int: ...

    def changed_since(self, version: int) -> Rows: ...


class Unknown:
    """What a plan without inputs depends on: it may have changed whenever somebody asks."""

    def __init__(self) -> None:
        self._asked = 0

    @property
    def version(self) -> int:
        self._asked += 1
        return self._asked

    def changed_since(self, version: int) -> Rows:
        return None


class WorkCounter(Protocol):
    """Something that grows whenever certain sources may have changed."""

    version: int


class RowCount(Protocol):
    """``framework.columns.facts.Extent``."""

    used: int


class Incremental(abc.ABC):
    """Values by row, made from sources. A subclass says how all rows are made, how some, and how one."""

    __slots__ = (
        "_always_all",
        "_counted",
        "_counter",
        "_one_since",
        "_only",
        "_rows",
        "_size",
        "_sources",
        "_version",
        "_versions",
    )

    def __init__(self, rows: RowCount, sources: Sequence[Source], counter: WorkCounter | None = None) -> None:
        """``counter``: while it stays, neither a source changes nor the number of rows, and no source is asked."""
        self._rows = rows
        self._size = 0
        """Rows that there were when it was brought up to date."""
        self._counter = counter
        self._always_all = False
        """All rows are made after every change, so nobody is asked which have changed."""
        sources = self._sources = [getattr(each, "change_log", each) for each in sources]
        self._only = sources[0] if len(sources) == 1 else None
        """One source is asked without lists of versions."""
        self._one_since = sources[0].one_since if len(sources) == 1 and isinstance(sources[0], RowLog) else None
        self._versions: list[int] | None = None
        self._version = self._counted = -1

    def forget(self) -> None:
        """All rows have changed, whatever the sources say."""
        self._versions = None
        self._version = self._counted = -1

    def refresh(self) -> None:
        """Brought up to date. Raises what making values raises; then all rows are made at the next call."""
        if (counter := self._counter) is not None:
            if counter.version == self._counted:
                return
            self._counted = counter.version
        used, changed = self._rows.used, None
        if (only := self._only) is not None:
            last, self._version = self._version, only.version
            if last == self._version and used == self._size:
                return
            if last >= 0 and not self._always_all:
                if (one := self._one_since) is not None and used == self._size and (row := one(last)) >= 0:
                    # A pod came or went: most often that is all that happened since the last time.
                    try:
                        self._make_one(row)
                    except Exception:
                        self.forget()
                        raise
                    return
                changed = only.changed_since(last)
        else:
            before = self._versions
            self._versions = [each.version for each in self._sources]
            if before == self._versions and used == self._size:
                return
            if before is not None and not self._always_all:
                changed = self._changed_since(before, self._versions)
        if used != self._size:
            if changed is not None:
                changed = self._with_new_rows(changed)
            self._size = used
        try:
            if changed is None:
                self._make_all()
            elif len(changed) == 1:
                self._make_one(changed.item())
            elif len(changed):
                self._make_some(changed)
        except Exception:
            self.forget()
            raise

    def _changed_since(self, before: list[int], now: list[int]) -> Rows:
        found = NO_ROWS
        for source, old, new in zip(self._sources, before, now, strict=True):
            if old == new:
                continue
            rows = source.changed_since(old)
            if rows is None:
                return None
            if not len(found):
                found = rows
            elif len(rows) and rows is not found:
                found = union((found, rows))
        return found

    def _with_new_rows(self, changed: NDArray[np.intp]) -> Rows:
        """The rows to make when there are more of them than before: all, unless a subclass knows better."""
        return None

    @abc.abstractmethod
    def _make_all(self) -> None: ...

    @abc.abstractmethod
    def _make_some(self, rows: NDArray[np.intp]) -> None: ...

    def _make_one(self, row: int) -> None:
        """For those to whom a single row is worth a way of its own: NumPy takes longer to begin than Python."""
        self._make_some(one_row(row))
