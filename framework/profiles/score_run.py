"""Scoring the feasible nodes: Score, NormalizeScore, range check, weights.

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
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.interface.status import Status
from framework.profiles.feasible import FeasibleNodes
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.pod_class import PodClass
from framework.profiles.score_part import Ints, ScorePart, ScorePoint
from framework.profiles.scores import NOT_FEASIBLE, Scores, Totals
from framework.profiles.verdicts import Verdicts
from framework.reuse.column_store import ColumnStore
from framework.reuse.sums import TotalsType
from framework.reuse.work import Work
from framework.trace.attempt import PluginScores, RecordedScores, ScoreTrace, margin_of

_INT64: Final = 1 << 64
UNSIGNED: Final = {np.dtype(np.int16): np.uint16, np.dtype(np.int64): np.uint64}


class Scored(NamedTuple):
    """``tied``: positions of the best nodes, in the order in which they were found."""

    trace: ScoreTrace
    tied: NDArray[np.intp]
    places: Callable[[], NDArray[np.intp]]
    """Their places among the feasible nodes."""


def score_parts(
    points: Sequence[ScorePoint],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    columns: ColumnStore,
    *,
    kept: bool,
) -> list[ScorePart]:
    """``kept``: the pod's class is."""
    parts = []
    for point in points:
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


def score_nodes(
    parts: Sequence[ScorePart],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    found: FeasibleNodes,
    columns: ColumnStore,
    dtype: TotalsType,
) -> Scored | Status:
    """The scores of ``found``, or the error that ends the attempt."""
    work = columns.work
    failed = [part for part in parts if part.failed is not None]
    if found.verdicts is not None and not failed:
        try:
            scores, totals = _followed(found.pod_class, found.verdicts, parts, snapshot, columns, dtype)
        except Exception:  # noqa: BLE001 - a plugin may raise anything; what it is, the other way finds out
            found.pod_class.scores = None
        else:
            if len(scores.parts) == len(parts):
                return _best_of_columns(scores, totals, found, work)
            return _with_others(scores, totals, parts, state, pod, snapshot, found, work)
    return _one_by_one(parts, state, pod, snapshot, found, work)


def _followed(
    pod_class: PodClass,
    verdicts: Verdicts,
    parts: Sequence[ScorePart],
    snapshot: Snapshot,
    columns: ColumnStore,
    dtype: TotalsType,
) -> tuple[Scores, Totals]:
    scores = pod_class.scores
    if scores is None or not scores.is_of(verdicts, parts):
        scores = pod_class.scores = Scores(snapshot, columns, verdicts, parts, dtype)
    else:
        scores.take(parts)
    return scores, scores.follow()


def _best_of_columns(scores: Scores, totals: Totals, found: FeasibleNodes, work: Work) -> Scored:
    """Every plugin's scores are followed."""
    assert found.recorded is not None
    work.whole += 1
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
    trace = ScoreTrace.of(found.recorded, scores.recorded(), found.count, best, len(tied), margin)
    return Scored(trace, tied, lambda: _places(found, tied))


def _places(found: FeasibleNodes, positions: NDArray[np.intp]) -> NDArray[np.intp]:
    assert found.verdicts is not None
    feasible = found.verdicts.history.values[found.order] == 0
    before = np.cumsum(feasible) - 1
    skipped = int(np.count_nonzero(feasible[: found.first]))
    places: NDArray[np.intp] = (before[positions] - skipped) % found.count
    return places


def _with_others(
    scores: Scores,
    totals: Totals,
    parts: Sequence[ScorePart],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    found: FeasibleNodes,
    work: Work,
) -> Scored | Status:
    """Some plugins answer node by node, or normalise all scores at once."""
    rows, told = found.rows, found.recorded
    assert told is not None
    asked = _ask([part for part in parts if not part.follows], state, pod, snapshot, rows, work)
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
    tied = snapshot.position_of_row[rows[places]]
    ordered = [recorded[part.point.plugin] for part in parts]
    margin = margin_of(total, best)
    trace = ScoreTrace.of(told, ordered, found.count, best, len(tied), margin)
    return Scored(trace, tied, lambda: places)


def _one_by_one(
    parts: Sequence[ScorePart], state: CycleState, pod: PodInfo, snapshot: Snapshot, found: FeasibleNodes, work: Work
) -> Scored | Status:
    """For some of the nodes, and to find out which error comes first."""
    rows = found.rows
    scores = _ask(parts, state, pod, snapshot, rows, work)
    if isinstance(scores, Status):
        return scores
    if (refused := _out_of_range(scores)) is not None:
        return refused
    total = np.zeros(len(rows), dtype=np.int64)
    for each in scores:
        total += each.normalized * np.int64(each.weight)
    positions = snapshot.position_of_row[rows]
    places = np.flatnonzero(total == total.max())
    return Scored(ScoreTrace(positions, scores, total, positions[places]), positions[places], lambda: places)


def _ask(
    parts: Sequence[ScorePart],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    rows: NDArray[np.intp],
    work: Work,
) -> list[PluginScores] | Status:
    raw = _raw_scores(parts, state, pod, snapshot, rows, work)
    if isinstance(raw, Status):
        return raw
    scores: list[PluginScores] = []
    for part in parts:
        plugin, normalizer = part.point.plugin, part.point.normalizer
        mine = raw[plugin]
        normalized = mine
        if normalizer is not None:
            try:
                normalized, status = normalizer.normalize_score(state, pod.pod, mine.copy(), rows)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if not answer(status).is_success:
                text = f'plugin "{plugin}" failed with: {error_text(answer(status))}'
                return Status.as_error(f"running Normalize on Score plugins: {text}")
        scores.append(PluginScores(plugin, part.point.weight, mine, normalized))
    return scores


def _raw_scores(
    parts: Sequence[ScorePart],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    rows: NDArray[np.intp],
    work: Work,
) -> dict[str, Ints] | Status:
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
        return _failed_first(parts, failed, state, pod, snapshot, rows)
    if per_node:
        work.node_calls += len(per_node) * len(rows)
        wrong = _ask_nodes(per_node, state, pod, snapshot.nodes_of_rows(rows), raw)
        if wrong is not None:
            return wrong
    return raw


def _ask_nodes(
    points: Sequence[ScorePoint], state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo], raw: dict[str, Ints]
) -> Status | None:
    """Node by node, every plugin; the error of the first that fails."""
    if len(points) > 1:
        lists: list[list[int]] = [[] for _ in points]
        for node in nodes:
            for point, values in zip(points, lists, strict=True):
                value = _one(point, state, pod, node)
                if isinstance(value, Status):
                    return _score_error(point.plugin, value)
                values.append(value)
    else:
        (point,) = points
        assert point.per_node is not None
        asked = map(point.per_node, repeat(state), repeat(pod.pod), nodes)
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


def _one(point: ScorePoint, state: CycleState, pod: PodInfo, node: NodeInfo) -> int | Status:
    assert point.per_node is not None
    try:
        value, status = point.per_node(state, pod.pod, node)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return raised(error)
    return value if status is None or status.is_success else status


def _failed_first(
    parts: Sequence[ScorePart],
    failed: dict[str, Status],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    rows: NDArray[np.intp],
) -> Status:
    node = snapshot.info_of_row(int(rows[0]))
    assert node is not None
    for part in parts:
        point = part.point
        if point.plugin in failed:
            return _score_error(point.plugin, failed[point.plugin])
        if point.per_node is not None and isinstance(value := _one(point, state, pod, node), Status):
            return _score_error(point.plugin, value)
    raise AssertionError("a plugin failed that is not in the profile")


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
