"""The nodes themselves as an input: for answers that rest on anything of their own node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.columns.facts import Extent
from framework.columns.incremental import RowLog
from framework.interface.columns import PodChange, Rows
from framework.interface.node_info import NodeInfo, ports_after


class NodeInfos:
    """Input: a list of NodeInfos, None for rows of deleted nodes."""

    __slots__ = ("_extent", "_info_of", "_log")

    def __init__(self, extent: Extent, log: RowLog, info_of: Callable[[int], NodeInfo | None]) -> None:
        """``log`` names every row whose node object or pods changed."""
        self._extent = extent
        self._log = log
        self._info_of = info_of

    @property
    def version(self) -> int:
        return self._log.version

    def changed_since(self, version: int) -> Rows:
        return self._log.changed_since(version)

    def gather(self, rows: Rows) -> Sequence[NodeInfo | None]:
        return [self._info_of(row) for row in (range(self._extent.used) if rows is None else rows.tolist())]

    def gather_changed(self, change: PodChange) -> Sequence[NodeInfo | None]:
        info = self._info_of(change.row)
        if info is None:
            return [None]
        node = info.copy()
        for pod in change.removed:
            node.remove_pod(pod.uid)
        for pod in change.added:
            node.add_pod(pod)
        node.used_ports = ports_after(info.used_ports, change.port_moves)
        return [node]
