"""All accounts of what is on the nodes agree, whatever a pod is changed to; and a difference is found."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from framework.objects import Pod
from framework.objects.decode import to_manifest
from schedweb.engine import commands
from schedweb.engine.player import Player
from schedweb.engine.sums import Sums, SumsDiffer
from tests.schedweb.engine.worlds import ASKING, Manifest, Table, node, play, player, pod


def changed(game: Player, name: str, change: Callable[[Manifest], None]) -> Pod:
    """As a remedy changes it on a fork."""
    known = game.world.cluster.get(Pod, "shop", name)
    assert known is not None
    manifest = deepcopy(to_manifest(known))
    change(manifest["spec"])
    outcome = Table(game).order(commands.Change("replace", manifest))
    assert outcome.status == "applied"
    now = game.world.cluster.get(Pod, "shop", name)
    assert now is not None
    return now


def cpu(amount: str) -> Callable[[Manifest], None]:
    def change(spec: Manifest) -> None:
        spec["containers"][0]["resources"]["requests"]["cpu"] = amount

    return change


def priority(spec: Manifest) -> None:
    spec["priority"] = 10


def free(game: Player) -> dict[str, int]:
    table = game.projection.nodes
    cpu = table.resources.index("cpu")
    return {
        name: view.allocatable[cpu] - view.requested[cpu] - view.reserved[cpu] for name, view in table.views.items()
    }


def test_lowered_requests_are_counted_once() -> None:
    game = player([node("a", "4"), pod("legacy", "24")])
    play(game)
    now = changed(game, "legacy", cpu("3"))
    assert now.metadata.uid == "uid-legacy", "an update: the pod stays the same one"
    play(game)
    view = game.projection.views["uid-legacy"]
    assert (view.column, view.node, view.requests()["cpu"]) == ("bound", "a", "3")
    assert free(game) == {"a": 1000}
    Sums(game).verify()


def test_a_pod_that_waits_keeps_what_is_reserved_until_it_is_bound() -> None:
    game = player([node("a", "4"), pod("asks", "3", ask="person")], configuration=ASKING)
    play(game)
    view = game.projection.views["uid-asks"]
    assert (view.column, view.node) == ("waiting", "a")
    changed(game, "asks", cpu("1"))
    assert free(game) == {"a": 1000}
    Sums(game).verify()
    Table(game).order(commands.Decide("approve", (commands.DecidedPod("shop", "asks"),)))
    play(game)
    assert (view.column, view.node) == ("bound", "a")
    assert free(game) == {"a": 3000}
    Sums(game).verify()


def test_what_no_update_can_change_is_a_new_pod_of_the_same_name() -> None:
    victim = pod("small", "3", node_name="a")
    game = player([node("a", "4"), victim, pod("legacy", "4")])
    play(game)
    assert game.projection.views["uid-legacy"].column == "unschedulable"
    now = changed(game, "legacy", priority)
    assert now.metadata.uid != "uid-legacy"
    assert "uid-legacy" not in game.projection.views
    play(game)
    view = game.projection.views[now.metadata.uid]
    assert (view.column, view.node, view.priority) == ("bound", "a", 10)
    assert free(game) == {"a": 0}
    Sums(game).verify()


def test_a_difference_is_found() -> None:
    game = player([node("a"), pod("web-1"), pod("web-2")])
    play(game)
    Sums(game).verify()
    row = game.projection.nodes.views["a"].requested
    row[0] += 1
    with pytest.raises(SumsDiffer, match="a: pods ask for 1000 cpu, the projection has 1001"):
        Sums(game).verify()
    row[0] -= 1
    info = game.scheduler.core.snapshot.get("a")
    assert info is not None
    info.requested["cpu"] += 500
    with pytest.raises(SumsDiffer, match="the snapshot has 1500"):
        Sums(game).verify()


def test_more_than_there_is_is_found_unless_it_came_so() -> None:
    full = player([node("a", "1"), pod("import-1", "1", node_name="a"), pod("import-2", "1", node_name="a")])
    sums = Sums(full)
    sums.verify()
    sums.verify()
    game = player([node("a", "4"), pod("web-1", "3"), pod("web-2", "3")])
    sums = Sums(game)
    sums.verify()
    play(game)
    sums.verify()
    unplaced = next(view for view in game.projection.views.values() if view.column == "unschedulable")
    left = game.world.cluster.get(Pod, "shop", unplaced.name)
    assert left is not None
    # As a scheduler that forgot what is there would.
    game.world.cluster.bind(left, "a")
    with pytest.raises(SumsDiffer, match="a has 4000 cpu, and its pods hold 6000"):
        sums.verify()
