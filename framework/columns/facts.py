"""Static facts of nodes as columns: labels, taints, cordons and names, dictionary encoded.

A fact has one row per node slot, a log of the rows whose value changed, and is an Input of plans. Pods never change a
fact, so ``gather_changed`` is a plain look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns.groups import FEW, Grouping
from framework.columns.incremental import RowLog
from framework.interface.columns import ABSENT, Codes, PodChange, Rows
from framework.objects import Node, Taint

WHOLE: Final = object()
"""``axis`` of an input that is one value for all rows."""


def grown(array: NDArray[Any], capacity: int, fill: Any) -> NDArray[Any]:
    """``array`` lengthened to ``capacity`` with ``fill``."""
    result = np.full(capacity, fill, dtype=array.dtype)
    result[: len(array)] = array
    return result


def taints_key(taints: tuple[Taint, ...]) -> Hashable:
    return tuple((taint.key, taint.value, taint.effect) for taint in taints)


class Extent:
    """How many row slots there are: ``used`` of ``capacity``. Shared by everything that has one entry per row."""

    __slots__ = ("capacity", "changes", "nodes_log", "used")

    def __init__(self) -> None:
        self.changes = 0
        """Grows with every node and pod that comes, changes or goes: who has seen this one is up to date."""
        self.used = 0
        self.capacity = 16
        self.nodes_log = RowLog()
        """Rows whose node object came, changed or went."""


class CodedFact:
    """``read(node)`` of every node, dictionary encoded: equal values share a code, None is code -1."""

    __slots__ = ("_by_value", "_codes", "_extent", "_key", "_read", "_representatives", "_values", "log")
    follows_pods: ClassVar[bool] = False
    """Pods that come and go change nothing here; dry runs then ask for no more than the node's row."""

    def __init__(self, extent: Extent, read: Callable[[Node], Any], key: Callable[[Any], Hashable]) -> None:
        self._extent = extent
        self._read = read
        self._key = key
        self._values: list[Any] = []
        self._by_value: dict[Hashable, int] = {}
        self._codes = np.full(extent.capacity, ABSENT, dtype=np.int32)
        self._representatives: tuple[tuple[int, int], NDArray[np.intp], NDArray[np.int32]] | None = None
        self.log = RowLog()

    @property
    def axis(self) -> CodedFact:
        """The fact by which an input tells rows apart: rows with one code have one value."""
        return self

    def representatives(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """(one row of every code that occurs, its code)."""
        state = (self.log.version, self._extent.used)
        if self._representatives is None or self._representatives[0] != state:
            codes, rows = np.unique(self.codes, return_index=True)
            self._representatives = (state, rows, codes)
        return self._representatives[1:]

    def kinds(self) -> tuple[NDArray[np.int32], int]:
        return self.codes + np.int32(1), self.size + 1

    def grouping(self) -> Grouping | None:
        return Grouping((self,)) if self.has_few_values else None

    @property
    def has_few_values(self) -> bool:
        return len(self._values) * FEW <= self._extent.used

    def occurring(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """The codes that these rows have, ascending."""
        if len(rows) == self._extent.used:
            return self.representatives()[1]
        present = np.zeros(self.size + 1, dtype=np.bool_)
        present[self.codes[rows]] = True
        codes = np.flatnonzero(present[:-1]).astype(np.int32)
        return np.concatenate((np.array([ABSENT], dtype=np.int32), codes)) if present[-1] else codes

    def rows_of(self, codes: Sequence[int]) -> NDArray[np.intp]:
        """All rows that have one of these codes."""
        if len(codes) == 1:
            return np.flatnonzero(self.codes == codes[0])
        wanted = np.zeros(self.size + 1, dtype=np.bool_)
        wanted[codes] = True
        return np.flatnonzero(wanted[self.codes])

    def _code_of_node(self, node: Node | None) -> int:
        value = None if node is None else self._read(node)
        if value is None:
            return ABSENT
        key = self._key(value)
        known = self._by_value.get(key)
        if known is None:
            known = self._by_value[key] = len(self._values)
            self._values.append(value)
        return known

    def set_all(self, nodes: Iterable[Node | None]) -> None:
        """Those of all rows, to begin with."""
        codes = [self._code_of_node(node) for node in nodes]
        self._codes = np.full(self._extent.capacity, ABSENT, dtype=np.int32)
        self._codes[: len(codes)] = codes
        self.log.everything()

    def set(self, row: int, node: Node | None) -> None:
        code = self._code_of_node(node)
        if row >= len(self._codes):
            self._codes = grown(self._codes, self._extent.capacity, ABSENT)
        if self._codes[row] != code:
            self._codes[row] = code
            self.log.append(row)

    def value(self, row: int) -> Any:
        code = int(self._codes[row])
        return None if code == ABSENT else self._values[code]

    def code_of(self, value: Any) -> int | None:
        """The code of ``value``, None while no node ever had it."""
        return self._by_value.get(self._key(value))

    @property
    def size(self) -> int:
        """Codes given so far are below this."""
        return len(self._values)

    @property
    def codes(self) -> NDArray[np.int32]:
        if len(self._codes) < self._extent.used:
            self._codes = grown(self._codes, self._extent.capacity, ABSENT)
        return self._codes[: self._extent.used]

    @property
    def version(self) -> int:
        return self.log.version

    def changed_since(self, version: int) -> Rows:
        return self.log.changed_since(version)

    def gather(self, rows: Rows) -> Codes:
        codes = self.codes
        return Codes(codes if rows is None else codes[rows], self._values)

    def gather_changed(self, change: PodChange) -> Codes:
        return Codes(self.codes[change.row : change.row + 1], self._values)


class CodedPredicate:
    """A bool per node that depends on one coded fact: evaluated once per distinct value."""

    __slots__ = ("_fact", "_predicate", "_table")
    follows_pods: ClassVar[bool] = False

    def __init__(self, fact: CodedFact, predicate: Callable[[Any], bool]) -> None:
        self._fact = fact
        self._predicate = predicate
        self._table = np.zeros(1, dtype=np.bool_)
        """By code; the last one is for rows without a value, whose code is -1."""

    @property
    def axis(self) -> CodedFact:
        return self._fact

    def grouping(self) -> Grouping | None:
        return self._fact.grouping()

    def _spread(self, codes: Codes) -> NDArray[np.bool_]:
        known = len(self._table) - 1
        if known < len(codes.values):
            more = [self._predicate(value) for value in codes.values[known:]]
            self._table = np.array([*self._table[:-1].tolist(), *more, False], dtype=np.bool_)
        result: NDArray[np.bool_] = self._table.take(codes.codes)
        return result

    @property
    def version(self) -> int:
        return self._fact.version

    def changed_since(self, version: int) -> Rows:
        return self._fact.changed_since(version)

    def gather(self, rows: Rows) -> NDArray[np.bool_]:
        return self._spread(self._fact.gather(rows))

    def gather_changed(self, change: PodChange) -> NDArray[np.bool_]:
        return self._spread(self._fact.gather_changed(change))
