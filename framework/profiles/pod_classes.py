"""Classes of equal pods: what was worked out for one pod of a class is the beginning for the next.

Two pods are of one class when every plugin of the profile says so by its fragments. A class keeps what plugins answered
before nodes were looked at, and columns over the nodes; both are brought up to date by what has changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

from framework.columns import Sights, Snapshot, groupings
from framework.interface.columns import Input, Plan
from framework.interface.node_info import FIGURES, PodInfo
from framework.interface.plugin import Plugin
from framework.interface.signature import signature
from framework.profiles.filter_entry import FilterEntry
from framework.profiles.following import Following
from framework.profiles.memo import FilterMemo, ScoreMemo
from framework.profiles.plan_column import PlanColumn
from framework.profiles.score_part import ScorePart
from framework.profiles.scores import Scores
from framework.profiles.services import ReuseRule
from framework.profiles.state_column import StateColumn, States
from framework.profiles.sums import Sums, totals_type
from framework.profiles.verdicts import Verdicts
from framework.profiles.work import Work

C = TypeVar("C", bound="PlanColumn | StateColumn")

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
    )

    def __init__(self, *, reuses_filter: bool, reuses_score: bool) -> None:
        self.reuses_filter = reuses_filter
        """Every plugin allows that what it said before Filter is said again for another pod of the class."""
        self.reuses_score = reuses_score
        self.sights = 0
        self.kept = False
        self.filter_memo: FilterMemo | None = None
        self.score_memo: ScoreMemo | None = None
        self.followed: dict[Hashable, Following] = {}
        """What PostFilter plugins keep."""
        self.scores: Scores | None = None

    @property
    def is_columnar(self) -> bool:
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


class PodClasses:
    """The classes and columns of a profile. Columns by row are not kept when they are seen for the first time: it may
    be the last time."""

    def __init__(
        self,
        filtering: Sequence[Plugin],
        scoring: Sequence[Plugin],
        snapshot: Snapshot,
        rule: ReuseRule,
        weights: int,
    ) -> None:
        """``filtering`` have PreFilter or a filter plan, ``scoring`` PreScore or a score plan; ``weights``: the sum of
        those of all Score plugins, without their signs."""
        self.work = Work()
        self.dtype_of_totals = totals_type(weights)
        self._filtering = frozenset(filtering)
        self._scoring = frozenset(scoring)
        self._plugins = tuple(dict.fromkeys([*filtering, *scoring]))
        self._snapshot = snapshot
        self._rule = rule
        self._by_signature: dict[bytes, tuple[PodClass, dict[str, Any]]] = {}
        self._by_fragments: dict[Hashable, PodClass] = {}
        self._seen = Sights(SEEN_ONCE)
        self._columns: dict[Hashable, PlanColumn | StateColumn] = {}
        self._states: WeakValueDictionary[tuple[Input, ...], States] = WeakValueDictionary()
        self._verdicts: WeakValueDictionary[Hashable, Verdicts] = WeakValueDictionary()
        self._sums: WeakValueDictionary[Hashable, Sums] = WeakValueDictionary()
        self._passed: dict[bytes, PodClass] = {}
        """By signature, classes of one pod whose fragments were not all asked for."""
        self._fragments = Sights(SEEN_ONCE)
        self._telling = 0
        """Number of the plugin whose fragments told the last new class from all others."""
        self._heavy: dict[PodClass, None] = {}
        self._passing: PodClass | None = None
        """The class of this attempt, if it is seen for the first time."""
        self._own: set[PlanColumn] = set()
        """Columns by row that this attempt made and nobody else has."""

    def of(self, pod: PodInfo) -> PodClass:
        if self._passing is not None:
            # What has no rows of its own is small, and may come again.
            if self._own or not self._passing.is_columnar:
                self._passing.forget()
            else:
                self._keep(self._passing)
            self._passing = None
        self._own.clear()
        if self._rule == "off":
            return PodClass(reuses_filter=False, reuses_score=False)
        key = signature(pod)
        known = self._by_signature.get(key)
        if known is None:
            if key not in self._passed and self._is_unlike_any(pod):
                self._passing = self._passed[key] = PodClass(reuses_filter=False, reuses_score=False)
                self._passing.sights = 1
                _bound(self._passed, SEEN_ONCE)
                return self._passing
            passed = self._passed.pop(key, None)
            # What was derived from one pod of this signature is true of all.
            known = self._by_signature[key] = (
                self._class_of(pod, passed),
                {name: getattr(pod, name) for name in FIGURES},
            )
            _bound(self._by_signature, KEPT_SIGNATURES)
            if passed is not None and known[0] is not passed:
                known[0].sights += passed.sights
                passed.forget()
        else:
            pod.__dict__.update(known[1])
        found = known[0]
        found.sights += 1
        if found.sights > 1:
            self._keep(found)
        else:
            self._passing = found
        return found

    def _is_unlike_any(self, pod: PodInfo) -> bool:
        """A pod that has a fragment which nobody had is the first of its class. It may be the last, too, so only the
        plugin is asked by which the last such pod was told."""
        number = self._telling
        if number >= len(self._plugins):
            return False
        fragment = self._plugins[number].fragment(pod)
        return fragment is not None and not self._fragments.again((number, fragment))

    def _class_of(self, pod: PodInfo, passed: PodClass | None) -> PodClass:
        """``passed``: of an equal pod, if there was one."""
        fragments = tuple([each.fragment(pod) for each in self._plugins])
        found = self._by_fragments.get(fragments)
        if found is None:
            found = passed or PodClass(reuses_filter=False, reuses_score=False)
            silent = {each for each, fragment in zip(self._plugins, fragments, strict=True) if fragment is None}
            found.reuses_filter = silent.isdisjoint(self._filtering)
            found.reuses_score = silent.isdisjoint(self._scoring)
            self._by_fragments[fragments] = found
            _bound(self._by_fragments, KEPT_SIGNATURES)
            # The last one is the most particular: what is scored is more than what is filtered by.
            for number, fragment in enumerate(fragments):
                if fragment is not None and not self._fragments.again((number, fragment)):
                    self._telling = number
        return found

    def is_fleeting(self, found: PodClass | None) -> bool:
        """Known already to be forgotten after this attempt: nothing need be noted for another pod."""
        return found is self._passing and bool(self._own)

    def _keep(self, found: PodClass) -> None:
        self._heavy.pop(found, None)
        self._heavy[found] = None
        found.kept = True
        bytes_of_class = BYTES_OF_CLASS_ROW * max(1, self._snapshot.row_count)
        while len(self._heavy) > max(1, KEPT_BYTES // bytes_of_class):
            oldest = next(iter(self._heavy))
            del self._heavy[oldest]
            oldest.forget()

    def filter_column(self, plugin: str, plan: Plan) -> PlanColumn:
        """The column of equal plans of a plugin."""
        return self._column(("filter", plugin), plan, lambda: PlanColumn(self._snapshot, self.work, plan))

    def score_column(self, plugin: str, plan: Plan) -> PlanColumn | StateColumn:
        def make() -> PlanColumn | StateColumn:
            if plan.inputs and groupings(plan.inputs) is not None:
                return StateColumn(self._states_of(plan.inputs), self.work, plan)
            return PlanColumn(self._snapshot, self.work, plan)

        return self._column(("score", plugin), plan, make)

    def _column(self, whose: Hashable, plan: Plan, make: Callable[[], C]) -> C:
        if self._rule == "off" or not plan.inputs:
            return make()
        key = (whose, plan.constants, plan.inputs)
        known = self._columns.pop(key, None)
        if known is not None:
            self._columns[key] = known
            return cast("C", known)
        found = make()
        if self._seen.again(key):
            self._columns[key] = found
            room = KEPT_BYTES // (BYTES_OF_ROW * max(1, self._snapshot.row_count))
            _bound(self._columns, max(64, room))
        elif isinstance(found, PlanColumn):
            self._own.add(found)
        return found

    def _states_of(self, inputs: tuple[Input, ...]) -> States:
        found = self._states.get(inputs)
        if found is None:
            found = self._states[inputs] = States(self._snapshot, inputs)
        return found

    def verdicts(self, entries: Sequence[FilterEntry]) -> Verdicts:
        """Of these columns."""
        columns = [entry.column for entry in entries]
        if self._rule == "off" or not self._own.isdisjoint(columns):
            return Verdicts(self._snapshot, self.work, entries)
        if None in columns and any(entry.error is not None for entry in entries):
            return Verdicts(self._snapshot, self.work, entries)
        key = tuple([each for each in enumerate(columns) if each[1] is not None])
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = Verdicts(self._snapshot, self.work, entries)
        return found

    def sums(self, parts: Sequence[ScorePart]) -> Sums:
        """Of the columns of ``parts``."""
        columns = tuple([(cast("PlanColumn", part.column), part.point.weight) for part in parts])
        found = self._sums.get(columns)
        if found is None:
            found = Sums(self._snapshot, self.work, columns, self.dtype_of_totals)
            if self._own.isdisjoint(map(itemgetter(0), columns)):
                self._sums[columns] = found
        return found


def _bound(kept: dict[Any, Any], limit: int) -> None:
    """The oldest go first."""
    while len(kept) > limit:
        del kept[next(iter(kept))]
