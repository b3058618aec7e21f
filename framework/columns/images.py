"""Images on nodes, with upstream's two oddities (docs/semantics/cache.md#images).

The size of an image is what the first node that brought it said. How many nodes have it is read when a node changes
and then stays as it was for that node until it changes again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framework.columns.facts import Extent
from framework.columns.incremental import RowLog
from framework.columns.row_values import RowValues
from framework.interface.columns import Rows
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

    @property
    def are_there(self) -> bool:
        """Whether a node has images, or was seen with some."""
        return bool(self._of_node or self._frozen)

    def count_nodes(self, total: int) -> None:
        """There are ``total`` nodes now, which the score of every image rests on."""
        if total != self.total_nodes:
            self.total_nodes = total
            self.log.everything()

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
        if held is None and row not in self._frozen:
            return
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


class ImageScore(RowValues):
    """Input: Σ int(float(size) × (float(nodes with it) / float(all nodes))) of the images that are on the node."""

    def __init__(self, extent: Extent, images: Images, wanted: tuple[str, ...]) -> None:
        super().__init__(extent, (images.log,), np.int64)
        self._images = images
        self._wanted = wanted

    def _values_of(self, rows: Rows) -> NDArray[np.int64]:
        if rows is not None:
            return np.array([self._score(row) for row in rows.tolist()], dtype=np.int64)
        values = np.zeros(self._extent.used, dtype=np.int64)
        for row in self._images.rows():
            values[row] = self._score(row)
        return values

    def _score(self, row: int) -> int:
        present = self._images.of_row(row)
        total = float(self._images.total_nodes)
        score = 0
        for name in self._wanted:
            image = present.get(name)
            if image is not None:
                score += int(float(image.size) * (float(image.node_count) / total))
        return score
