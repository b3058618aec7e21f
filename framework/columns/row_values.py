"""Inputs that are one incremental array of values, and those of them that follow from node objects alone."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns.facts import CodedFact, CodedPredicate, Extent, grown
from framework.columns.groups import Grouping
from framework.columns.incremental import Incremental, RowLog, Source
from framework.interface.columns import ABSENT, Input, PodChange, Rows
from framework.objects import Node


class RowValues(Incremental):
    def __init__(self, extent: Extent, sources: Sequence[Source], dtype: Any) -> None:
        super().__init__(extent, sources)
        self._extent = extent
        self._values: NDArray[Any] = np.zeros(0, dtype=dtype)
        self.log = RowLog()

    @abc.abstractmethod
    def _values_of(self, rows: Rows) -> NDArray[Any]:
        """Worked out anew."""

    def _with_new_rows(self, changed: NDArray[np.intp]) -> Rows:
        known, used = len(self._values), self._extent.used
        self._values = grown(self._values, used, 0)
        return np.union1d(changed, np.arange(known, used))

    def _make_all(self) -> None:
        self._values = self._values_of(None)
        self.log.everything()

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        values = self._values_of(rows)
        differ = rows[values != self._values[rows]]
        self._values[rows] = values
        for row in differ.tolist():
            self.log.append(row)

    @property
    def version(self) -> int:
        self.refresh()
        return self.log.version

    def changed_since(self, version: int) -> Rows:
        self.refresh()
        return self.log.changed_since(version)

    def gather(self, rows: Rows) -> NDArray[Any]:
        self.refresh()
        return self._values if rows is None else self._values[rows]

    def gather_changed(self, change: PodChange) -> NDArray[Any]:
        self.refresh()
        return self._values[change.row : change.row + 1]


class NodePredicate(RowValues):
    """A bool per node that depends on the node object alone, worked out again for the rows in ``log``."""

    follows_pods: ClassVar[bool] = False

    def __init__(
        self, extent: Extent, log: RowLog, node_of: Callable[[int], Node | None], predicate: Callable[[Node], bool]
    ) -> None:
        super().__init__(extent, (log,), np.bool_)
        self._node_of = node_of
        self._predicate = predicate

    def _values_of(self, rows: Rows) -> NDArray[np.bool_]:
        nodes = map(self._node_of, range(self._extent.used) if rows is None else rows.tolist())
        return np.array([node is not None and self._predicate(node) for node in nodes], dtype=np.bool_)

    def kinds(self) -> tuple[NDArray[np.int8], int]:
        return self.gather(None).view(np.int8), 2

    def grouping(self) -> Grouping:
        return Grouping((self,))


class Eligible(RowValues):
    """Bool per row: all of some label keys are there and all of some conditions on node objects hold."""

    follows_pods: ClassVar[bool] = False

    def __init__(self, extent: Extent, labels: tuple[CodedFact, ...], conditions: tuple[Input, ...]) -> None:
        super().__init__(extent, (extent.nodes_log,), np.bool_)
        self._labels = labels
        self._conditions = conditions

    def _values_of(self, rows: Rows) -> NDArray[np.bool_]:
        values = np.ones(self._extent.used if rows is None else len(rows), dtype=np.bool_)
        for label in self._labels:
            values &= label.gather(rows).codes != ABSENT
        for condition in self._conditions:
            values &= condition.gather(rows)
        return values

    def kinds(self) -> tuple[NDArray[np.int8], int]:
        return self.gather(None).view(np.int8), 2

    def grouping(self) -> Grouping:
        return Grouping((self,))


_FACTS: Final = frozenset((CodedFact, CodedPredicate, NodePredicate, Eligible))


def are_facts(inputs: tuple[Input, ...]) -> bool:
    """Whether all of them change only when a node object does."""
    return _FACTS.issuperset(map(type, inputs))
