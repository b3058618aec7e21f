"""PodClass: what plugins said to a class of equal pods, and the scores that were made of it.

A memo holds while no object but pods and nodes has changed, and nothing that a plugin named to ``CycleState.rests_on``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from framework.interface.plugin import PreFilterExtensions, PreFilterResult
from framework.interface.status import Status
from framework.profiles.filter_entry import FilterEntry
from framework.profiles.following import Following
from framework.profiles.score_part import ScorePart
from framework.profiles.scores import Scores
from framework.profiles.verdicts import Verdicts
from framework.reuse.grounds import Grounds, Written
from framework.reuse.pod_classes import KeptForClass
from framework.trace.attempt import PluginOutcome, PreFilterOutcome


@dataclass(frozen=True, slots=True)
class PreFilterAnswer:
    result: PreFilterResult
    status: Status
    limiting: frozenset[str]
    """Plugins that returned a node list: rejectors if the pod ends unschedulable
    (docs/semantics/framework.md#node-lists-of-prefilter)."""


@dataclass(slots=True)
class FilterMemo:
    grounds: Grounds
    answer: PreFilterAnswer
    outcomes: tuple[PreFilterOutcome, ...]
    skipped: frozenset[str]
    written: Written
    entries: tuple[FilterEntry, ...] | None = None
    """None until Filter was reached."""
    extensions: tuple[tuple[str, PreFilterExtensions], ...] = ()
    verdicts: Verdicts | None = None
    local: tuple[FilterEntry, ...] = ()
    """The entries with plans that were made for plugins."""


@dataclass(slots=True)
class ScoreMemo:
    grounds: Grounds
    outcomes: tuple[PluginOutcome, ...]
    skipped: frozenset[str]
    written: Written
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

    def stands(self, objects: int) -> bool:
        """Whether no object but pods and nodes has changed since plugins were asked."""
        return self.filter_memo is None or self.filter_memo.grounds.objects == objects

    def forget(self) -> None:
        self.kept = False
        self.filter_memo = self.score_memo = self.scores = None
        self.followed.clear()
