"""A run that follows a real cluster: changes become the world, nothing is decided, and a fork decides."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import Change, ClusterChanges, ObservedChange, PodDelete, Unfollow
from schedweb.engine.frames import Seen
from schedweb.engine.observed import Differences, observation_of
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player, RunOptions, effective_configuration
from schedweb.engine.replay import replay
from schedweb.engine.sums import Sums
from tests.schedweb.engine.worlds import DEFAULT, SECOND, START, Manifest, Table, places, play, pod
from tests.schedweb.engine.worlds import node as made

AT = "2023-11-14T22:13:20Z"
SINCE = "2023-11-14T22:13:15Z"
MESSAGE = "0/2 nodes are available: 2 Insufficient cpu."


def node(name: str, cpu: str = "4") -> Manifest:
    manifest = made(name, cpu)
    return {**manifest, "metadata": {**manifest["metadata"], "uid": f"uid-{name}"}}


def following(*manifests: Manifest) -> Player:
    registry = built_in_registry()
    return Player(
        [decode_manifest(manifest) for manifest in manifests],
        [],
        effective_configuration(DEFAULT, registry),
        registry,
        RunOptions(7, "seeded", "hold", "real", START, observing=True),
    )


def failing(name: str, cpu: str = "9") -> Manifest:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
    return {**pod(name, cpu), "status": {"conditions": [{**condition, "lastTransitionTime": SINCE}]}}


def gated(name: str) -> Manifest:
    manifest = pod(name)
    manifest["spec"]["schedulingGates"] = [{"name": "example.com/later"}]
    return manifest


def at(seconds: float, *changes: tuple[str, Manifest]) -> ClusterChanges:
    """With a version, as every object of an API server."""
    told = []
    for verb, manifest in changes:
        metadata = {"resourceVersion": str(seconds), **manifest["metadata"]}
        told.append(ObservedChange(verb, {**manifest, "metadata": metadata}))  # type: ignore[arg-type]
    return ClusterChanges(START + round(seconds * SECOND), tuple(told))


def name_of(manifest: Manifest) -> Manifest:
    return {key: manifest[key] for key in ("apiVersion", "kind", "metadata")}


BEGIN = [node("a"), node("b"), pod("web-0", node_name="a"), pod("new"), failing("large"), gated("later")]
ORDERS = [
    at(1, ("added", pod("web-1"))),
    at(2, ("modified", pod("web-1", node_name="b")), ("modified", failing("new"))),
    at(3, ("added", node("c", cpu="16")), ("deleted", name_of(pod("web-0")))),
    at(4, ("modified", pod("large", "9", node_name="c")), ("deleted", name_of(node("a")))),
    at(5, ("modified", pod("later"))),
]


def test_pods_stand_where_the_api_has_them() -> None:
    game = following(*BEGIN)
    assert places(game) == {
        "web-0": "bound",
        "new": "active",
        "large": "unschedulable",
        "later": "gated",
    }
    large = next(view for view in game.projection.views.values() if view.name == "large")
    assert large.message == MESSAGE
    assert large.since == START - 5 * SECOND
    assert game.operate() is Happened.IDLE
    assert game.position == 0


def test_what_the_cluster_tells_becomes_the_world() -> None:
    game = following(*BEGIN)
    table, sums = Table(game), Sums(game)
    digests = [game.digest]
    for order in ORDERS:
        assert table.order(order).status == "applied"
        sums._compare_projection(*sums._of_cluster())
        sums._compare_cache(*sums._of_cluster())
        digests.append(game.digest)
    assert places(game) == {"web-1": "bound", "new": "unschedulable", "large": "bound", "later": "active"}
    assert len(set(digests)) == len(digests)
    assert game.now == START + 5 * SECOND
    assert game.position == len(ORDERS)
    state = game.scheduler.queue_state()
    assert {each.key for each in (*state.active, *state.unschedulable, *state.gated)} == {"shop/new", "shop/later"}
    assert sorted(game.projection.nodes.views) == ["b", "c"]


def test_the_journal_leads_to_the_same_run_from_anywhere() -> None:
    game = following(*BEGIN)
    table = Table(game)
    for order in ORDERS:
        table.order(order)

    again = following(*BEGIN)
    replay(again, Pace(), table.journal, until=game.position)
    assert (again.digest, again.now, places(again)) == (game.digest, game.now, places(game))

    half = following(*BEGIN)
    replay(half, Pace(), table.journal[:2], until=2)
    restored, pace = load_checkpoint(save_checkpoint(half, Pace()))
    restored.restored([], built_in_registry())
    replay(restored, pace, table.journal[2:], until=game.position)
    assert restored.digest == game.digest


def test_another_object_of_that_name_is_another_one() -> None:
    game = following(*BEGIN)
    other = pod("web-0")
    other["metadata"]["uid"] = "another"
    Table(game).order(at(1, ("added", other)))
    assert [(view.uid, view.column) for view in game.projection.views.values() if view.name == "web-0"] == [
        ("another", "active")
    ]


def test_a_binding_is_known_before_it_is_applied() -> None:
    game = following(*BEGIN)
    seen = observation_of(game, ObservedChange("modified", pod("new", node_name="b")))
    assert seen.is_binding
    assert isinstance(seen.before, Pod)
    assert not observation_of(game, ObservedChange("modified", failing("new"))).is_binding
    assert not observation_of(game, ObservedChange("added", pod("web-9", node_name="b"))).is_binding
    assert not observation_of(game, ObservedChange("deleted", name_of(pod("new")))).is_binding


def test_a_change_that_nobody_can_read_is_told_and_left_out() -> None:
    game = following(*BEGIN)
    table = Table(game)
    table.order(at(1, ("added", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 7}}), ("added", pod("ok"))))
    assert places(game)["ok"] == "active"
    said = [line.item.parts for line in game.projection.feed.take(game.now)]
    assert any("cannot be read" in getattr(each, "text", "") for each in said)


def test_a_fork_decides_by_itself() -> None:
    game = following(*BEGIN)
    table = Table(game)
    for order in ORDERS:
        table.order(order)
    assert table.order(PodDelete("shop", "web-1")).status == "applied"
    table.order(Unfollow())
    assert places(game) == {"new": "active", "large": "bound", "later": "active"}
    assert play(game) is Happened.FINISHED
    # It asks for 9 cpu as the cluster had it last; c has 16, and large holds 9 of them.
    assert places(game) == {"new": "unschedulable", "large": "bound", "later": "bound"}
    assert table.order(at(9, ("added", pod("late")))).status == "refused"
    assert table.order(Change("add", pod("mine"))).status == "applied"


# --- what differs -----------------------------------------------------------------------------------------------------


def seen(what: str, manifest: Manifest) -> Seen:
    return Seen(what, msgspec.json.encode(manifest))  # type: ignore[arg-type]


def beat(manifest: Manifest, time: str, version: str) -> Manifest:
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": time}
    metadata = {**manifest["metadata"], "resourceVersion": version}
    return {**manifest, "metadata": metadata, "status": {**manifest["status"], "conditions": [condition]}}


def test_heartbeats_are_no_changes() -> None:
    game = following(beat(node("a"), AT, "1"))
    assert Differences(game).of([seen("modified", beat(node("a"), SINCE, "2"))]) == []
    cordoned = beat(node("a"), SINCE, "3")
    cordoned["spec"] = {"unschedulable": True}
    (found,) = Differences(game).of([seen("modified", cordoned), seen("modified", cordoned)])
    assert (found.verb, found.manifest) == ("modified", cordoned)


def test_a_list_says_what_is_gone_and_only_of_its_kind() -> None:
    game = following(*BEGIN)
    differences = Differences(game)
    kind: Manifest = {"apiVersion": "v1", "kind": "Pod"}
    first = differences.of([seen("list", kind), seen("listed", pod("web-0", node_name="a"))])
    assert first == []
    found = differences.of([seen("listed", failing("large")), seen("listed", pod("web-7")), seen("whole", kind)])
    assert [(each.verb, each.manifest["metadata"]["name"]) for each in found] == [
        ("added", "web-7"),
        ("deleted", "new"),
        ("deleted", "later"),
    ]
    Table(game).order(ClusterChanges(START, tuple(found)))
    assert set(places(game)) == {"web-0", "large", "web-7"}
    assert sorted(game.projection.nodes.views) == ["a", "b"]


@pytest.mark.parametrize("verb", ["added", "modified"])
def test_transitions_within_one_batch_stay(verb: str) -> None:
    """Created, bound and gone again: each is told, for who watches bindings wants to see them."""
    game = following(node("a"))
    steps: list[tuple[str, Any]] = [
        ("added", pod("p")),
        (verb, pod("p", node_name="a")),
        ("deleted", name_of(pod("p"))),
        ("deleted", name_of(pod("p"))),
    ]
    found = Differences(game).of([seen(*step) for step in steps])
    assert [each.verb for each in found] == ["added", "modified", "deleted"]
