"""VolumeRestrictions, rule by rule (docs/semantics/volumes.md#volumerestrictions)."""

from __future__ import annotations

from typing import Any

import pytest

from framework.interface import QueueingHint
from framework.plugins.volumerestrictions import IN_USE, after_claim_added, after_pod_deleted
from tests.builders import make_pod
from tests.plugins.volume_worlds import LOCAL, World, claim, node, reasons, using, volume

DISK = "node(s) had no available disk"


def rbd(monitors: list[str], image: str = "i", pool: str = "p", **more: Any) -> dict[str, Any]:
    return {"rbd": {"monitors": monitors, "image": image, "pool": pool, **more}}


def gce(name: str, **more: Any) -> dict[str, Any]:
    return {"gcePersistentDisk": {"pdName": name, **more}}


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (gce("d"), gce("d", readOnly=True), True),
        (gce("d", readOnly=True), gce("d", readOnly=True), False),
        (gce("d"), gce("e"), False),
        (
            {"awsElasticBlockStore": {"volumeID": "v", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "v", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "q", "lun": 1}}, {"iscsi": {"iqn": "q", "lun": 2}}, True),
        ({"iscsi": {"iqn": "q", "readOnly": True}}, {"iscsi": {"iqn": "q", "readOnly": True}}, False),
        (rbd(["a", "b"]), rbd(["b", "c"]), True),
        (rbd(["a"]), rbd(["b"]), False),
        (rbd(["a"]), rbd(["a"], pool="other"), False),
        (rbd(["a"]), rbd(["a"], image="other"), False),
        (rbd(["a"], readOnly=True), rbd(["a"], readOnly=True), False),
        ({"azureDisk": {"diskURI": "d"}}, {"azureDisk": {"diskURI": "d"}}, False),
    ],
)
def test_disks_that_two_pods_cannot_share(one: dict[str, Any], other: dict[str, Any], conflict: bool) -> None:
    placed = make_pod("placed", node_name="n1", volumes=[{"name": "v", **one}])
    attempt = World(node("n1"), node("n2"), placed).schedule(make_pod("p", volumes=[{"name": "v", **other}]))
    assert reasons(attempt) == {"n1": (DISK,) if conflict else (), "n2": ()}


def once(name: str, **more: Any) -> Any:
    return claim(name, accessModes=["ReadWriteOncePod"], **more)


def test_a_claim_for_one_pod_only_fails_every_node_and_preemption_helps() -> None:
    pv = volume("pv", accessModes=["ReadWriteOncePod"])
    owner = using("owner", "c", node_name="n1", priority=1)
    world = World(node("n1"), node("n2"), LOCAL, pv, once("c", to="pv"), owner)
    assert reasons(world.schedule(using("same", "c", priority=1))) == {"n1": (IN_USE,), "n2": (IN_USE,)}
    attempt = world.schedule(using("higher", "c", priority=2))
    assert [outcome.nominated_node for outcome in attempt.post_filter if outcome.nominated_node] == ["n1"]


def test_victims_are_counted_by_the_names_of_their_claims_whatever_their_namespace() -> None:
    """Upstream's RemovePod does not compare namespaces: taking the wrong pod away seems to free the claim."""
    pv = volume("pv", accessModes=["ReadWriteOncePod"])
    objects = [node("n1"), node("n2"), LOCAL, pv, once("c", to="pv")]
    owner = using("owner", "c", node_name="n1", priority=9)
    stranger = using("stranger", "c", node_name="n2", namespace="other", priority=1)
    attempt = World(*objects, owner, stranger).schedule(using("p", "c", priority=5))
    (outcome,) = [each for each in attempt.post_filter if each.nominated_node]
    assert (outcome.nominated_node, outcome.victims) == ("n2", ("other/stranger",))


def test_an_ephemeral_claim_is_not_looked_at() -> None:
    """Only claims that volumes name count; a missing one is left to VolumeBinding."""
    attempt = World(node("n1")).schedule(make_pod("p", volumes=[{"name": "t", "ephemeral": {}}]))
    outcomes = {each.plugin: each.status.code.name_ for each in attempt.pre_filter}
    assert outcomes["VolumeRestrictions"] == "Skip"
    assert outcomes["VolumeBinding"] == "UnschedulableAndUnresolvable"


@pytest.mark.parametrize(
    ("deleted", "queues"),
    [
        (using("d", "c"), True),
        (using("d", "other"), False),
        (using("d", "c", namespace="elsewhere"), False),
        (make_pod("d", volumes=[{"name": "v", "iscsi": {"iqn": "q"}}]), True),
        (make_pod("d", volumes=[{"name": "v", "iscsi": {"iqn": "r"}}]), False),
    ],
    ids=["claim", "other claim", "namespace", "disk", "other disk"],
)
def test_deleted_pods_that_may_help(deleted: Any, queues: bool) -> None:
    pod = using("p", "c", volumes=[{"name": "d", "iscsi": {"iqn": "q"}}])
    assert (after_pod_deleted(pod, deleted, None) is QueueingHint.QUEUE) == queues


def test_new_claims_that_may_help() -> None:
    pod = using("p", "c")
    answers = [after_claim_added(pod, None, new) for new in (claim("c"), claim("d"), claim("c", namespace="other"))]
    assert answers == [QueueingHint.QUEUE, QueueingHint.SKIP, QueueingHint.SKIP]
