"""Scores: what the Score plugins give a class of pods on every node, normalised and added up.

Columns are of three kinds. Scores that are taken as they are have their sum by row, shared with other classes
(``Sums``). Scores of states (``StateColumn``) are normalised per state and spread over the rows. What is left is
normalised by row. Adding up 5,000 rows costs less than finding out which of them have changed, so totals are made for
every attempt; what is on record are the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.columns import Plan, View
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import BoundsNormalizer, NormalizeScore
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles.node_plans import ScoreNodePlans
from framework.profiles.verdicts import Verdicts
from framework.reuse.columns import ColumnStore, PlanColumn, StateColumn, Work
from framework.reuse.sums import Added, ScoreSums, TotalsType
from framework.trace.attempt import RecordedScores
from framework.trace.history import History, Mark

PerNodeScore = Callable[[CycleState, Pod, NodeInfo], tuple[int, Status | None]]
MakePlan = Callable[[CycleState, PodInfo, View], Plan]
Ints = NDArray[np.int64]


class Normalized(NamedTuple):
    """Scores of states. Arrays are not to be written to."""

    scores: Ints
    weighted: NDArray[Any]
    limits: tuple[int, int]
    """Lowest and highest of ``scores``."""


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """Either ``per_node`` or ``make_plan``. ``local`` may make plans for the former."""

    plugin: str
    weight: int
    per_node: PerNodeScore | None
    make_plan: MakePlan | None
    normalizer: NormalizeScore | None
    bounds: BoundsNormalizer | None
    """The normaliser, if it is of that kind; whether it is for a pod, it says itself."""
    local: ScoreNodePlans | None = None
    known: dict[Any, Normalized] = field(default_factory=dict, compare=False, repr=False)
    """(scores of few states as bytes, their lowest and highest that count) → what the plugin makes of them."""


@dataclass(slots=True)
class ScorePart:
    """``plan`` with its ``column``, or a per-node plugin, or ``failed``: asking for the plan raised."""

    point: ScorePoint
    plan: Plan | None = None
    column: PlanColumn | StateColumn | None = None
    failed: Status | None = None
    bounds: BoundsNormalizer | None = None
    """The normaliser, if this attempt's is of that kind."""
    follows: bool = False
    """Its scores depend on nothing but its column and what is lowest and highest."""

    def raw(self) -> Ints:
        """By row; for reading."""
        assert self.column is not None
        if isinstance(self.column, StateColumn):
            self.column.follow()
            return self.column.by_row()
        return self.column.follow().values.astype(np.int64, copy=False)


NOT_FEASIBLE: Final[dict[type[Any], int]] = {each: int(np.iinfo(each).min) for each in (np.int16, np.int64)}
FEW: Final = 48
"""NumPy takes longer to begin than Python to look at so many numbers."""
MOST_KNOWN: Final = 1024
"""Tables per plugin whose normalised scores are remembered."""
_NO_SCORES: Final[Ints] = np.zeros(0, dtype=np.int64)


class OutOfRange(Exception):
    """A score lies outside of 0 to 100 on a feasible node."""


class Totals(NamedTuple):
    by_row: Added
    """Without ``everywhere``; NOT_FEASIBLE for nodes that are not. Not to be written to."""
    everywhere: int
    """What all feasible nodes have on top."""


class NormalizedByState:
    """A plugin's scores per state, of one column for all classes that have it."""

    __slots__ = ("_among", "_recorded", "_table", "normalized", "same", "weighted")

    def __init__(self) -> None:
        self._table: Ints | None = None
        self._among: tuple[object, object] = (None, None)
        """What the states that feasible nodes are in follow from."""
        self._recorded: RecordedScores | None = None
        self.normalized: Ints = _NO_SCORES
        self.weighted: Added = _NO_SCORES
        self.same: int | None = None
        """What all feasible nodes get, weighted; None when they differ."""

    @classmethod
    def kept_by(cls, column: StateColumn) -> NormalizedByState:
        if not isinstance(column.normalized, NormalizedByState):
            column.normalized = NormalizedByState()
        return column.normalized

    def follow(self, part: ScorePart, verdicts: Verdicts, work: Work, dtype: Any) -> None:
        column = part.column
        assert isinstance(column, StateColumn)
        column.follow()
        table, states = column.table, column.states
        occur = None
        feasible = verdicts.counts[0]
        if feasible == len(verdicts.history.values) or (feasible and len(table) == 1):
            occur, among = states.occurring()[0], None
            mark: object = occur
        else:
            mark, among = states.history.mark(), verdicts.feasible
        if table is self._table and self._among[0] is mark and self._among[1] is among:
            return
        self._table = None  # until all is well: plugins may raise
        if occur is None:
            occur = states.among(verdicts.history.values == 0)
        whole = len(occur) == len(table)
        limits = _limits_of(table if whole else table[occur])
        self.normalized, self.weighted, found = _normalized(part, table, limits, dtype)
        low, high = found if whole else _limits_of(self.normalized[occur])
        if low < MIN_NODE_SCORE or high > MAX_NODE_SCORE:
            raise OutOfRange
        self.same = low * part.point.weight if low == high else None
        self._table, self._among = table, (mark, among)

    def weighted_by_row(self, part: ScorePart) -> Added:
        assert isinstance(part.column, StateColumn)
        return self.weighted.take(part.column.states.history.values)

    def normalized_by_row(self, part: ScorePart) -> NDArray[Any]:
        assert isinstance(part.column, StateColumn)
        return self.normalized[part.column.states.history.values]

    def recorded(self, part: ScorePart) -> RecordedScores:
        point, column, last = part.point, part.column, self._recorded
        assert isinstance(column, StateColumn)
        mark, raw = column.states.history.mark(), column.table
        normalized = None if part.bounds is None else self.normalized
        if (
            last is None
            or last.tables is None
            or last.raw is not mark
            or last.tables[0] is not raw
            or last.tables[1] is not normalized
        ):
            last = self._recorded = RecordedScores(point.plugin, point.weight, mark, None, (raw, normalized))
        return last


class NormalizedByRow:
    """A plugin's normalised scores by row."""

    __slots__ = ("_limits", "_version", "_weighted", "history", "same")

    def __init__(self) -> None:
        self._limits: tuple[int, int] | None = None
        """Lowest and highest raw score among the feasible nodes."""
        self._version = -1
        """Of the raw scores."""
        self.history = History()
        self._weighted: Added = _NO_SCORES
        self.same: int | None = None
        """As of ``OfStates``."""

    def follow(self, part: ScorePart, verdicts: Verdicts, work: Work, dtype: Any) -> None:
        assert isinstance(part.column, PlanColumn)
        assert part.bounds is not None
        version = part.column.version
        limits = _limits(part.column.history, verdicts)
        if version == self._version and limits == self._limits:
            return
        self._version, self._limits = version, limits
        work.whole += 1
        values = part.bounds.normalize_between(part.column.history.values.astype(np.int64), *limits)
        _check_feasible(values, verdicts)
        self._weighted = (values * np.int64(part.point.weight)).astype(dtype)
        self.same = None
        if limits[0] == limits[1]:
            (value,) = part.bounds.normalize_between(np.array(limits[:1], dtype=np.int64), *limits).tolist()
            self.same = value * part.point.weight
        self.history.update(values.astype(np.int8))

    def weighted_by_row(self, part: ScorePart) -> Added:
        return self._weighted

    def normalized_by_row(self, part: ScorePart) -> NDArray[Any]:
        return self.history.values

    def recorded(self, part: ScorePart) -> RecordedScores:
        point, column = part.point, part.column
        assert isinstance(column, PlanColumn)
        return RecordedScores(point.plugin, point.weight, column.history.mark(), self.history.mark())


def _normalized(part: ScorePart, table: Ints, limits: tuple[int, int], dtype: Any) -> Normalized:
    """What a plugin makes of few scores follows from them alone, so it is remembered for all pods."""
    few = len(table) <= FEW
    known = part.point.known
    key = (table.tobytes(), limits) if few else None
    found = known.get(key)
    if found is None:
        scores = table if part.bounds is None else part.bounds.normalize_between(table, *limits)
        found = Normalized(scores, (scores * np.int64(part.point.weight)).astype(dtype), _limits_of(scores))
        if few:
            if len(known) >= MOST_KNOWN:
                known.clear()
            known[key] = found
    return found


def _limits(history: History, verdicts: Verdicts) -> tuple[int, int]:
    """Lowest and highest of the feasible nodes."""
    raw = history.values
    if verdicts.counts[0] != len(raw):
        raw = raw[verdicts.feasible_rows()]
    elif history.limits is not None:
        return history.limits
    return _limits_of(raw)


def _limits_of(values: NDArray[Any]) -> tuple[int, int]:
    """Lowest and highest; (0, 0) of none."""
    if len(values) > FEW:
        return int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
    listed = values.tolist()
    return (min(listed), max(listed)) if listed else (0, 0)


class Scores:
    __slots__ = ("_normalized", "_others", "_snapshot", "_source", "_sums", "_taken", "_verdicts", "_work", "parts")

    def __init__(
        self,
        snapshot: Snapshot,
        columns: ColumnStore,
        verdicts: Verdicts,
        parts: Sequence[ScorePart],
        dtype: TotalsType,
    ) -> None:
        self._snapshot = snapshot
        self._work = work = columns.work
        self._verdicts = verdicts
        self._others: dict[tuple[str, str], History] = {}
        self._sort(parts)
        summed = tuple([(cast("PlanColumn", part.column), part.point.weight) for part in self._taken])
        make = partial(ScoreSums, snapshot, work, summed, dtype)
        self._sums = columns.shared(("sums", summed), map(itemgetter(0), summed), make)
        self._normalized: list[NormalizedByState | NormalizedByRow | None] = [
            NormalizedByState.kept_by(part.column)
            if type(part.column) is StateColumn
            else None
            if part.bounds is None
            else NormalizedByRow()
            for part in self.parts
        ]
        """Of ``parts``; None for those that are taken as they are."""

    def _sort(self, parts: Sequence[ScorePart]) -> None:
        self._source = parts
        self.parts = [part for part in parts if part.follows]
        """Those that can be followed."""
        self._taken = [part for part in self.parts if part.bounds is None and type(part.column) is PlanColumn]

    def is_of(self, verdicts: Verdicts, parts: Sequence[ScorePart]) -> bool:
        if parts is self._source:
            return verdicts is self._verdicts
        parts = [part for part in parts if part.follows]
        return (
            verdicts is self._verdicts
            and len(parts) == len(self.parts)
            and all(
                a.column is b.column and a.point is b.point and a.bounds is b.bounds
                for a, b in zip(parts, self.parts, strict=True)
            )
        )

    def take(self, parts: Sequence[ScorePart]) -> None:
        """The same columns by other plans."""
        if parts is not self._source:
            self._sort(parts)

    def follow(self) -> Totals:
        """Raises OutOfRange, and what kernels raise; these scores are then of no use any more."""
        verdicts = self._verdicts
        self._sums.refresh()
        total = self._sums.total
        if not self._sums.in_range:
            for part in self._taken:
                assert isinstance(part.column, PlanColumn)
                _check_feasible(part.column.history.values, verdicts)
        everywhere, dtype = 0, self._sums.dtype
        for part, normalized in zip(self.parts, self._normalized, strict=True):
            if normalized is None:
                continue
            normalized.follow(part, verdicts, self._work, dtype)
            if normalized.same is not None:
                everywhere += normalized.same
            else:
                self._work.whole += 1
                total = total + normalized.weighted_by_row(part)
        if verdicts.counts[0] != len(total):
            total = total.copy()
            total[verdicts.history.values != 0] = NOT_FEASIBLE[dtype]
        return Totals(total, everywhere)

    # --- reading ----------------------------------------------------------------------------------------------------

    def normalized_by_row(self, plugin: str) -> NDArray[Any] | None:
        """None when its raw scores are the scores, or are not followed."""
        for part, normalized in zip(self.parts, self._normalized, strict=True):
            if part.point.plugin == plugin:
                return None if normalized is None else normalized.normalized_by_row(part)
        return None

    def keep(self, plugin: str, what: str, rows: NDArray[np.intp], values: Ints) -> Mark:
        """Scores that are not followed but given anew each time: on record as what has changed since the last time."""
        history = self._others.get((plugin, what))
        size = self._snapshot.row_count
        if history is None or len(history.values) != size:
            by_row: Ints = np.zeros(size, dtype=np.int64)
            by_row[rows] = values
            history = self._others[plugin, what] = History(by_row)
            return history.mark()
        differs = history.values[rows] != values
        if differs.any():
            changed = rows[differs]
            history.write(changed, values[differs], len(changed))
        return history.mark()

    def recorded(self) -> list[RecordedScores]:
        made = []
        for part, normalized in zip(self.parts, self._normalized, strict=True):
            if normalized is not None:
                made.append(normalized.recorded(part))
            else:
                point, column = part.point, part.column
                assert isinstance(column, PlanColumn)
                made.append(RecordedScores(point.plugin, point.weight, column.history.mark(), None))
        return made


def _check_feasible(values: NDArray[Any], verdicts: Verdicts) -> None:
    """``values`` are those of all rows."""
    if _are_out_of_range(values) and _are_out_of_range(values[verdicts.history.values == 0]):
        raise OutOfRange


def _are_out_of_range(values: NDArray[Any]) -> bool:
    low, high = _limits_of(values)
    return low < MIN_NODE_SCORE or high > MAX_NODE_SCORE
