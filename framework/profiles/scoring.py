"""Scoring: PreScore, Score, NormalizeScore, range check and weights, of the feasible nodes.

Rules: docs/semantics/framework.md#extension-points.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface import plugin as points
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.profiles.build import EnabledPlugins
from framework.profiles.node_plans import ScoreNodePlans
from framework.profiles.outcomes import SharedOutcomes, answer, error_text, raised
from framework.profiles.pod_class import FeasibleNodes, PodClass, ScoreMemo
from framework.profiles.scores import NOT_FEASIBLE, Ints, ScorePart, ScorePoint, Scores, Totals
from framework.profiles.services import Services
from framework.profiles.verdicts import Verdicts
from framework.reuse.columns import ColumnStore, Work
from framework.reuse.pod_classes import Dependencies, PodClasses, WrittenState
from framework.reuse.sums import totals_type
from framework.trace.attempt import AttemptTrace, PluginOutcome, PluginScores, RecordedScores, ScoreTrace, margin_of

_INT64: Final = 1 << 64
UNSIGNED: Final = {np.dtype(np.int16): np.uint16, np.dtype(np.int64): np.uint64}


class Scored(NamedTuple):
    """``tied``: positions of the best nodes, in the order in which they were found."""

    trace: ScoreTrace
    tied: NDArray[np.intp]
    places: Callable[[], NDArray[np.intp]]
    """Their places among the feasible nodes."""


class Scoring:
    """PreScore and Score of a profile."""

    def __init__(
        self, enabled: EnabledPlugins, services: Services, classes: PodClasses[PodClass], columns: ColumnStore
    ) -> None:
        self._services = services
        self._snapshot = services.snapshot
        self._classes = classes
        self._columns = columns
        self._pre_score = tuple((each.name, each.pre_score) for each in enabled.pre_score)
        # Outcomes that are usual are made once.
        self._passing = {each.name: PluginOutcome(each.name, SUCCESS) for each in enabled.pre_score}
        self._skipping = {each.name: PluginOutcome(each.name, SKIP) for each in enabled.pre_score}
        self._outcomes = SharedOutcomes[PluginOutcome]()
        self._points = tuple(self._point(each, enabled.weights[each.name]) for each in enabled.score)
        self.totals_type = totals_type(sum(map(abs, enabled.weights.values())))

    def _point(self, plugin: points.Plugin, weight: int) -> ScorePoint:
        normalizer = plugin if isinstance(plugin, points.NormalizeScore) else None
        bounds = normalizer if isinstance(normalizer, points.BoundsNormalizer) else None
        if isinstance(plugin, points.ScorePlugin) and not points.scores_columns(plugin):
            keeps = plugin.is_node_local and self._services.reuse == "used"
            local = ScoreNodePlans(plugin, self._columns.work) if keeps else None
            return ScorePoint(plugin.name, weight, plugin.score, None, normalizer, bounds, local)
        assert isinstance(plugin, points.ColumnScorePlugin)
        return ScorePoint(plugin.name, weight, None, plugin.score_plan, normalizer, bounds)

    def run_pre_score(self, state: CycleState, pod: PodInfo, found: FeasibleNodes, trace: AttemptTrace) -> Status:
        pod_class = found.pod_class
        memo = pod_class.score_memo
        revision = self._services.objects.others_revision
        if memo is not None and pod_class.reuses_score and memo.dependencies.unchanged(revision, found.token):
            memo.written.restore(state)
            state.skip_score = memo.skipped
            trace.pre_score = memo.outcomes
            return SUCCESS
        if self._classes.is_fleeting(pod_class):
            result = self.ask_pre_score(state, pod, found.rows, trace)
            state.take_grounds()
            return result
        before = state.snapshot()
        result = self.ask_pre_score(state, pod, found.rows, trace)
        inputs, feasible = state.take_grounds()
        pod_class.score_memo = None
        if result.is_success:
            after = state.snapshot()
            written = {key: value for key, value in after.items() if before.get(key) is not value}
            dependencies = Dependencies(revision, inputs, found.token if feasible else None)
            pod_class.score_memo = ScoreMemo(dependencies, trace.pre_score, state.skip_score, WrittenState(written))
        return result

    def ask_pre_score(self, state: CycleState, pod: PodInfo, feasible: NDArray[np.intp], trace: AttemptTrace) -> Status:
        outcomes: list[PluginOutcome] = []
        skipped: list[str] = []
        result = SUCCESS
        for plugin, pre_score in self._pre_score:
            try:
                status = pre_score(state, pod, self._snapshot, feasible)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if status is None or status is SUCCESS:
                outcomes.append(self._passing[plugin])
            elif status is SKIP:
                outcomes.append(self._skipping[plugin])
                skipped.append(plugin)
            else:
                outcomes.append(PluginOutcome(plugin, status))
                if status.code is Code.SKIP:
                    skipped.append(plugin)
                elif not status.is_success:
                    result = Status.as_error(f'running PreScore plugin "{plugin}": {error_text(status)}')
                    break
        trace.pre_score = self._outcomes.shared(outcomes)
        state.skip_score = frozenset(skipped)
        return result

    def run_score(self, state: CycleState, pod: PodInfo, found: FeasibleNodes) -> Scored | Status:
        memo = found.pod_class.score_memo
        if memo is None or memo.parts is None:
            parts = self.parts(state, pod, kept=found.pod_class.kept)
            local = any([part.point.local is not None for part in parts])  # noqa: C419 (half of the time)
            inputs, _ = state.take_grounds()
            if memo is not None:
                memo.parts, memo.local = parts, local
                memo.dependencies.also(inputs)
        else:
            parts, local = memo.parts, memo.local
        return self.run_by(complete(parts, found) if local else parts, state, pod, found)

    def run_by(
        self, parts: Sequence[ScorePart], state: CycleState, pod: PodInfo, found: FeasibleNodes
    ) -> Scored | Status:
        """The scores of ``found``, or the error that ends the attempt."""
        asking = NodeByNode(state, pod, self._snapshot, found, self._columns.work)
        if found.verdicts is None or any([part.failed is not None for part in parts]):  # noqa: C419 (half of the time)
            return asking.alone(parts)
        try:
            scores, totals = self._followed(found.pod_class, found.verdicts, parts)
        except Exception:  # noqa: BLE001 - a plugin may raise anything; what it is, the other way finds out
            found.pod_class.scores = None
            return asking.alone(parts)
        if len(scores.parts) == len(parts):
            return self._best_of_columns(scores, totals, found)
        return asking.beside(scores, totals, parts)

    def _followed(self, pod_class: PodClass, verdicts: Verdicts, parts: Sequence[ScorePart]) -> tuple[Scores, Totals]:
        scores = pod_class.scores
        if scores is None or not scores.is_of(verdicts, parts):
            scores = pod_class.scores = Scores(self._snapshot, self._columns, verdicts, parts, self.totals_type)
        else:
            scores.take(parts)
        return scores, scores.follow()

    def _best_of_columns(self, scores: Scores, totals: Totals, found: FeasibleNodes) -> Scored:
        """Every plugin's scores are followed."""
        assert found.recorded is not None
        self._columns.work.whole += 1
        by_row = totals.by_row
        best = by_row.item(by_row.argmax())
        # Seen as numbers without a sign, 0 for the best, whatever is less comes after them: most of all what is next.
        less = by_row - best
        tied = found.positions_where(less == 0)
        unsigned = less.view(UNSIGNED[less.dtype])
        margin = -unsigned.item(unsigned.argmax()) % (1 << 8 * less.itemsize)
        if margin == best - NOT_FEASIBLE[less.dtype.type]:
            margin = 0
        best += totals.everywhere
        trace = ScoreTrace.from_recording(found.recorded, scores.recorded(), found.count, best, len(tied), margin)
        return Scored(trace, tied, lambda: _places(found, tied))

    def parts(self, state: CycleState, pod: PodInfo, *, kept: bool) -> list[ScorePart]:
        """``kept``: the pod's class is."""
        snapshot, columns = self._snapshot, self._columns
        parts = []
        for point in self._points:
            if point.plugin in state.skip_score:
                continue
            plan = None
            try:
                if point.make_plan is not None:
                    columns.work.plans += 1
                    plan = point.make_plan(state, pod, snapshot)
                elif point.local is not None:
                    plan = point.local.plan(pod, snapshot, kept=kept)
                if plan is None:
                    parts.append(ScorePart(point))
                    continue
                column = columns.by_row_or_state(("score", point.plugin), plan)
                bounds = point.bounds
                if bounds is not None and not bounds.is_bounded(state):
                    bounds = None
                follows = point.normalizer is None or bounds is not None
                parts.append(ScorePart(point, plan, column, None, bounds, follows))
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                parts.append(ScorePart(point, failed=raised(error)))
        return parts


def complete(parts: list[ScorePart], found: FeasibleNodes) -> list[ScorePart]:
    """The same parts, where scores that were kept lack one of a feasible node without them: to be asked again."""
    for place, part in enumerate(parts):
        local = part.point.local
        if local is None or part.plan is None or part.column is None:
            continue
        if local.lacks_one(part.raw(), lambda: found.rows):
            parts = [*parts[:place], ScorePart(part.point), *parts[place + 1 :]]
    return parts


def _places(found: FeasibleNodes, positions: NDArray[np.intp]) -> NDArray[np.intp]:
    assert found.verdicts is not None
    feasible = found.verdicts.history.values[found.order] == 0
    before = np.cumsum(feasible) - 1
    skipped = int(np.count_nonzero(feasible[: found.first]))
    places: NDArray[np.intp] = (before[positions] - skipped) % found.count
    return places


class NodeByNode:
    """Scores of one pod where plugins answer node by node, or normalise all scores at once."""

    __slots__ = ("_found", "_pod", "_snapshot", "_state", "_work")

    def __init__(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, found: FeasibleNodes, work: Work) -> None:
        self._state = state
        self._pod = pod
        self._snapshot = snapshot
        self._found = found
        self._work = work

    def beside(self, scores: Scores, totals: Totals, parts: Sequence[ScorePart]) -> Scored | Status:
        """Some plugins answer node by node, or normalise all scores at once."""
        found, rows = self._found, self._found.rows
        filtered = found.recorded
        assert filtered is not None
        asked = self.ask([part for part in parts if not part.follows])
        if isinstance(asked, Status):
            return asked
        if (refused := _out_of_range(asked)) is not None:
            return refused
        total = totals.by_row[rows].astype(np.int64) + totals.everywhere
        recorded = {each.plugin: each for each in scores.recorded()}
        for each in asked:
            total += each.normalized * np.int64(each.weight)
            marks = [
                scores.keep(each.plugin, what, rows, values)
                for what, values in (("raw", each.raw), ("normalized", each.normalized))
            ]
            recorded[each.plugin] = RecordedScores(each.plugin, each.weight, marks[0], marks[1])
        best = int(total.max())
        places = np.flatnonzero(total == best)
        tied = self._snapshot.position_of_row[rows[places]]
        ordered = [recorded[part.point.plugin] for part in parts]
        margin = margin_of(total, best)
        trace = ScoreTrace.from_recording(filtered, ordered, found.count, best, len(tied), margin)
        return Scored(trace, tied, lambda: places)

    def alone(self, parts: Sequence[ScorePart]) -> Scored | Status:
        """For some of the nodes, and to find out which error comes first."""
        rows = self._found.rows
        scores = self.ask(parts)
        if isinstance(scores, Status):
            return scores
        if (refused := _out_of_range(scores)) is not None:
            return refused
        total = np.zeros(len(rows), dtype=np.int64)
        for each in scores:
            total += each.normalized * np.int64(each.weight)
        positions = self._snapshot.position_of_row[rows]
        places = np.flatnonzero(total == total.max())
        return Scored(ScoreTrace(positions, scores, total, positions[places]), positions[places], lambda: places)

    def ask(self, parts: Sequence[ScorePart]) -> list[PluginScores] | Status:
        """Raw and normalised, whether in range or not."""
        raw = self._raw_scores(parts)
        if isinstance(raw, Status):
            return raw
        scores: list[PluginScores] = []
        for part in parts:
            plugin, normalizer = part.point.plugin, part.point.normalizer
            mine = raw[plugin]
            normalized = mine
            if normalizer is not None:
                try:
                    normalized, status = normalizer.normalize_score(
                        self._state, self._pod.pod, mine.copy(), self._found.rows
                    )
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    status = raised(error)
                if not answer(status).is_success:
                    text = f'plugin "{plugin}" failed with: {error_text(answer(status))}'
                    return Status.as_error(f"running Normalize on Score plugins: {text}")
            scores.append(PluginScores(plugin, part.point.weight, mine, normalized))
        return scores

    def _raw_scores(self, parts: Sequence[ScorePart]) -> dict[str, Ints] | Status:
        rows = self._found.rows
        raw: dict[str, Ints] = {}
        failed: dict[str, Status] = {}
        per_node = []
        for part in parts:
            plugin = part.point.plugin
            if part.failed is not None:
                failed[plugin] = part.failed
            elif part.column is None:
                per_node.append(part.point)
            else:
                try:
                    raw[plugin] = part.raw()[rows]
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    failed[plugin] = raised(error)
        if failed:
            # Upstream meets the first plugin in order that fails, at the first node.
            return self._failed_first(parts, failed)
        if per_node:
            self._work.node_calls += len(per_node) * len(rows)
            wrong = self._ask_nodes(per_node, raw)
            if wrong is not None:
                return wrong
        return raw

    def _ask_nodes(self, points: Sequence[ScorePoint], raw: dict[str, Ints]) -> Status | None:
        """Node by node, every plugin; the error of the first that fails."""
        nodes = self._snapshot.nodes_of_rows(self._found.rows)
        if len(points) > 1:
            lists: list[list[int]] = [[] for _ in points]
            for node in nodes:
                for point, values in zip(points, lists, strict=True):
                    value = self._one(point, node)
                    if isinstance(value, Status):
                        return _score_error(point.plugin, value)
                    values.append(value)
        else:
            (point,) = points
            assert point.per_node is not None
            asked = map(point.per_node, repeat(self._state), repeat(self._pod.pod), nodes)
            try:
                mine = [value for value, status in asked if status is None or _succeeded(status)]
            except _Refused as refused:
                return _score_error(point.plugin, refused.status)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                return _score_error(point.plugin, raised(error))
            lists = [mine]
        for point, values in zip(points, lists, strict=True):
            raw[point.plugin] = _as_int64(values)
        return None

    def _one(self, point: ScorePoint, node: NodeInfo) -> int | Status:
        assert point.per_node is not None
        try:
            value, status = point.per_node(self._state, self._pod.pod, node)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            return raised(error)
        return value if status is None or status.is_success else status

    def _failed_first(self, parts: Sequence[ScorePart], failed: dict[str, Status]) -> Status:
        node = self._snapshot.info_of_row(int(self._found.rows[0]))
        assert node is not None
        for part in parts:
            point = part.point
            if point.plugin in failed:
                return _score_error(point.plugin, failed[point.plugin])
            if point.per_node is not None and isinstance(value := self._one(point, node), Status):
                return _score_error(point.plugin, value)
        raise AssertionError("a plugin failed that is not in the profile")


class _Refused(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


def _succeeded(status: Status) -> bool:
    if not status.is_success:
        raise _Refused(status)
    return True


def _as_int64(values: list[int]) -> Ints:
    """As upstream's int64: out of its range a number wraps, and the range check after normalising sees it."""
    try:
        return np.frombuffer(array("q", values), dtype=np.int64)
    except (OverflowError, TypeError):
        return np.array([(value + _INT64 // 2) % _INT64 - _INT64 // 2 for value in values], dtype=np.int64)


def _score_error(plugin: str, status: Status) -> Status:
    return Status.as_error(f'running Score plugins: plugin "{plugin}" failed with: {error_text(status)}')


def _out_of_range(scores: Sequence[PluginScores]) -> Status | None:
    """Upstream checks node by node and plugin by plugin, and names the first."""
    first: tuple[int, int] | None = None
    for k, each in enumerate(scores):
        bad = (each.normalized < MIN_NODE_SCORE) | (each.normalized > MAX_NODE_SCORE)
        if bad.any():
            place = (int(bad.argmax()), k)
            first = place if first is None else min(first, place)
    if first is None:
        return None
    index, k = first
    text = (
        f'plugin "{scores[k].plugin}" returns an invalid score {int(scores[k].normalized[index])}, '
        f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    )
    return Status.as_error(f"applying score defaultWeights on Score plugins: {text}")
