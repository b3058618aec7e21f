"""Arguments and figures that are accepted and that no float, int64 or clock takes as they are."""

from __future__ import annotations

from typing import Any

import pytest

from framework.plugins.trimaran.load import go_round
from schedweb.engine.played_on import OVER
from schedweb.engine.player import Happened
from tests.schedweb.engine.worlds import Manifest, node, places, play, player, pod

HEAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{multiPoint: {{enabled: [{{name: {name}}}]}}}}
  pluginConfig: [{{name: {name}, args: {args}}}]
"""
LEAST = -(2**63)


def load(value: float, kind: str = "CPU") -> Manifest:
    metrics = [{"type": kind, "operator": "AVG", "value": value}]
    return {
        "apiVersion": "load-watcher.paypal.com/v1",
        "kind": "LoadMetrics",
        "metadata": {"name": "load-watcher"},
        "window": {"start": 1_699_999_000, "end": 1_699_999_900},
        "data": {"NodeMetricsMap": {name: {"metrics": metrics} for name in ("a", "b")}},
    }


@pytest.mark.parametrize(
    ("name", "args", "more"),
    [
        ("NodeResourceTopologyMatch", "{cacheResyncPeriodSeconds: -1}", []),
        ("TargetLoadPacking", "{defaultRequestsMultiplier: NaN, watcherAddress: load-watcher}", [load(50)]),
        ("TargetLoadPacking", "{defaultRequestsMultiplier: Inf, watcherAddress: load-watcher}", [load(50)]),
        ("LoadAwareScheduling", "{}", [load(1e308)]),
        ("LoadAwareScheduling", "{}", [load(1e308, "Memory")]),
        ("LoadAwareScheduling", "{}", [load(-1e308)]),
    ],
)
def test_a_run_goes_on(name: str, args: str, more: list[Any]) -> None:
    """None of them plays for ever or ends the engine."""
    world = [node("a"), node("b"), *more, pod("p", "1")]
    game = player(world, configuration=HEAD.format(name=name, args=args))
    while (happened := game.operate()) not in OVER:
        assert game.operations < 10_000
    assert happened in (Happened.FINISHED, Happened.ERRORS)
    message = game.projection.views["uid-p"].message
    assert places(game)["p"] == "bound" or "invalid score" in message or "usage exceed threshold" in message


def test_weights_add_up_as_int64() -> None:
    args = "{resources: [{name: cpu, weight: 4611686018427387904}, {name: memory, weight: 4611686018427387904}]}"
    game = player([node("a"), pod("p", "1")], configuration=HEAD.format(name="NodeResourcesAllocatable", args=args))
    play(game)
    assert places(game) == {"p": "bound"}


@pytest.mark.parametrize(
    ("number", "rounded"),
    [(2.5, 3), (-2.5, -3), (float("nan"), LEAST), (float("inf"), LEAST), (1e300, LEAST), (-(2.0**63), LEAST)],
)
def test_rounding_to_int64(number: float, rounded: int) -> None:
    assert go_round(number) == rounded
