"""FeasibleNodes: what Filter leaves for PreScore and Score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.profiles.pod_class import PodClass
from framework.profiles.verdicts import Verdicts
from framework.trace.attempt import Recorded, in_turn


class FeasibleNodes:
    """``verdicts`` is set when all nodes that it calls feasible were found, and no others."""

    __slots__ = ("_rows", "count", "first", "in_row_order", "order", "pod_class", "recorded", "token", "verdicts")

    def __init__(self, pod_class: PodClass, order: NDArray[np.intp], first: int, rows: NDArray[np.intp]) -> None:
        self.pod_class = pod_class
        self.order = order
        self.first = first
        """The position where the search began."""
        self.in_row_order = False
        """Positions are row numbers."""
        self.count = len(rows)
        self.token = object()
        """Another one for other feasible nodes."""
        self.verdicts: Verdicts | None = None
        self.recorded: Recorded | None = None
        """Where the verdicts can be read, if they are set."""
        self._rows: NDArray[np.intp] | None = rows

    @classmethod
    def all_of(
        cls, pod_class: PodClass, snapshot: Snapshot, verdicts: Verdicts, first: int, numbers: NDArray[np.int32]
    ) -> FeasibleNodes:
        """``numbers``: as of ``Recorded``."""
        nodes = cls.__new__(cls)
        nodes.pod_class, nodes.first, nodes.verdicts = pod_class, first, verdicts
        nodes.order, nodes.in_row_order = snapshot.order, snapshot.in_row_order
        nodes.count = verdicts.counts[0]
        nodes.token = verdicts.feasible
        nodes.recorded = Recorded(nodes.order, first, verdicts.history.mark(), numbers)
        nodes._rows = None
        return nodes

    @property
    def rows(self) -> NDArray[np.intp]:
        """In the order in which they were found."""
        if self._rows is None:
            assert self.verdicts is not None
            order, first = self.order, self.first
            if self.count == len(order):
                self._rows = order if first == 0 else np.concatenate((order[first:], order[:first]))
                return self._rows
            self._rows = self.order[self.positions_where(self.verdicts.history.values == 0)]
        return self._rows

    def positions_where(self, wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Positions in the node list of the rows where ``wanted`` is true, in the order of the search."""
        return in_turn((wanted if self.in_row_order else wanted[self.order]).nonzero()[0], self.first)
