"""Whole: an input that is one value for all rows."""

from __future__ import annotations

from collections.abc import Callable

from framework.columns.facts import WHOLE
from framework.columns.groups import Grouping
from framework.columns.incremental import NO_ROWS
from framework.interface.columns import PodChange, Rows
from framework.interface.node_info import PodInfo


def nobody_is(pod: PodInfo) -> bool:
    return False


class Whole:
    """Input: one value for all rows, worked out when it is asked for."""

    axis = WHOLE

    def __init__(
        self,
        read: Callable[[], object],
        read_if: Callable[[PodChange], object],
        is_counted: Callable[[PodInfo], bool] = nobody_is,
    ) -> None:
        self._read = read
        self._read_if = read_if
        self.is_counted = is_counted
        self._value: object = None
        self._version = 0

    @property
    def version(self) -> int:
        value = self._read()
        if value != self._value:
            self._value = value
            self._version += 1
        return self._version

    def changed_since(self, version: int) -> Rows:
        return NO_ROWS if version == self.version else None

    def grouping(self) -> Grouping:
        return Grouping()

    def gather(self, rows: Rows) -> object:
        return self._read()

    def gather_changed(self, change: PodChange) -> object:
        return self._read_if(change)
