"""Scoring the feasible nodes: Score, NormalizeScore, range check, weights (spec: framework §2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.columns import Plan, View
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles.outcomes import answer, error_text, raised
from framework.trace.attempt import PluginScores

PerNodeScore = Callable[[CycleState, Pod, NodeInfo], tuple[int, Status | None]]
MakePlan = Callable[[CycleState, PodInfo, View], Plan]
Normalize = Callable[[CycleState, Pod, NDArray[np.int64], NDArray[np.intp]], tuple[NDArray[np.int64], Status | None]]
_INT64: Final = 1 << 64


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """One Score plugin of a profile: either ``per_node`` or ``make_plan``."""

    plugin: str
    weight: int
    per_node: PerNodeScore | None
    make_plan: MakePlan | None
    normalize: Normalize | None


def score_nodes(
    points: Sequence[ScorePoint], state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: NDArray[np.intp]
) -> tuple[list[PluginScores], NDArray[np.int64]] | Status:
    """(scores per plugin, totals), in the order of ``rows``; or the error that ends the attempt."""
    raw = _raw_scores(points, state, pod, snapshot, rows)
    if isinstance(raw, Status):
        return raw
    scores: list[PluginScores] = []
    for point in points:
        mine = raw[point.plugin]
        normalized = mine
        if point.normalize is not None:
            try:
                normalized, status = point.normalize(state, pod.pod, mine.copy(), rows)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if not answer(status).is_success:
                text = f'plugin "{point.plugin}" failed with: {error_text(answer(status))}'
                return Status.as_error(f"running Normalize on Score plugins: {text}")
        scores.append(PluginScores(point.plugin, point.weight, mine, normalized))
    if (refused := _out_of_range(scores)) is not None:
        return refused
    total = np.zeros(len(rows), dtype=np.int64)
    for each in scores:
        total += each.normalized * np.int64(each.weight)
    return scores, total


def _raw_scores(
    points: Sequence[ScorePoint], state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: NDArray[np.intp]
) -> dict[str, NDArray[np.int64]] | Status:
    raw: dict[str, NDArray[np.int64]] = {}
    failed: dict[str, Status] = {}
    per_node = []
    for point in points:
        if point.make_plan is None:
            raw[point.plugin] = np.zeros(len(rows), dtype=np.int64)
            per_node.append(point)
            continue
        try:
            raw[point.plugin] = _planned(point.make_plan(state, pod, snapshot), rows)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            failed[point.plugin] = raised(error)
    if failed:
        # Upstream meets the first plugin in order that fails, at the first node.
        return _failed_first(points, failed, state, pod, snapshot, rows)
    if per_node:
        for i, row in enumerate(rows.tolist()):
            node = snapshot.info_of_row(row)
            assert node is not None
            for point in per_node:
                value = _one(point, state, pod, node)
                if isinstance(value, Status):
                    return _score_error(point.plugin, value)
                raw[point.plugin][i] = value
    return raw


def _planned(plan: Plan, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    if not plan.inputs:
        return plan.kernel()[rows].astype(np.int64)
    return plan.kernel(*[each.gather(rows) for each in plan.inputs]).astype(np.int64, copy=False)


def _one(point: ScorePoint, state: CycleState, pod: PodInfo, node: NodeInfo) -> int | Status:
    assert point.per_node is not None
    try:
        value, status = point.per_node(state, pod.pod, node)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return raised(error)
    if status is not None and not status.is_success:
        return status
    # int64, as upstream's: out of its range it wraps, and the range check after normalising sees it.
    return (value + _INT64 // 2) % _INT64 - _INT64 // 2


def _failed_first(
    points: Sequence[ScorePoint],
    failed: dict[str, Status],
    state: CycleState,
    pod: PodInfo,
    snapshot: Snapshot,
    rows: NDArray[np.intp],
) -> Status:
    node = snapshot.info_of_row(int(rows[0]))
    assert node is not None
    for point in points:
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
