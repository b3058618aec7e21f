"""Images on nodes, with upstream's two oddities (spec: cache §3).

The size of an image is what the first node that brought it said. How many nodes have it is read when a node changes
and then stays as it was for that node until it changes again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framework.columns.facts import Extent
from framework.columns.log import RowLog
from framework.interface.columns import PodChange, Rows
from framework.objects import Node


@dataclass(slots=True)
class ImageState:
    """One image of the cluster. ``nodes`` keeps insertion order only because dicts do; its size is what counts."""

    size: int
    nodes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImageOnNode:
    size: int
    node_count: int


class Images:
    """All images, and per row what the node's NodeInfo froze at its last change."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._states: dict[str, ImageState] = {}
        self._of_node: dict[str, dict[str, ImageState]] = {}
        self._frozen: dict[int, dict[str, ImageOnNode]] = {}
        self.total_nodes = 0
        self.log = RowLog()

    def set_node(self, node: Node) -> None:
        self.remove_node(node.metadata.name)
        held: dict[str, ImageState] = {}
        for image in node.status.images:
            for name in image.names:
                state = self._states.get(name)
                if state is None:
                    state = self._states[name] = ImageState(image.size_bytes)
                state.nodes[node.metadata.name] = None
                held.setdefault(name, state)
        if held:
            self._of_node[node.metadata.name] = held

    def remove_node(self, name: str) -> None:
        for image in self._of_node.pop(name, ()):
            state = self._states[image]
            state.nodes.pop(name, None)
            if not state.nodes:
                del self._states[image]

    def freeze(self, row: int, node_name: str) -> None:
        """The node of ``row`` changed (itself or its pods): it sees today's counts."""
        held = self._of_node.get(node_name)
        frozen = {name: ImageOnNode(state.size, len(state.nodes)) for name, state in held.items()} if held else {}
        if self._frozen.get(row, {}) != frozen:
            self._set(row, frozen)

    def clear(self, row: int) -> None:
        if row in self._frozen:
            self._set(row, {})

    def _set(self, row: int, frozen: dict[str, ImageOnNode]) -> None:
        if frozen:
            self._frozen[row] = frozen
        else:
            self._frozen.pop(row, None)
        self.log.append(row)

    def of_row(self, row: int) -> dict[str, ImageOnNode]:
        return self._frozen.get(row, {})

    def rows(self) -> list[int]:
        return list(self._frozen)


class ImageScore:
    """Input: Σ int(float(size) × (float(nodes with it) / float(all nodes))) of the images that are on the node."""

    __slots__ = ("_extent", "_images", "_position", "_total", "_values", "_wanted", "log")

    def __init__(self, extent: Extent, images: Images, wanted: tuple[str, ...]) -> None:
        self._extent = extent
        self._images = images
        self._wanted = wanted
        self._values = np.zeros(0, dtype=np.int64)
        self._position = -1
        self._total = -1
        self.log = RowLog()

    def _refresh(self) -> None:
        total_nodes = self._images.total_nodes
        used, source = self._extent.used, self._images.log
        if len(self._values) < used:
            values = np.zeros(used, dtype=np.int64)
            values[: len(self._values)] = self._values
            self._values = values
        if self._position == source.version and self._total == total_nodes:
            return
        same = self._position >= 0 and self._total == total_nodes
        changed = source.changed_since(self._position) if same else None
        self._total = total_nodes
        if changed is None:
            self._values[:] = 0
            for row in self._images.rows():
                self._values[row] = self._score(row)
            self.log.everything()
        else:
            for row in changed.tolist():
                self._values[row] = self._score(row)
                self.log.append(row)
        self._position = source.version

    def _score(self, row: int) -> int:
        present = self._images.of_row(row)
        total = float(self._total)
        score = 0
        for name in self._wanted:
            image = present.get(name)
            if image is not None:
                score += int(float(image.size) * (float(image.node_count) / total))
        return score

    @property
    def version(self) -> int:
        self._refresh()
        return self.log.version

    def changed_since(self, version: int) -> Rows:
        self._refresh()
        return self.log.changed_since(version)

    def gather(self, rows: Rows) -> NDArray[np.int64]:
        self._refresh()
        return self._values if rows is None else self._values[rows]

    def gather_changed(self, change: PodChange) -> NDArray[np.int64]:
        self._refresh()
        return self._values[change.row : change.row + 1]
