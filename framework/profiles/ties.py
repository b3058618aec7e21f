"""Which of equally good nodes is taken: the run's tie rule (docs/semantics/runs.md#ties)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from framework.profiles.seeded import SeededGenerator

TieRule = Literal["seeded", "upstream", "smallest"]


@lru_cache(maxsize=8)
def _preorder(size: int) -> NDArray[np.intp]:
    """Index in a binary heap's array → its rank when the heap is walked root, left, right."""
    rank = np.empty(size, dtype=np.intp)
    stack = [0] if size else []
    count = 0
    while stack:
        index = stack.pop()
        rank[index] = count
        count += 1
        stack.extend(child for child in (2 * index + 2, 2 * index + 1) if child < size)
    return rank


def heap_root(size: int, tied: NDArray[np.intp]) -> int:
    """Which of the ``tied`` best of a list of ``size`` Go's heap.Init brings to the root.

    Rules: docs/semantics/framework.md#choose-a-node.

    Sifting moves a child up only if it is strictly better, and the right one only if it beats the left: of equal
    maxima the first in preorder wins.
    """
    return int(np.argmin(_preorder(size)[tied]))


class Ties:
    def __init__(self, rule: TieRule, generator: SeededGenerator) -> None:
        self.rule = rule
        self._generator = generator

    def pick(self, names: Sequence[str]) -> str:
        """For choices that upstream leaves to map order: smallest name or seeded, over names in a fixed order."""
        if self.rule == "seeded" and len(names) > 1:
            return names[self._generator.below(len(names))]
        return min(names)

    def pick_scored(
        self, size: int, count: int, places: Callable[[], NDArray[np.intp]], names: Callable[[], Sequence[str]]
    ) -> int:
        """Which of ``count`` best ones of ``size`` to take; ``places`` and ``names`` are those of the best."""
        if count == 1:
            return 0
        if self.rule == "seeded":
            return self._generator.below(count)
        if self.rule == "upstream":
            return heap_root(size, places())
        listed = names()
        return min(range(count), key=listed.__getitem__)
