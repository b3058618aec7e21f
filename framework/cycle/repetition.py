"""An attempt that repeats the pod's last one, point by point, because nothing that one depended on has changed.

Between two points the world may change. What a later point would then have seen is not known beforehand, so right
before the change the attempt is worked out up to where it is, and goes on as any other.

A pod that nothing can help is still tried every five minutes, for as long as the run lasts. Its answer is kept with the
versions of all it depends on. What is kept changes no result: it may be lost at any time, and is when the scheduler is
pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import msgspec
import numpy as np

from framework.cycle.diagnosis import Failed
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles import FilterRun, Profile
from framework.trace.attempt import AttemptTrace, FilterTrace, PostFilterOutcome, PreFilterOutcome, SharedContent

if TYPE_CHECKING:
    from framework.cycle.core import SchedulingCore

RepeatRule = Literal["used", "verified", "off"]
"""``verified``: every attempt is worked out, and one that could have been repeated has to agree."""
KEPT_SIZE: Final = 16_000_000
"""Node positions in everything kept, at 4 bytes each."""
OVERHEAD: Final = 500
"""What an attempt costs besides its verdicts, in the same unit."""


class ClusterVersions(msgspec.Struct, frozen=True, gc=False):
    """What an attempt's outcome depends on, besides the pod and its profile."""

    placements: int
    """Version of the cache: nodes, and pods on them."""
    objects: int
    """Revision of everything else in the cluster."""
    nominations: int


@dataclass(slots=True, eq=False)
class Remembered:
    """A failed attempt. ``pod`` is the very object it was about: an updated pod is another one."""

    pod: Pod
    profile: Profile
    versions: ClusterVersions
    start: int | None
    """Where its search for nodes began; None when that made no difference."""
    visited: int
    """How many positions further the next search begins."""
    pre_filter: tuple[PreFilterOutcome, ...]
    pre_filter_status: Status | None
    absent_status: Status | None
    filter: FilterTrace | None
    post_filter: tuple[PostFilterOutcome, ...]
    failed: Failed
    content: SharedContent

    @property
    def size(self) -> int:
        return OVERHEAD + (0 if self.filter is None else len(self.filter.nodes))


class Repeats:
    def __init__(self, rule: RepeatRule = "used") -> None:
        self.rule: RepeatRule = rule
        self.count = 0
        """Attempts repeated since the scheduler was made or unpickled."""
        self.interrupted: Callable[[], None] | None = None
        """Called before something changes while a repeated attempt stands between two of its points."""
        self._kept: dict[str, Remembered] = {}
        self._size = 0
        self._swept: ClusterVersions | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"rule": self.rule}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rule"])  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, uid: str) -> Remembered | None:
        return self._kept.get(uid)

    def keep(self, uid: str, attempt: Remembered) -> None:
        """When there is no room, attempts that can no longer be repeated make some; else the newcomer is not kept."""
        self.forget(uid)
        if self._size + attempt.size > KEPT_SIZE and self._swept != attempt.versions:
            self._swept = attempt.versions
            for other in [key for key, kept in self._kept.items() if kept.versions != attempt.versions]:
                self.forget(other)
        if self._size + attempt.size <= KEPT_SIZE:
            self._kept[uid] = attempt
            self._size += attempt.size

    def forget(self, uid: str) -> None:
        """The pod left, or its attempt was another one."""
        kept = self._kept.pop(uid, None)
        if kept is not None:
            self._size -= kept.size


Scheduling = Generator[str, None, "str | Failed"]
"""Yields the name of each extension point when it is done; ends with the node's name, or why there is none."""


class RepeatDiffers(AssertionError):
    """A plugin that calls itself repeatable is not, or an attempt rests on something that is not watched."""


class AttemptStart(msgspec.Struct, frozen=True):
    """How things stood when the attempt began."""

    versions: ClusterVersions
    start: int
    asked: int
    lonely: bool
    """Nominated pods count for nodes, and what is known of them depends on where they are in the queue."""
    last: Remembered | None
    """The pod's last attempt, if nothing that it depended on has changed."""


def begin(core: SchedulingCore, profile: Profile, pod: PodInfo) -> AttemptStart | None:
    """None where nothing is remembered or repeated."""
    repeats = core.repeats
    if repeats.rule == "off" or not profile.enabled.repeatable:
        return None
    nominator, start = core.queue.nominator, core.next_start_node_index
    versions = ClusterVersions(core.cache.version, core.api.revision, nominator.version)
    last = repeats.get(pod.uid)
    if last is not None and not _can_be_repeated(last, pod, profile, versions, start):
        last = None
    lonely = not nominator.has_nodes and not pod.pod.status.nominated_node_name
    return AttemptStart(versions, start, core.services.asked, lonely, last)


def end(
    core: SchedulingCore,
    profile: Profile,
    state: CycleState,
    pod: PodInfo,
    trace: AttemptTrace,
    at_start: AttemptStart,
    placed: str | Failed,
) -> None:
    """After an attempt that was worked out: it is remembered if it can be repeated."""
    repeats, last = core.repeats, at_start.last
    repeats.forget(pod.uid)
    plain = isinstance(placed, Failed) and _is_plain(placed, trace)
    if not plain and last is None:
        return
    changed = at_start.versions != _versions(core)
    if isinstance(placed, Failed) and plain and at_start.lonely and core.services.asked == at_start.asked:
        run = cast("FilterRun | None", state.filter_run)
        visited = (core.next_start_node_index - at_start.start) % max(1, trace.nodes_total)
        attempt = Remembered(
            pod=pod.pod,
            profile=profile,
            versions=at_start.versions,
            # Node by node, statuses are numbered as they are met.
            start=None if trace.filter is None or (run is not None and run.columnar) else at_start.start,
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


def _versions(core: SchedulingCore) -> ClusterVersions:
    return ClusterVersions(core.cache.version, core.api.revision, core.queue.nominator.version)


def _can_be_repeated(last: Remembered, pod: PodInfo, profile: Profile, versions: ClusterVersions, start: int) -> bool:
    return (
        last.versions == versions
        and last.pod is pod.pod
        and last.profile is profile
        and (last.start is None or last.start == start)
    )


def _is_plain(placed: Failed, trace: AttemptTrace) -> bool:
    """No node fits, and no PostFilter plugin did anything about it or went wrong."""
    return (
        placed.fit_error is not None
        and not (placed.nomination is not None and placed.nomination.node_name)
        and all(outcome.status.is_rejected and not outcome.nominated_node for outcome in trace.post_filter)
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
    if last.profile.enabled.post_filter:
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
