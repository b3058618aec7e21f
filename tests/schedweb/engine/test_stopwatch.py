"""The side channel of durations: what is attributed to whom; no times are asserted, only where they are."""

from __future__ import annotations

import sys

import pytest

from framework.interface import NodeInfo, ScorePlugin, Status
from framework.interface.cycle_state import CycleState
from framework.objects import Pod
from schedweb.engine.player import Happened
from schedweb.engine.stopwatch import Stopwatch, Timing
from tests.schedweb.engine.worlds import node, player, pod


def timed_cycle(stopwatch: Stopwatch, *, after: int = 0) -> Timing:
    """Of the cycle behind ``after`` others of a cluster where pods have a choice."""
    game = player([node("a", "8"), node("b", "8"), *(pod(f"web-{index}", "100m") for index in range(after + 1))])
    cycles = -1
    stopwatch.begin()
    while True:
        with stopwatch.running():
            happened = game.operate()
        if happened is Happened.POINT:
            stopwatch.reached(game.point)
        elif happened is Happened.CYCLE:
            cycles += 1
            timing = stopwatch.ended()
            if cycles == after:
                return timing
            stopwatch.begin()


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


def test_the_next_cycle_at_once_is_not_watched_but_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedweb.engine.stopwatch.WATCH_EVERY", 1e9)
    timing = timed_cycle(Stopwatch(), after=1)
    assert timing.parts is None
    assert timing.total > 0


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
