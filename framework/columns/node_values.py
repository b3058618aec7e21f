"""What plugins keep of nodes by name, along the node axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from framework.columns.facts import Extent
from framework.columns.incremental import RowLog
from framework.interface.columns import PodChange, Rows
from framework.interface.node_info import NodeInfo
from framework.interface.node_values import NodeValues


class ValuesByRow:
    """Input: a list of values, None for nodes without one. In a what-if the value is the node's, whatever pods move."""

    __slots__ = ("_extent", "_info_of", "_log", "_nodes_log", "_row_of", "_seen_nodes", "_seen_values", "_values")

    def __init__(
        self,
        extent: Extent,
        values: NodeValues[Any],
        nodes_log: RowLog,
        row_of: Callable[[str], int | None],
        info_of: Callable[[int], NodeInfo | None],
    ) -> None:
        self._extent = extent
        self._values = values
        self._nodes_log = nodes_log
        self._row_of = row_of
        self._info_of = info_of
        self._log = RowLog()
        self._seen_values = values.version
        self._seen_nodes = nodes_log.version

    def _follow(self) -> None:
        values, nodes = self._values, self._nodes_log
        if values.version != self._seen_values:
            names = values.changed_since(self._seen_values)
            self._seen_values = values.version
            if names is None:
                self._log.everything()
            else:
                for name in dict.fromkeys(names):
                    row = self._row_of(name)
                    if row is not None:
                        self._log.append(row)
        if nodes.version != self._seen_nodes:
            rows = nodes.since(self._seen_nodes)
            self._seen_nodes = nodes.version
            if rows is None:
                self._log.everything()
            else:
                for row in dict.fromkeys(rows):
                    self._log.append(row)

    @property
    def version(self) -> int:
        self._follow()
        return self._log.version

    def changed_since(self, version: int) -> Rows:
        self._follow()
        return self._log.changed_since(version)

    def gather(self, rows: Rows) -> list[Any]:
        return [self._of_row(row) for row in (range(self._extent.used) if rows is None else rows.tolist())]

    def gather_changed(self, change: PodChange) -> list[Any]:
        return [self._of_row(change.row)]

    def _of_row(self, row: int) -> Any:
        info = self._info_of(row)
        return None if info is None else self._values.get(info.name)
