"""Inputs of one value per row that is worked out again for the rows that a log names, and those of node objects."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns.facts import CodedFact, CodedPredicate, Extent, grown
from framework.columns.groups import Grouping
from framework.columns.log import RowLog
from framework.interface.columns import ABSENT, Input, PodChange, Rows
from framework.objects import Node


class KeptValues(abc.ABC):
    def __init__(self, extent: Extent, dtype: Any) -> None:
        self._extent = extent
        self._position: Any = None
        self._values: NDArray[Any] = np.zeros(0, dtype=dtype)
        self.log = RowLog()

    @abc.abstractmethod
    def _state(self) -> Any:
        """Equal as long as no row's value can have changed."""

    @abc.abstractmethod
    def _changed(self, before: Any) -> Rows:
        """Rows whose value may have changed since the state was ``before``; new rows need not be named."""

    @abc.abstractmethod
    def _work_out(self, rows: Rows) -> NDArray[Any]: ...

    def refresh(self) -> None:
        state, used, known = self._state(), self._extent.used, len(self._values)
        if state == self._position and known == used:
            return
        changed = None if self._position is None else self._changed(self._position)
        self._position = state
        if changed is None:
            self._values = self._work_out(None)
            self.log.everything()
            return
        if known < used:
            self._values = grown(self._values, used, 0)
            changed = np.union1d(changed, np.arange(known, used))
        if not len(changed):
            return
        values = self._work_out(changed)
        differ = changed[values != self._values[changed]]
        self._values[changed] = values
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


class NodePredicate(KeptValues):
    """A bool per node that depends on the node object alone, worked out again for the rows in ``source``."""

    follows_pods: ClassVar[bool] = False

    def __init__(
        self, extent: Extent, source: RowLog, node_of: Callable[[int], Node | None], predicate: Callable[[Node], bool]
    ) -> None:
        super().__init__(extent, np.bool_)
        self._source = source
        self._node_of = node_of
        self._predicate = predicate

    def _state(self) -> int:
        return self._source.version

    def _changed(self, before: int) -> Rows:
        return self._source.changed_since(before)

    def _work_out(self, rows: Rows) -> NDArray[np.bool_]:
        nodes = map(self._node_of, range(self._extent.used) if rows is None else rows.tolist())
        return np.array([node is not None and self._predicate(node) for node in nodes], dtype=np.bool_)

    def kinds(self) -> tuple[NDArray[np.int8], int]:
        return self.gather(None).view(np.int8), 2

    def grouping(self) -> Grouping:
        return Grouping((self,))


class Eligible(KeptValues):
    """Bool per row: all of some label keys are there and all of some conditions on node objects hold."""

    follows_pods: ClassVar[bool] = False

    def __init__(self, extent: Extent, labels: tuple[CodedFact, ...], conditions: tuple[Input, ...]) -> None:
        super().__init__(extent, np.bool_)
        self._labels = labels
        self._conditions = conditions

    def _state(self) -> int:
        return self._extent.nodes_log.version

    def _changed(self, before: int) -> Rows:
        return self._extent.nodes_log.changed_since(before)

    def _work_out(self, rows: Rows) -> NDArray[np.bool_]:
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
