"""A run at virtual time ends when trying again cannot lead to anything else."""

from __future__ import annotations

import re

import pytest

from schedweb.engine import commands
from schedweb.engine.player import Happened, Player
from tests.advice.test_pod_group_remedies import group
from tests.advice.test_pod_group_remedies import member as ring
from tests.schedweb.engine.test_pod_groups import GROUPS, gang, member
from tests.schedweb.engine.worlds import GANGS, SECOND, Manifest, Table, arrival, node, places, player, pod

MANY = 20_000


def ended(game: Player, *, whole: bool = True) -> Happened:
    """Fails when it never ends."""
    for _ in range(MANY):
        happened = game.operate(whole=whole)
        if happened in (Happened.FINISHED, Happened.WAITS, Happened.ERRORS):
            return happened
    raise AssertionError(f"after {MANY} operations and {game.scheduler.attempts} attempts it still goes on")


@pytest.mark.parametrize("whole", [True, False], ids=["by cycles", "by points"])
def test_without_nodes_every_pod_is_tried_and_the_run_ends(whole: bool) -> None:
    game = player([pod(f"web-{index}") for index in range(30)])
    assert ended(game, whole=whole) is Happened.FINISHED
    assert game.scheduler.attempts <= 60
    assert set(places(game).values()) == {"backoff"}
    position, digest = game.position, game.digest
    assert game.operate() is Happened.FINISHED
    assert (game.position, game.digest) == (position, digest)


def test_a_node_that_comes_by_command_gives_it_work_again() -> None:
    game = player([pod("web-1"), pod("web-2")])
    ended(game)
    Table(game).order(commands.NodeAdd(node("a")))
    assert ended(game) is Happened.FINISHED
    assert places(game) == {"web-1": "bound", "web-2": "bound"}


def test_an_arrival_that_is_still_to_come_keeps_it_going() -> None:
    game = player([pod("web-1")], timeline=[arrival(300, node("a"))])
    assert ended(game) is Happened.FINISHED
    assert places(game) == {"web-1": "bound"}
    assert game.now - game.options.start >= 300 * SECOND


def test_pods_of_a_group_and_others_without_nodes_end_together() -> None:
    objects: list[Manifest] = [gang(2), member("a", "100m"), member("b", "100m"), pod("web-1")]
    game = player(objects, configuration=GROUPS)
    assert ended(game) in (Happened.FINISHED, Happened.ERRORS)


def test_a_victim_that_always_comes_back_pauses_the_run() -> None:
    """The spread wants the place of a pod whose controller puts it back there at once, as in a real cluster."""
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    preemptor = pod("wants-room", "100m", app="web")
    preemptor["spec"] |= {
        "priority": 10,
        "topologySpreadConstraints": [{**spread, "labelSelector": {"matchLabels": {"app": "web"}}}],
    }
    full = pod("filler", "4", node_name="b")
    full["spec"]["priority"] = 1000
    objects = [node("a"), node("b"), full, pod("web-x", "1", node_name="a", owner="web", app="web"), preemptor]
    game = player(objects)
    assert ended(game) is Happened.ERRORS
    assert "shop/wants-room made room on a 20 times in vain" in str(game.why_paused)
    assert ended(game) is Happened.ERRORS, "whoever plays on may"


def test_a_group_that_is_one_place_short_pauses_the_run_and_goes_on_with_one_more() -> None:
    """Coscheduling's first member calls the others back whenever it holds a node, so no round waits for anything."""
    game = player([node("a", "2"), group(3), *(ring(name) for name in ("x", "y", "z"))], configuration=GANGS)
    assert ended(game) is Happened.ERRORS
    assert re.match(r"shop/\w had a node 20 times, a the last time, and lost it each time", str(game.why_paused))
    attempts = game.scheduler.attempts
    assert attempts <= 3 * 21
    assert ended(game) is Happened.ERRORS, "whoever plays on may"
    assert game.scheduler.attempts > attempts
    Table(game).order(commands.NodeAdd(node("b", "1")))
    assert ended(game) is Happened.FINISHED
    assert set(places(game).values()) == {"bound"}


def test_a_node_that_is_still_to_come_keeps_a_group_going() -> None:
    objects = [node("a", "2"), group(3), *(ring(name) for name in ("x", "y", "z"))]
    game = player(objects, configuration=GANGS, timeline=[arrival(2, node("b", "1"))])
    assert ended(game) is Happened.FINISHED
    assert set(places(game).values()) == {"bound"}
