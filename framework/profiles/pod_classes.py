"""Classes of equal pods: what was worked out for one pod of a class is the beginning for the next.

Two pods are of one class when every plugin of the profile says so by its fragments. A class keeps what plugins answered
before nodes were looked at, and columns over the nodes; both are brought up to date by what has changed since.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from framework.columns import Snapshot
from framework.interface.columns import Plan
from framework.interface.node_info import FIGURES, PodInfo
from framework.interface.plugin import Plugin
from framework.profiles.following import Following
from framework.profiles.memo import FilterMemo, ScoreMemo
from framework.profiles.plan_column import PlanColumn
from framework.profiles.scores import Scores
from framework.profiles.services import ReuseRule
from framework.profiles.signature import signature
from framework.profiles.verdicts import Verdicts
from framework.profiles.work import Work

KEPT_BYTES: Final = 256 << 20
"""What the columns of a profile may take, and again its classes."""
BYTES_OF_ROW: Final = 16
"""Of a column: its values and the whole copy its history begins with."""
BYTES_OF_CLASS_ROW: Final = 48
"""Of a class: verdicts, two or three normalised columns, totals."""
KEPT_SIGNATURES: Final = 8192
SEEN_ONCE: Final = 8192


class PodClass:
    """``kept`` False: nothing of it outlives the attempt."""

    __slots__ = (
        "filter_memo",
        "followed",
        "kept",
        "reuses_filter",
        "reuses_score",
        "score_memo",
        "scores",
        "sights",
        "verdicts",
    )

    def __init__(self, *, reuses_filter: bool, reuses_score: bool) -> None:
        self.reuses_filter = reuses_filter
        """Every plugin allows that what it said before Filter is said again for another pod of the class."""
        self.reuses_score = reuses_score
        self.sights = 0
        self.kept = False
        self.filter_memo: FilterMemo | None = None
        self.score_memo: ScoreMemo | None = None
        self.verdicts: Verdicts | None = None
        self.followed: dict[Hashable, Following] = {}
        """What PostFilter plugins keep."""
        self.scores: Scores | None = None

    def stands(self, objects: int) -> bool:
        """Whether no object but pods and nodes has changed since plugins were asked."""
        return self.filter_memo is None or self.filter_memo.grounds.objects == objects

    def forget(self) -> None:
        self.kept = False
        self.filter_memo = self.score_memo = self.verdicts = self.scores = None
        self.followed.clear()


class PodClasses:
    """The classes and columns of a profile. What is seen for the first time is not kept: it may be the last time."""

    def __init__(
        self,
        filtering: Iterable[Plugin],
        scoring: Iterable[Plugin],
        snapshot: Snapshot,
        rule: ReuseRule,
    ) -> None:
        """``filtering`` have PreFilter or a filter plan, ``scoring`` PreScore or a score plan."""
        self.work = Work()
        self._filtering = tuple(filtering)
        self._scoring = tuple(scoring)
        self._snapshot = snapshot
        self._rule = rule
        self._by_signature: dict[bytes, tuple[PodClass, dict[str, Any]]] = {}
        self._by_fragments: dict[Hashable, PodClass] = {}
        self._seen: dict[int, None] = {}
        self._columns: dict[Hashable, PlanColumn] = {}
        self._heavy: dict[PodClass, None] = {}
        self._passing: PodClass | None = None
        """The class of this attempt, if nothing of it is to be kept."""

    def of(self, pod: PodInfo) -> PodClass:
        if self._passing is not None:
            self._passing.forget()
            self._passing = None
        if self._rule == "off":
            return PodClass(reuses_filter=False, reuses_score=False)
        key = signature(pod)
        known = self._by_signature.get(key)
        if known is None:
            # What was derived from one pod of this signature is true of all.
            known = self._by_signature[key] = (self._class_of(pod), {name: getattr(pod, name) for name in FIGURES})
            _bound(self._by_signature, KEPT_SIGNATURES)
        else:
            pod.__dict__.update(known[1])
        found = known[0]
        found.sights += 1
        if found.sights > 1:
            self._keep(found)
        else:
            self._passing = found
        return found

    def _class_of(self, pod: PodInfo) -> PodClass:
        filtering = tuple(each.fragment(pod) for each in self._filtering)
        scoring = tuple(each.score_fragment(pod) for each in self._scoring)
        found = self._by_fragments.get((filtering, scoring))
        if found is None:
            found = self._by_fragments[filtering, scoring] = PodClass(
                reuses_filter=_reusable(self._filtering, filtering), reuses_score=_reusable(self._scoring, scoring)
            )
            _bound(self._by_fragments, KEPT_SIGNATURES)
        return found

    def _keep(self, found: PodClass) -> None:
        self._heavy.pop(found, None)
        self._heavy[found] = None
        found.kept = True
        bytes_of_class = BYTES_OF_CLASS_ROW * max(1, self._snapshot.row_count)
        while len(self._heavy) > max(1, KEPT_BYTES // bytes_of_class):
            oldest = next(iter(self._heavy))
            del self._heavy[oldest]
            oldest.forget()

    def column(self, plugin: str, plan: Plan, *, scores: bool) -> PlanColumn:
        """The column of equal plans of a plugin."""
        if self._rule == "off" or not plan.inputs:
            return PlanColumn(self._snapshot, self.work)
        key = (plugin, scores, plan.constants, plan.inputs)
        found = self._columns.pop(key, None)
        if found is not None:
            self._columns[key] = found
            return found
        found = PlanColumn(self._snapshot, self.work)
        if self._second_sight(key):
            self._columns[key] = found
            room = KEPT_BYTES // (BYTES_OF_ROW * max(1, self._snapshot.row_count))
            _bound(self._columns, max(64, room))
        return found

    def _second_sight(self, key: Hashable) -> bool:
        number = hash(key)
        if number in self._seen:
            return True
        self._seen[number] = None
        _bound(self._seen, SEEN_ONCE)
        return False


def _reusable(plugins: Sequence[Plugin], fragments: Sequence[Hashable | None]) -> bool:
    return all(plugin.reusable and fragment is not None for plugin, fragment in zip(plugins, fragments, strict=True))


def _bound(kept: dict[Any, Any], limit: int) -> None:
    """The oldest go first."""
    while len(kept) > limit:
        del kept[next(iter(kept))]
