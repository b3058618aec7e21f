"""PodClass: what plugins said to a class of equal pods, and the scores that were made of it.
FeasibleNodes: what Filter leaves for a pod of the class.

A memo holds while no object but pods and nodes has changed, and nothing that a plugin named to ``CycleState.rests_on``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.columns import one_row
from framework.interface.plugin import PreFilterExtensions, PreFilterResult
from framework.interface.status import Status
from framework.profiles.post_filter import Following
from framework.profiles.scores import ScorePart, Scores
from framework.profiles.verdicts import FilterEntry, Verdicts
from framework.reuse.pod_classes import Dependencies, KeptForClass, WrittenState
from framework.trace.attempt import PluginOutcome, PreFilterOutcome, Recorded, in_turn


@dataclass(frozen=True, slots=True)
class PreFilterAnswer:
    result: PreFilterResult
    status: Status
    limiting: frozenset[str]
    """Plugins that returned a node list: rejectors if the pod ends unschedulable
    (docs/semantics/framework.md#node-lists-of-prefilter)."""


@dataclass(slots=True)
class FilterMemo:
    dependencies: Dependencies
    answer: PreFilterAnswer
    outcomes: tuple[PreFilterOutcome, ...]
    skipped: frozenset[str]
    written: WrittenState
    entries: tuple[FilterEntry, ...] | None = None
    """None until Filter was reached."""
    extensions: tuple[tuple[str, PreFilterExtensions], ...] = ()
    verdicts: Verdicts | None = None
    local: tuple[FilterEntry, ...] = ()
    """The entries with plans that were made for plugins."""
    per_node: list[tuple[int, FilterEntry]] | None = None
    """As of ``FilterRun``."""
    objecting: tuple[FilterEntry, ...] = ()
    """The entries but for those that pass every node as long as the nodes themselves stay as they are."""
    nodes: int = -1
    """The version of the nodes for which that holds."""


@dataclass(slots=True)
class ScoreMemo:
    dependencies: Dependencies
    outcomes: tuple[PluginOutcome, ...]
    skipped: frozenset[str]
    written: WrittenState
    parts: list[ScorePart] | None = field(default=None)
    local: bool = False
    """Whether one of them is of a plugin for which plans are made."""


class PodClass(KeptForClass):
    __slots__ = (
        "_filtering",
        "_scoring",
        "filter_memo",
        "followed",
        "reuses_filter",
        "reuses_score",
        "score_memo",
        "scores",
    )

    def __init__(self, filtering: frozenset[int], scoring: frozenset[int]) -> None:
        """Numbers of the plugins with PreFilter or a filter plan, and with PreScore or a score plan."""
        super().__init__()
        self._filtering = filtering
        self._scoring = scoring
        self.reuses_filter = False
        """Every plugin allows that what it said before Filter is said again for another pod of the class."""
        self.reuses_score = False
        self.filter_memo: FilterMemo | None = None
        self.score_memo: ScoreMemo | None = None
        self.followed: dict[Hashable, Following] = {}
        """What PostFilter plugins keep."""
        self.scores: Scores | None = None

    def has_gaps(self, gaps: frozenset[int]) -> None:
        self.reuses_filter = gaps.isdisjoint(self._filtering)
        self.reuses_score = gaps.isdisjoint(self._scoring)

    def is_small(self) -> bool:
        """Plugins were asked for nothing but columns, of all nodes."""
        filters, scores = self.filter_memo, self.score_memo
        return (
            filters is not None
            and filters.entries is not None
            and all(entry.per_node is None for entry in filters.entries)
            and scores is not None
            and scores.parts is not None
            and all(part.column is not None for part in scores.parts)
        )

    def is_valid(self, objects: int) -> bool:
        """Whether no object but pods and nodes has changed since plugins were asked."""
        return self.filter_memo is None or self.filter_memo.dependencies.objects == objects

    def forget(self) -> None:
        self.kept = False
        self.filter_memo = self.score_memo = self.scores = None
        self.followed.clear()


class FeasibleNodes:
    """``verdicts`` is set when all nodes that it calls feasible were found, and no others."""

    __slots__ = (
        "_row",
        "_rows",
        "count",
        "first",
        "in_row_order",
        "order",
        "pod_class",
        "recorded",
        "token",
        "verdicts",
    )

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
        self._row: int | None = None
        """Of a node that was looked at alone."""

    @classmethod
    def alone(cls, pod_class: PodClass, order: NDArray[np.intp], row: int) -> FeasibleNodes:
        """One node, before which no other was looked at."""
        nodes = cls.__new__(cls)
        nodes.pod_class, nodes.order, nodes.first, nodes.in_row_order = pod_class, order, 0, False
        nodes.count, nodes.token, nodes.verdicts, nodes.recorded = 1, object(), None, None
        nodes._rows, nodes._row = None, row
        return nodes

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
        nodes._rows = nodes._row = None
        return nodes

    @property
    def rows(self) -> NDArray[np.intp]:
        """In the order in which they were found."""
        if self._rows is None:
            if self._row is not None:
                self._rows = one_row(self._row)
                return self._rows
            assert self.verdicts is not None
            order, first = self.order, self.first
            if self.count == len(order):
                self._rows = order if first == 0 else np.concatenate((order[first:], order[:first]))
                return self._rows
            self._rows = self.order[self.positions_where(self.verdicts.history.values == 0)]
        return self._rows

    @property
    def only_row(self) -> int:
        """Of one node."""
        return int(self.rows[0]) if self._row is None else self._row

    def positions_where(self, wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Positions in the node list of the rows where ``wanted`` is true, in the order of the search."""
        return in_turn((wanted if self.in_row_order else wanted[self.order]).nonzero()[0], self.first)
