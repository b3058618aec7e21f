"""An attempt that repeats the pod's last one, point by point, because everything that one rested on still stands.

Between two points the world may change. What a later point would then have seen is not known beforehand, so right
before the change the attempt is worked out up to where it stands, and goes on as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple, cast

import numpy as np

from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import Failed
from framework.cycle.repeats import Grounds, Remembered
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.profiles import FilterRun, Profile
from framework.trace.attempt import AttemptTrace, SharedContent

Scheduling = Generator[str, None, "str | Failed"]
"""Yields the name of each extension point when it is done; ends with the node's name, or why there is none."""


class RepeatDiffers(AssertionError):
    """A plugin that calls itself repeatable is not, or an attempt rests on something that is not watched."""


class Beginning(NamedTuple):
    """How things stood when the attempt began."""

    grounds: Grounds
    start: int
    asked: int
    lonely: bool
    """Nominated pods count for nodes, and what is known of them depends on where they are in the queue."""
    last: Remembered | None
    """The pod's last attempt, if all that it rested on still stands."""


def begin(core: SchedulingCore, profile: Profile, pod: PodInfo) -> Beginning | None:
    """None where nothing is remembered or repeated."""
    repeats = core.repeats
    if repeats.rule == "off" or not profile.repeatable:
        return None
    grounds, start = _grounds(core), core.next_start_node_index
    last = repeats.get(pod.uid)
    if last is not None and not _stands(last, pod, profile, grounds, start):
        last = None
    lonely = not core.queue.nominator.has_nodes and not pod.pod.status.nominated_node_name
    return Beginning(grounds, start, core.services.asked, lonely, last)


def end(
    core: SchedulingCore,
    profile: Profile,
    state: CycleState,
    pod: PodInfo,
    trace: AttemptTrace,
    begun: Beginning,
    placed: str | Failed,
) -> None:
    """After an attempt that was worked out: it is remembered if it can be repeated."""
    repeats, last = core.repeats, begun.last
    repeats.forget(pod.uid)
    plain = isinstance(placed, Failed) and _is_plain(placed, trace)
    if not plain and last is None:
        return
    changed = begun.grounds != _grounds(core)
    if isinstance(placed, Failed) and plain and begun.lonely and core.services.asked == begun.asked:
        run = cast("FilterRun | None", state.filter_run)
        visited = (core.next_start_node_index - begun.start) % max(1, trace.nodes_total)
        attempt = Remembered(
            pod=pod.pod,
            profile=profile,
            grounds=begun.grounds,
            # Node by node, statuses are numbered as they are met.
            start=None if trace.filter is None or (run is not None and run.columnar) else begun.start,
            visited=visited,
            pre_filter=trace.pre_filter,
            pre_filter_status=trace.pre_filter_status,
            absent_status=trace.absent_status,
            filter=trace.filter,
            post_filter=trace.post_filter,
            failed=placed,
            content=SharedContent(),
        )
        trace.content = attempt.content
        repeats.keep(pod.uid, attempt)
        if last is not None and not changed:
            _compare(last, attempt)
    elif last is not None and not changed:
        raise RepeatDiffers(f"{trace.pod}: the attempt ended in another way")


def _grounds(core: SchedulingCore) -> Grounds:
    return Grounds(core.cache.version, core.api.revision, core.queue.nominator.version)


def _stands(last: Remembered, pod: PodInfo, profile: Profile, grounds: Grounds, start: int) -> bool:
    return (
        last.grounds == grounds
        and last.pod is pod.pod
        and last.profile is profile
        and (last.start is None or last.start == start)
    )


def _is_plain(placed: Failed, trace: AttemptTrace) -> bool:
    """No node fits, and no PostFilter plugin did anything about it or went wrong."""
    return (
        placed.fit_error is not None
        and not (placed.nomination is not None and placed.nomination.node_name)
        and all(said.status.is_rejected and not said.nominated_node for said in trace.post_filter)
    )


def repeat(
    core: SchedulingCore, last: Remembered, trace: AttemptTrace, schedule: Callable[[], Scheduling]
) -> Scheduling:
    """``last`` again, or from some point on what ``schedule`` says."""
    core.repeats.count += 1
    start = core.next_start_node_index
    passed: list[str] = []
    real: Scheduling | None = None

    def work_out() -> None:
        nonlocal real
        core.repeats.interrupted = None
        core.next_start_node_index = start
        trace.pre_filter, trace.post_filter = (), ()
        trace.pre_filter_status = trace.absent_status = trace.filter = None
        real = schedule()
        again = [next(real) for _ in passed]
        if again != passed:
            raise RepeatDiffers(f"{trace.pod}: {', '.join(again)} instead of {', '.join(passed)}")

    points = _points(core, last, trace)
    try:
        for point in points:
            passed.append(point)
            core.repeats.interrupted = work_out
            yield point
            if real is not None:
                return (yield from real)
    finally:
        core.repeats.interrupted = None
    trace.content = last.content
    return last.failed


def _points(core: SchedulingCore, last: Remembered, trace: AttemptTrace) -> Generator[str, None, None]:
    """As ``find_nodes`` and what follows it: each point's part of the trace is there when the point is done."""
    trace.pre_filter = last.pre_filter
    yield "PreFilter"
    trace.pre_filter_status = last.pre_filter_status
    trace.absent_status = last.absent_status
    if last.filter is not None:
        trace.filter = last.filter
        core.next_start_node_index = (core.next_start_node_index + last.visited) % trace.nodes_total
        yield "Filter"
    if last.profile.post_filter:
        trace.post_filter = last.post_filter
        yield "PostFilter"


def _compare(last: Remembered, now: Remembered) -> None:
    """For the rule ``verified``."""
    differing = [
        name
        for name in ("visited", "pre_filter", "pre_filter_status", "absent_status", "post_filter", "failed")
        if getattr(last, name) != getattr(now, name)
    ]
    before, after = last.filter, now.filter
    if (before is None) != (after is None):
        differing.append("filter")
    elif before is not None and after is not None:
        same = before.nodes == after.nodes and before.verdicts == after.verdicts
        if not same or not np.array_equal(before.verdict, after.verdict):
            differing.append("filter")
    if differing:
        raise RepeatDiffers(f"{now.pod.key}: {', '.join(differing)}")
