"""Evicted pods of a workload are made again, as its controller would, by preemption as well; other pods are not."""

from __future__ import annotations

import pytest

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.scheduler import Cluster
from framework.scheduler.controllers import DECIDED_ONLY
from schedweb.engine.player import Happened
from tests.schedweb.engine.worlds import Manifest, node, play, player, pod


def owned(kind: str, name: str = "web-x", **more: object) -> Manifest:
    made = pod(name, "3", node_name="a", owner="web", app="web")
    made["metadata"]["ownerReferences"][0]["kind"] = kind
    made["spec"] |= more
    return made


def evicted(manifest: Manifest, *others: Manifest) -> tuple[Cluster, list[Pod]]:
    cluster = player([node("a"), node("b"), manifest, *others]).world.cluster
    known = cluster.get(Pod, "shop", manifest["metadata"]["name"])
    assert known is not None
    cluster.evict(known)
    return cluster, [each for each in cluster.list(Pod) if each.metadata.uid != known.metadata.uid]


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job"])
def test_a_new_pod_has_a_new_name(kind: str) -> None:
    _, [made] = evicted(owned(kind))
    assert made.metadata.name.startswith("web-")
    assert made.metadata.name != "web-x"
    assert made.spec.node_name == ""
    assert made.metadata.labels == {"app": "web"}
    assert made.metadata.owner_references[0].name == "web"


def test_a_stateful_set_keeps_the_name() -> None:
    _, [made] = evicted(owned("StatefulSet", "web-0"))
    assert made.metadata.name == "web-0"
    assert made.metadata.uid != "uid-web-0"


def test_a_daemon_sets_pod_belongs_to_its_node() -> None:
    game = player([node("a"), node("b"), owned("DaemonSet")])
    play(game)
    cluster = game.world.cluster
    known = cluster.list(Pod)[0]
    cluster.evict(known)
    play(game)
    [made] = cluster.list(Pod)
    assert (made.metadata.uid != known.metadata.uid, made.spec.node_name) == (True, "a")


def test_nobody_makes_a_pod_without_a_controller_again() -> None:
    assert evicted(pod("alone", node_name="a"))[1] == []
    assert evicted(owned("Workflow"))[1] == []


def test_a_class_that_the_export_lacks_is_no_hindrance() -> None:
    _, [made] = evicted(owned("ReplicaSet", priorityClassName="not-exported", priority=500))
    assert (made.spec.priority_class_name, made.spec.priority) == ("not-exported", 500)


def test_a_deletion_that_is_no_eviction_makes_nothing() -> None:
    cluster = player([node("a"), owned("ReplicaSet")]).world.cluster
    cluster.delete(cluster.list(Pod)[0])
    assert cluster.list(Pod) == []


def test_preempted_pods_come_again_and_find_another_place() -> None:
    preemptor = pod("large", "4")
    preemptor["spec"] |= {"priority": 100, "nodeSelector": {"kubernetes.io/hostname": "a"}}
    game = player([node("a"), node("b"), owned("ReplicaSet"), preemptor])
    assert play(game) is Happened.FINISHED
    assert sorted(each.spec.node_name for each in game.world.cluster.list(Pod)) == ["a", "b"]
    assert [(view.name, view.node) for view in game.projection.views.values() if view.name == "large"] == [
        ("large", "a")
    ]


def test_decisions_one_by_one_are_made_without_these_controllers() -> None:
    cluster = Cluster()
    cluster.set_controllers(DECIDED_ONLY)
    known = decode_manifest(owned("ReplicaSet"))
    assert isinstance(known, Pod)
    cluster.put(known)
    assert cluster.delete_pod(known) is None
    assert cluster.list(Pod) == []
