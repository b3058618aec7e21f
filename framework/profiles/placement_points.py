"""PlacementGenerate and PlacementScore (docs/semantics/pod-groups.md#placements)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.interface.pod_groups import Placement, PlacementAssignments, PodGroupCycle
from framework.interface.scores import MAX_NODE_SCORE
from framework.interface.status import Status
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.profile import Profile


@dataclass(frozen=True, slots=True)
class PlacementScores:
    plugins: tuple[tuple[str, int, int, int], ...]
    """Plugin, weight, score, normalized score."""
    total: int


def run_placement_generate(profile: Profile, group: PodGroupCycle, parent: Placement) -> Sequence[Placement] | Status:
    """Without a plugin all nodes are one placement."""
    plugin = profile.enabled.placement_generate
    if plugin is None:
        return (parent,)
    try:
        placements, answered = plugin.generate_placements(group, parent)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        placements, answered = (), raised(error)
    status = answer(answered)
    if not status.is_success:
        return status.with_plugin(plugin.name)
    return placements or Status.unschedulable("no feasible placements found").with_plugin(plugin.name)


def run_placement_score(
    profile: Profile, group: PodGroupCycle, placed: Sequence[PlacementAssignments]
) -> list[PlacementScores] | Status:
    columns: list[tuple[str, int, list[int], Sequence[int]]] = []
    for plugin, weight in profile.enabled.placement_score:
        name = plugin.name
        scores: list[int] = []
        for each in placed:
            try:
                score, answered = plugin.score_placement(group, each)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                score, answered = 0, raised(error)
            if not (status := answer(answered)).is_success:
                return _failed("running PlacementScore plugins", name, status)
            scores.append(score)
        columns.append((name, weight, scores, scores))
    for i, (plugin, weight) in enumerate(profile.enabled.placement_score):
        name = plugin.name
        scores = columns[i][2]
        try:
            normalized, answered = plugin.normalize_placement_scores(group, scores)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            normalized, answered = scores, raised(error)
        if not (status := answer(answered)).is_success:
            return _failed("running NormalizePlacementScore on PlacementScore plugins", name, status)
        columns[i] = (name, weight, scores, normalized)
    for name, _, _, normalized in columns:
        for score in normalized:
            if not 0 <= score <= MAX_NODE_SCORE:
                text = f"an invalid score {score}, it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
                where = "applying score defaultWeights on PlacementScore plugins"
                return Status.as_error(f'{where}: plugin "{name}" returns {text}')
    return [
        PlacementScores(
            tuple((name, weight, scores[at], normalized[at]) for name, weight, scores, normalized in columns),
            sum(weight * normalized[at] for _, weight, _, normalized in columns),
        )
        for at in range(len(placed))
    ]


def _failed(what: str, plugin: str, status: Status) -> Status:
    return Status.as_error(f'{what}: plugin "{plugin}" failed with: {error_text(status)}')
