"""The side channel of durations: what is attributed to whom; no times are asserted, only where they are."""

from __future__ import annotations

import sys

import pytest

from framework.interface import NodeInfo, ScorePlugin, Status
from framework.interface.cycle_state import CycleState
from framework.objects import Pod
from schedweb.engine.player import Happened
from schedweb.engine.stopwatch import FIRST_WATCHED, WATCH_EVERY, Stopwatch, Timing
from tests.schedweb.engine.worlds import node, player, pod


def timed_cycle(stopwatch: Stopwatch) -> Timing:
    """Of the one cycle of a cluster where a pod has a choice."""
    game = player([node("a", "8"), node("b", "8"), pod("web-0", "100m")])
    stopwatch.begin()
    while True:
        with stopwatch.running():
            happened = game.operate()
        if happened is Happened.POINT:
            stopwatch.reached(game.point)
        elif happened is Happened.CYCLE:
            return stopwatch.ended()


def timed(stopwatch: Stopwatch, *, always: bool) -> Timing:
    """Of a cycle that does nothing, long enough for a microsecond to pass."""
    stopwatch.begin(always=always)
    with stopwatch.running():
        sum(range(1000))
    return stopwatch.ended()


def test_a_watched_cycle_names_points_and_plugins() -> None:
    timing = timed_cycle(Stopwatch())
    assert timing.parts is not None
    assert {"PreFilter", "Filter", "PreScore", "Score", "Reserve", "Bind"} <= timing.parts.points.keys()
    asked = {(point, plugin) for point, plugin, _ in timing.parts.plugins}
    assert {("PreFilter", "NodeResourcesFit"), ("Filter", "NodeResourcesFit"), ("Score", "NodeResourcesFit")} <= asked
    assert ("Score", "NodeResourcesBalancedAllocation") in asked
    assert ("Bind", "DefaultBinder") in asked
    assert ("Filter", "DefaultBinder") not in asked


def test_points_add_up_to_no_more_than_the_cycle() -> None:
    timing = timed_cycle(Stopwatch())
    assert timing.parts is not None
    rounding = len(timing.parts.points) + len(timing.parts.plugins)
    assert 0 < sum(timing.parts.points.values()) <= timing.total + rounding
    inside: dict[str, int] = {}
    for point, _, spent in timing.parts.plugins:
        inside[point] = inside.get(point, 0) + spent
    for point, spent in timing.parts.points.items():
        assert inside.get(point, 0) <= spent + rounding, point


def test_at_full_speed_one_of_many_cycles_is_watched_and_all_are_timed() -> None:
    stopwatch = Stopwatch()
    timings = [timed(stopwatch, always=False) for _ in range(3 * WATCH_EVERY)]
    watched = [number for number, timing in enumerate(timings, start=1) if timing.parts is not None]
    assert watched == [*range(1, FIRST_WATCHED + 1), WATCH_EVERY, 2 * WATCH_EVERY, 3 * WATCH_EVERY]
    assert all(timing.total > 0 for timing in timings)


def test_a_slow_run_watches_every_cycle() -> None:
    stopwatch = Stopwatch()
    assert all(timed(stopwatch, always=True).parts is not None for _ in range(WATCH_EVERY + 1))


def test_nothing_watches_between_operations_or_after_an_exception() -> None:
    stopwatch = Stopwatch()
    stopwatch.begin()
    with stopwatch.running():
        assert sys.getprofile() is not None
    assert sys.getprofile() is None

    def fails() -> None:
        with stopwatch.running():
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert sys.getprofile() is None


class PerNode(ScorePlugin):
    name = "PerNode"

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        return len(node.name), None


def test_a_plugin_that_answers_node_by_node_is_one_entry() -> None:
    stopwatch = Stopwatch()
    stopwatch.begin()
    plugin, pod_ = PerNode(None, None), Pod()  # type: ignore[arg-type]
    with stopwatch.running():
        for _ in range(50):
            plugin.score(CycleState(), pod_, NodeInfo(None))
    stopwatch.reached("Score")
    timing = stopwatch.ended()
    assert timing.parts is not None
    assert [(point, name) for point, name, _ in timing.parts.plugins] == [("Score", "PerNode")]
