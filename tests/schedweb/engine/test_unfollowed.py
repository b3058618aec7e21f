"""A fork of a run beside a real cluster that takes what came to the cluster afterwards: arrivals, and no decisions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from framework.objects import Node, PersistentVolume, PersistentVolumeClaim, Pod
from framework.objects.decode import to_manifest
from framework.objects.resources import pod_requests
from framework.plugins.registry import built_in_registry
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import (
    Arrivals,
    Change,
    ClusterChanges,
    NodeCordon,
    NodeDelete,
    PodDelete,
    SetConfiguration,
    Told,
    Unfollow,
)
from schedweb.engine.own_world import OWN_VERSIONS
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player
from schedweb.engine.replay import replay
from schedweb.engine.sums import Sums
from tests.schedweb.engine.test_judged import PACKED
from tests.schedweb.engine.test_observed import MESSAGE, at, failing, following, gated, name_of, node
from tests.schedweb.engine.test_own_world import World, evicted, own_world, running
from tests.schedweb.engine.test_restored import Desk
from tests.schedweb.engine.worlds import SECOND, START, Manifest, Table, places, play, pod

OTHERS = PACKED.replace("default-scheduler", "others")


def told(*orders: ClusterChanges) -> Arrivals:
    return Arrivals(tuple(Told(each.at, each.changes) for each in orders))


def fork(game: Player, *later: ClusterChanges, text: str = PACKED) -> Table:
    """With what came later; nothing is played yet."""
    table = Table(game)
    assert table.order(Unfollow(arrivals=True)).status == "applied"
    assert table.order(told(*later)).status == "applied"
    if text:
        assert table.order(SetConfiguration("another", text)).status == "applied"
    return table


def played(game: Player) -> dict[str, str]:
    """Pod → its node, when all came."""
    assert play(game) is Happened.FINISHED
    sums = Sums(game)
    sums._compare_projection(*sums._of_cluster())
    sums._compare_cache(*sums._of_cluster())
    return nodes(game)


def nodes(game: Player) -> dict[str, str]:
    return {each.metadata.name: each.spec.node_name for each in game.world.cluster.list(Pod)}


def replayed(begin: Callable[[], Player], table: Table) -> None:
    """To the same bytes, from the beginning and from checkpoints on the way."""
    game = table.game
    again = begin()
    replay(again, Pace(mode="playing"), table.journal, until=game.position)
    assert (again.digest, nodes(again), places(again)) == (game.digest, nodes(game), places(game))
    forked = max(entry.position for entry in table.journal) + 1
    for middle in range(forked, game.position):
        half, pace = begin(), Pace(mode="playing")
        replay(half, pace, table.journal, until=middle)
        if half.scheduler.mid_cycle:
            continue
        restored, pace = load_checkpoint(save_checkpoint(half, pace))
        restored.restored([], built_in_registry())
        replay(restored, pace, [], until=game.position)
        assert (restored.digest, nodes(restored)) == (game.digest, nodes(game))


BEGIN = (node("a"), node("b"), pod("given", node_name="a"), pod("waiting"), failing("large", "5"), gated("later"))
LATER = (
    at(10, ("added", pod("new"))),
    at(11, ("modified", running(pod("new", node_name="b"))), ("modified", pod("waiting", node_name="b"))),
    at(20, ("added", node("c", cpu="16")), ("deleted", name_of(pod("given", node_name="a")))),
    at(30, ("modified", pod("later"))),
    at(40, ("modified", {**node("b"), "spec": {"unschedulable": True}}), ("added", pod("last", "3"))),
)


def test_arrivals_come_at_their_times_and_no_real_decision() -> None:
    game = following(*BEGIN)
    table = fork(game, *LATER)
    assert (game.virtual, game.is_of_real_cluster, game.arrivals) == (True, False, (8, 8))
    assert game.next_arrival == START + 10 * SECOND
    while game.now < START + 20 * SECOND:
        game.operate()
    assert nodes(game)["waiting"] == nodes(game)["new"] == "a", "the fuller one; the real scheduler took b"
    assert (nodes(game)["given"], nodes(game)["large"]) == ("a", "")
    found = played(game)
    assert "given" not in found
    assert found["large"] == "c", "the node came"
    assert found["later"], "its gate went"
    assert found["last"] != "b", "that is cordoned by then"
    here = game.world.cluster.get(Pod, "shop", "new")
    assert here is not None
    assert (here.status.phase, here.status.start_time) == ("Pending", None), "kubelets there have nothing to say here"
    assert game.arrivals == (0, 8)
    assert game.now >= START + 40 * SECOND
    replayed(lambda: following(*BEGIN), table)


def test_without_the_other_configuration_it_is_the_same_question() -> None:
    packed, spread = following(*BEGIN), following(*BEGIN)
    fork(packed, *LATER)
    fork(spread, *LATER, text="")
    assert played(packed)["new"] != played(spread)["new"]


def test_what_came_before_the_fork_stays() -> None:
    game = following(*BEGIN)
    table = Table(game)
    for order in LATER[:2]:
        table.order(order)
    forked = Table(game)
    forked.order(Unfollow(arrivals=True))
    forked.order(told(*LATER[2:]))
    found = played(game)
    assert (found["new"], found["waiting"]) == ("b", "b")
    assert found["large"] == "c"
    table.journal += forked.journal
    replayed(lambda: following(*BEGIN), table)


def test_nothing_is_expected_where_nothing_was_asked_for() -> None:
    game = following(*BEGIN)
    table = Table(game)
    assert table.order(told(*LATER)).status == "refused", "it follows the cluster itself"
    table.order(Unfollow())
    assert table.order(told(*LATER)).status == "refused"
    assert game.next_arrival is None


def test_who_is_preempted_there_goes_here_where_a_controller_makes_another() -> None:
    begin = (node("a"), pod("owned", "1", node_name="a", owner="web"), pod("alone", "1", node_name="a"))
    later = (
        at(1, ("modified", evicted(pod("owned", "1", node_name="a", owner="web")))),
        at(1, ("modified", evicted(pod("alone", "1", node_name="a")))),
        at(2, ("deleted", name_of(pod("owned", node_name="a", owner="web"))), ("deleted", name_of(pod("alone")))),
        at(3, ("added", pod("owned-again", "1", owner="web"))),
    )
    game = following(*begin)
    table = fork(game, *later)
    assert played(game) == {"alone": "a", "owned-again": "a"}
    replayed(lambda: following(*begin), table)


def test_who_is_preempted_here_does_not_come_back() -> None:
    begin = (node("a", "2"), pod("small", "1", node_name="a", owner="web"))
    urgent: Manifest = pod("urgent", "2")
    urgent["spec"]["priority"] = 1000
    later = (
        at(1, ("added", urgent)),
        at(5, ("modified", pod("small", "1", node_name="a", owner="web", other="label"))),
    )
    game = following(*begin)
    table = fork(game, *later)
    assert played(game) == {"urgent": "a"}
    replayed(lambda: following(*begin), table)


def test_pods_of_another_scheduler_are_where_it_put_them() -> None:
    stranger, placed = pod("strange"), pod("strange", node_name="b")
    for each in (stranger, placed):
        each["spec"]["schedulerName"] = "others"
    later = (at(1, ("added", stranger)), at(2, ("modified", placed)))
    game = following(*BEGIN)
    fork(game, *later)
    assert played(game)["strange"] == "b"
    assert places(game)["strange"] == "bound"
    game = following(*BEGIN)
    table = fork(game, *later, text=OTHERS)
    assert played(game)["strange"] == "a", "the configuration has a profile for it"
    assert nodes(game)["new" if "new" in nodes(game) else "waiting"] == "", "and none for these"
    replayed(lambda: following(*BEGIN), table)


def test_at_first_nothing_is_kept_of_what_the_real_scheduler_said() -> None:
    game = following(*BEGIN)
    fork(game, at(90, ("added", pod("new"))), text="")
    large = game.world.cluster.get(Pod, "shop", "large")
    assert large is not None
    assert large.status.conditions == (), "that it found no node is not said by ours yet"
    played(game)
    waiting = game.world.cluster.get(Pod, "shop", "waiting")
    assert waiting is not None
    assert int(waiting.metadata.resource_version) > OWN_VERSIONS, "no version that the real cluster gives"


def test_what_another_scheduler_says_is_told() -> None:
    stranger = failing("strange")
    stranger["spec"]["schedulerName"] = "others"
    game = following(*BEGIN)
    fork(game, at(1, ("added", stranger)))
    played(game)
    view = next(each for each in game.projection.views.values() if each.name == "strange")
    assert (view.column, view.message) == ("unschedulable", MESSAGE)


def test_a_configuration_that_comes_later_decides_about_who_is_pending() -> None:
    stranger, placed = pod("strange"), pod("strange", node_name="b")
    for each in (stranger, placed):
        each["spec"]["schedulerName"] = "others"
    game = following(*BEGIN)
    table = fork(game, at(1, ("added", stranger)), at(9, ("modified", placed)))
    while game.now < START + 2 * SECOND and game.operate() is not Happened.TIME:
        pass
    while game.arrivals[0] == 2:
        game.operate()
    while game.scheduler.mid_cycle:
        game.operate()
    assert table.order(SetConfiguration("others", OTHERS)).status == "applied"
    assert played(game)["strange"] == "a"


def test_a_claim_has_the_volume_that_ours_chooses() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local", "uid": "uid-local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }

    def volume(name: str, host: str, **claimed: object) -> Manifest:
        term = {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
        required = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
        spec = {
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "nodeAffinity": {"required": required},
            **claimed,
        }
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "uid": f"uid-{name}"},
            "spec": spec,
            "status": {"phase": "Available"},
        }

    def claim(**bound: object) -> Manifest:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}},
            **bound,
        }
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "shop", "uid": "uid-data"},
            "spec": spec,
            "status": {"phase": "Bound" if bound else "Pending"},
        }

    def using(**spec: object) -> Manifest:
        manifest = pod("db", **spec)  # type: ignore[arg-type]
        manifest["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        return manifest

    volumes = (volume("on-a", "a"), volume("on-b", "b"))
    begin = (node("a"), node("b"), storage, *volumes, claim(), pod("full", "2", node_name="a"))
    reference = {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": "data", "uid": "uid-data"}
    later = (
        at(1, ("added", using())),
        at(2, ("modified", volume("on-b", "b", claimRef=reference)), ("modified", claim(volumeName="on-b"))),
        at(3, ("modified", using(node_name="b"))),
    )
    game = following(*begin)
    table = fork(game, *later)
    assert played(game)["db"] == "a"
    cluster = game.world.cluster
    data, other = cluster.get(PersistentVolumeClaim, "shop", "data"), cluster.get(PersistentVolume, "", "on-b")
    assert data is not None
    assert other is not None
    assert (data.spec.volume_name, other.spec.claim_ref) == ("on-a", None)
    replayed(lambda: following(*begin), table)


def test_a_fork_of_a_shadow_on_its_own_goes_on_with_its_world() -> None:
    cluster = (node("a"), node("b"), pod("given", node_name="a"))
    world = World(*cluster, text=PACKED)
    world.told(("added", pod("new")))
    world.told(("modified", pod("new", node_name="b")))
    game, table = world.game, world.table
    later = (
        at(50, ("modified", running(pod("new", node_name="b")))),
        at(51, ("added", pod("late"))),
        at(52, ("modified", pod("late", node_name="b"))),
    )
    table.order(Unfollow(arrivals=True))
    table.order(told(*later))
    assert (game.own, game.virtual) == (None, True)
    assert played(game) == {"given": "a", "new": "a", "late": "a"}
    assert game.later is not None
    assert not game.later.world.beside.told, "nobody stores that, so nothing of it is kept"
    replayed(lambda: own_world(*cluster, text=PACKED), table)


def test_a_fork_of_a_run_that_schedules_takes_none_of_its_bindings() -> None:
    desk = Desk(node("a"), node("b"), pod("given", "2", node_name="a"), pod("new"))
    desk.written("bind")  # on its way when the fork leaves
    assert not nodes(desk.game)["new"]
    table = desk.table
    table.order(Unfollow(arrivals=True))
    table.order(told(at(20, ("modified", running(pod("new", node_name="a")))), at(21, ("added", pod("late")))))
    table.order(SetConfiguration("packed", PACKED))
    found = played(desk.game)
    assert found["new"] == "b", "where this run was about to bind it"
    assert found["late"] == "a"
    replayed(desk.begin, table)


def with_uid(manifest: Manifest, uid: str, **labels: str) -> Manifest:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "uid": uid, "labels": {**metadata.get("labels", {}), **labels}}}


def until_arrived(game: Player, left: int) -> None:
    while game.arrivals[0] > left or game.scheduler.mid_cycle:
        game.operate()


def found_node(game: Player, name: str) -> Node:
    found = game.world.cluster.get(Node, "", name)
    assert found is not None
    return found


def test_what_a_person_deleted_comes_back_only_as_another_object() -> None:
    b, given = with_uid(node("b"), "uid-b"), pod("given", node_name="a")
    begin = (with_uid(node("a"), "uid-a"), b, given, pod("waiting", node_name="b"))
    later = (
        at(10, ("modified", with_uid(node("b"), "uid-b", heat="high")), ("modified", running(given))),
        at(20, ("modified", pod("waiting", node_name="b", heat="high"))),
        at(30, ("deleted", name_of(b)), ("added", with_uid(node("b"), "uid-b-2")), ("deleted", name_of(given))),
        at(40, ("added", {**given, "metadata": {**given["metadata"], "uid": "uid-given-2"}})),
        at(50, ("modified", with_uid(node("b"), "uid-b-2", heat="low"))),
    )
    game = following(*begin)
    table = fork(game, *later, text="")
    assert table.order(NodeDelete("b")).status == "applied"
    assert table.order(PodDelete("shop", "given")).status == "applied"
    until_arrived(game, 6)
    assert game.world.cluster.get(Node, "", "b") is None
    assert nodes(game) == {}, "neither the pod nor those of the node"
    found = played(game)
    assert dict(found_node(game, "b").metadata.labels)["heat"] == "low", "another node of its name is the cluster's"
    assert found == {"given": "a"}
    replayed(lambda: following(*begin), table)


def test_what_a_person_set_stays_and_all_else_is_as_the_cluster_has_it() -> None:
    b = with_uid(node("b"), "uid-b", zone="one")
    begin = (with_uid(node("a"), "uid-a"), b)

    def told_of_b(number: int, *, unschedulable: bool = False, cpu: str = "4", **labels: str) -> ClusterChanges:
        spec = {"taints": [{"key": f"heat-{number}", "effect": "PreferNoSchedule"}], "unschedulable": unschedulable}
        return at(10 * number, ("modified", {**with_uid(node("b", cpu), "uid-b", **labels), "spec": spec}))

    later = (
        told_of_b(1, zone="two", cpu="8"),
        told_of_b(2, zone="three", unschedulable=True),
        told_of_b(3, zone="four"),
    )
    game = following(*begin)
    table = fork(game, *later, text="")
    edited = to_manifest(found_node(game, "b"))
    edited["metadata"]["labels"] |= {"mine": "yes"}
    assert table.order(Change("replace", edited)).status == "applied"
    assert table.order(NodeCordon("b")).status == "applied"
    for left, zone, cpu in ((2, "two", "8"), (1, "three", "4"), (0, "four", "4")):
        until_arrived(game, left)
        here = found_node(game, "b")
        labels = dict(here.metadata.labels)
        assert (labels["zone"], labels["mine"], here.spec.unschedulable) == (zone, "yes", True)
        assert here.status.allocatable is not None
        assert here.status.allocatable["cpu"] == cpu
        keys = {taint.key for taint in here.spec.taints}
        assert keys == {f"heat-{3 - left}", "node.kubernetes.io/unschedulable"}
    assert played(game) == {}
    replayed(lambda: following(*begin), table)


def test_a_pod_that_was_edited_stays_what_the_person_made_of_it_until_the_cluster_deletes_it() -> None:
    given, small = pod("given", "1", node_name="a", tier="web"), pod("small", "1", tier="web")
    begin = (with_uid(node("a"), "uid-a"), given, small)
    later = (
        at(10, ("modified", running(pod("given", "1", node_name="a", tier="web", canary="yes")))),
        at(20, ("modified", pod("small", "1", node_name="a", tier="web", canary="yes"))),
        at(30, ("deleted", name_of(given))),
    )
    game = following(*begin)
    table = fork(game, *later, text="")
    for name in ("given", "small"):
        here = game.world.cluster.get(Pod, "shop", name)
        assert here is not None
        edited = to_manifest(here)
        edited["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
        edited["metadata"]["labels"]["tier"] = "batch"
        assert table.order(Change("replace", edited)).status == "applied"
    until_arrived(game, 1)
    for name in ("given", "small"):
        here = game.world.cluster.get(Pod, "shop", name)
        assert here is not None
        assert pod_requests(here)["cpu"] == 3000
        assert dict(here.metadata.labels) == {"tier": "batch", "canary": "yes"}
    assert sorted(nodes(game).values()) == ["", "a"], "3 of 4 processors, so there is room for one"
    assert played(game) == {"small": "a"}
    replayed(lambda: following(*begin), table)


def test_what_is_still_to_come_is_known_before_it_was_told() -> None:
    game = following(*BEGIN)
    table = Table(game)
    table.order(Unfollow(arrivals=True, expects=8))
    assert game.arrivals == (8, 8)
    table.order(told(*LATER[:2]))
    assert game.arrivals == (8, 8)
    table.order(told(*LATER[2:]))
    assert game.arrivals == (8, 8)
    played(game)
    assert game.arrivals == (0, 8)


@pytest.mark.parametrize("what", ["added", "deleted"])
def test_what_cannot_be_read_is_left_out(what: str) -> None:
    game = following(*BEGIN)
    broken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 7}}
    first = at(1, (what, {**broken, "metadata": {"name": 7, "namespace": "shop"}}), ("added", pod("new")))
    fork(game, first)
    assert played(game)["new"]
