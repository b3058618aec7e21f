"""Which placement a pod group gets (docs/semantics/pod-groups.md#placements)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np

from framework.cycle.core import SchedulingCore
from framework.cycle.pod_group_result import GroupResult, Member, fresh, take_over
from framework.interface.pod_groups import Placement, PlacementAssignments, PodGroupCycle
from framework.interface.status import Code, Status
from framework.profiles import Profile
from framework.profiles.outcomes import error_text
from framework.profiles.placement_points import run_placement_generate, run_placement_score
from framework.trace.attempt import PlacementOutcome

TryOut = Callable[[Sequence[Member]], Generator[str, None, GroupResult]]
Tried = list[tuple[Placement, GroupResult]]


def choose_placement(
    core: SchedulingCore, profile: Profile, group: PodGroupCycle, members: Sequence[Member], try_out: TryOut
) -> Generator[str, None, GroupResult]:
    """Tries the group out in every placement and takes the best in which it can run. Traces are those of that trial."""
    generated = run_placement_generate(profile, group, Placement("", core.snapshot.order_names))
    if profile.enabled.placement_generate is not None:
        yield "PlacementGenerate"
    if isinstance(generated, Status):
        return GroupResult(generated)
    tried: Tried = []
    for placement in generated:
        result = yield from _try_in(core, placement, members, try_out)
        tried.append((placement, result))
        if result.status.code is Code.ERROR:
            return _taken(members, tried, len(tried) - 1)
    fitting = [i for i, (_, result) in enumerate(tried) if result.would_do]
    if not fitting:
        first = tried[0][1].status
        _taken(members, tried, 0)
        text = f"0/{len(tried)} placements are available, first placement status: {error_text(first)}"
        # The pods keep what was said in the first placement; which one is told is arbitrary upstream, too.
        result = tried[0][1]
        result.status = Status.unschedulable(text)
        return result
    if len(fitting) == 1:
        return _taken(members, tried, fitting[0])

    scored = run_placement_score(profile, group, [_assignments(*tried[i]) for i in fitting])
    if profile.enabled.placement_score:
        yield "PlacementScore"
    if isinstance(scored, Status):
        return GroupResult(scored, placements=_outcomes(tried, {}))
    scores = dict(zip(fitting, ((each.plugins, each.total) for each in scored), strict=True))
    most = max(each.total for each in scored)
    best = {tried[i][0].name: i for i, each in zip(fitting, scored, strict=True) if each.total == most}
    return _taken(members, tried, best[core.ties.pick(list(best))], scores)


def _try_in(
    core: SchedulingCore, placement: Placement, members: Sequence[Member], try_out: TryOut
) -> Generator[str, None, GroupResult]:
    snapshot = core.snapshot
    positions = [int(snapshot.position_of_row[snapshot.row(name)]) for name in placement.nodes]
    core.placement = np.array(positions, dtype=np.intp)
    try:
        return (yield from try_out([(queued, fresh(trace, len(positions))) for queued, trace in members]))
    finally:
        core.placement = None


def _assignments(placement: Placement, result: GroupResult) -> PlacementAssignments:
    """Pods that wait for a preemption count where they were nominated."""
    found = [(tried.queued.pod, tried.node_name) for tried in result.tried_pods if tried.node_name]
    return PlacementAssignments(placement, tuple(found))


def _outcomes(
    tried: Tried, scores: dict[int, tuple[tuple[tuple[str, int, int, int], ...], int]]
) -> tuple[PlacementOutcome, ...]:
    return tuple(
        PlacementOutcome(
            placement.name,
            len(placement.nodes),
            result.status,
            result.waiting_on_preemption,
            *scores.get(i, ((), None)),
        )
        for i, (placement, result) in enumerate(tried)
    )


def _taken(
    members: Sequence[Member],
    tried: Tried,
    index: int,
    scores: dict[int, tuple[tuple[tuple[str, int, int, int], ...], int]] | None = None,
) -> GroupResult:
    placement, result = tried[index]
    for (_, trace), outcome in zip(members, result.tried_pods, strict=False):
        take_over(trace, outcome.trace)
        outcome.trace = trace
    result.placement = placement.name
    result.placements = _outcomes(tried, scores or {})
    return result
