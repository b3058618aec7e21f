"""NodeVolumeLimits, rule by rule (docs/semantics/volumes.md#nodevolumelimits)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.interface import QueueingHint
from framework.plugins.nodevolumelimits.hints import (
    after_attachment_deleted,
    after_csi_node_updated,
    after_pod_deleted,
)
from tests.builders import make_pod
from tests.plugins.volume_worlds import (
    LOCAL,
    MADE,
    STORAGE,
    World,
    claim,
    csi_node,
    made,
    node,
    reasons,
    storage_class,
    using,
    volume,
)

FULL = "node(s) exceed max volume count"
DRIVER = "csi.example.com"


def csi(name: str, handle: str = "", driver: str = DRIVER) -> Any:
    return volume(name, csi={"driver": driver, "volumeHandle": handle or name})


def attachment(name: str, node_name: str, pv: str, attacher: str = DRIVER) -> Any:
    spec = {"attacher": attacher, "nodeName": node_name, "source": {"persistentVolumeName": pv}}
    return made("VolumeAttachment", name, api_version=STORAGE, spec=spec)


def on_n1(*objects: Any, limit: int | None = 1) -> World:
    """n1 has a limit; a volume of claim ``a`` is in use there, and ``b`` is bound to another."""
    bound = [csi("pv-a"), csi("pv-b"), claim("a", to="pv-a"), claim("b", to="pv-b")]
    return World(node("n1"), csi_node("n1", limit=limit), LOCAL, MADE, *bound, *objects)


USER = using("user", "a", node_name="n1")


def test_a_full_node_takes_no_other_volume_but_the_same_one_again() -> None:
    assert reasons(on_n1(USER).schedule(using("p", "b"))) == {"n1": (FULL,)}
    assert reasons(on_n1(USER).schedule(using("p", "a"))) == {"n1": ()}
    assert reasons(on_n1(USER, limit=2).schedule(using("p", "b"))) == {"n1": ()}
    assert reasons(on_n1(USER, limit=None).schedule(using("p", "b"))) == {"n1": ()}


def test_preemption_frees_attachments() -> None:
    world = on_n1(using("user", "a", node_name="n1", priority=0))
    attempt = world.schedule(using("p", "b", priority=1))
    assert [each.victims for each in attempt.post_filter if each.nominated_node] == [("default/user",)]


def test_a_claim_without_a_volume_counts_for_its_class_once_however_many_use_it() -> None:
    waits = claim("w", storageClassName="made")
    assert reasons(on_n1(USER, waits).schedule(using("p", "w"))) == {"n1": (FULL,)}
    twice = on_n1(waits, using("first", "w", node_name="n1"))
    assert reasons(twice.schedule(using("p", "w"))) == {"n1": ()}
    assert reasons(on_n1(waits).schedule(using("p", "w", "a"))) == {"n1": (FULL,)}


def test_attachments_count_too_and_once() -> None:
    """A volume that is attached but used by no pod counts twice for a pod that wants it: so upstream."""
    assert reasons(on_n1(attachment("x", "n1", "pv-a")).schedule(using("p", "b"))) == {"n1": (FULL,)}
    assert reasons(on_n1(attachment("x", "n2", "pv-a")).schedule(using("p", "b"))) == {"n1": ()}
    assert reasons(on_n1(attachment("x", "n1", "pv-a", "other")).schedule(using("p", "b"))) == {"n1": ()}
    assert reasons(on_n1(USER, attachment("x", "n1", "pv-a"), limit=2).schedule(using("p", "b"))) == {"n1": ()}
    assert reasons(on_n1(attachment("x", "n1", "pv-b")).schedule(using("p", "b"))) == {"n1": (FULL,)}


def test_claims_of_placed_pods_that_are_gone_do_not_count() -> None:
    assert reasons(on_n1(using("user", "gone", node_name="n1")).schedule(using("p", "b"))) == {"n1": ()}


def test_a_missing_claim_of_the_pod_is_unresolvable() -> None:
    others = ("VolumeBinding", "VolumeRestrictions", "VolumeZone")
    attempt = World(node("n1"), without=others).schedule(using("p", "c"))
    assert reasons(attempt) == {"n1": ('looking up PVC default/c: persistentvolumeclaim "c" not found',)}
    assert attempt.filter is not None
    assert attempt.filter.verdicts[1].code.name_ == "UnschedulableAndUnresolvable"


def test_an_ephemeral_claim_that_is_not_the_placed_pods_own_fails_the_attempt() -> None:
    stranger = make_pod("s", node_name="n1", volumes=[{"name": "t", "ephemeral": {}}])
    attempt = on_n1(stranger, claim("s-t")).schedule(using("p", "b"))
    text = "PVC default/s-t was not created for pod default/s (pod is not owner)"
    assert attempt.message == f'running "NodeVolumeLimits" filter plugin: {text}'


EBS = {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}


def test_in_tree_volumes_count_for_the_driver_that_took_them_over() -> None:
    """Inline or in a PersistentVolume, they are one volume; without a CSINode nothing counts."""
    ebs = csi_node("n1", limit=1, driver="ebs.csi.aws.com")
    pv = volume("pv", awsElasticBlockStore={"volumeID": "vol-1"})
    other = volume("other", awsElasticBlockStore={"volumeID": "vol-2"})
    objects = [node("n1"), LOCAL, pv, other, claim("same", to="pv"), claim("other", to="other")]
    inline = make_pod("inline", node_name="n1", volumes=[EBS])
    assert reasons(World(*objects, ebs, inline).schedule(using("p", "other"))) == {"n1": (FULL,)}
    assert reasons(World(*objects, ebs, inline).schedule(using("p", "same"))) == {"n1": ()}
    assert reasons(World(*objects, inline).schedule(using("p", "other"))) == {"n1": ()}
    legacy = storage_class("legacy", "kubernetes.io/aws-ebs")
    waits = claim("w", storageClassName="legacy")
    assert reasons(World(*objects, ebs, inline, legacy, waits).schedule(using("p", "w"))) == {"n1": (FULL,)}


def test_an_inline_volume_that_cannot_be_translated_fails_the_attempt() -> None:
    bad = {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://zone/disk"}}
    attempt = World(node("n1"), csi_node("n1")).schedule(make_pod("p", volumes=[bad]))
    assert attempt.message == (
        'running "NodeVolumeLimits" filter plugin: converting volume(v) from inline to csi: failed to translate '
        "Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk)"
    )


@pytest.mark.parametrize(
    ("before", "after", "queues"), [(1, 2, True), (2, 1, False), (None, 1, True), (1, None, False)]
)
def test_a_limit_that_grew_may_help(before: int | None, after: int | None, queues: bool) -> None:
    """No limit counts as 0 here: that it went away does not queue, though it would help (upstream)."""
    hint = after_csi_node_updated(using("p", "c"), csi_node("n1", limit=before), csi_node("n1", limit=after))
    assert (hint is QueueingHint.QUEUE) == queues


def test_deleted_pods_and_attachments_that_may_help() -> None:
    pod = make_pod("p", volumes=[EBS])
    assert after_pod_deleted(pod, using("d", "c", node_name="n1"), None) is QueueingHint.QUEUE
    assert after_pod_deleted(pod, using("d", "c"), None) is QueueingHint.SKIP
    nominated = using("d", "c")
    nominated = replace(nominated, status=replace(nominated.status, nominated_node_name="n1"))
    assert after_pod_deleted(pod, nominated, None) is QueueingHint.QUEUE
    assert after_pod_deleted(pod, make_pod("d", node_name="n1"), None) is QueueingHint.SKIP
    theirs = attachment("x", "n1", "pv", "ebs.csi.aws.com")
    assert after_attachment_deleted(pod, theirs, None) is QueueingHint.QUEUE
    assert after_attachment_deleted(pod, attachment("x", "n1", "pv"), None) is QueueingHint.SKIP
    assert after_attachment_deleted(using("p", "c"), attachment("x", "n1", "pv"), None) is QueueingHint.QUEUE


def test_a_driver_may_keep_its_pods_from_nodes_without_it() -> None:
    """Only with the gate VolumeLimitScaling, and only if the driver asks for it."""
    asks = made("CSIDriver", DRIVER, api_version=STORAGE, spec={"preventPodSchedulingIfMissing": True})
    silent = made("CSIDriver", DRIVER, api_version=STORAGE, spec={})
    nodes = [node("n1"), csi_node("n1"), node("n2"), csi_node("n2", driver="other"), node("n3"), LOCAL]
    objects = [*nodes, csi("pv"), claim("c", to="pv")]
    missing = (f"{DRIVER} CSI driver is not installed on the node",)
    gate = "VolumeLimitScaling=true"
    pod = using("p", "c")
    assert reasons(World(*objects, asks, gates=gate).schedule(pod)) == {"n1": (), "n2": missing, "n3": missing}
    everywhere = {"n1": (), "n2": (), "n3": ()}
    assert reasons(World(*objects, silent, gates=gate).schedule(pod)) == everywhere
    assert reasons(World(*objects, gates=gate).schedule(pod)) == everywhere
    assert reasons(World(*objects, asks).schedule(pod)) == everywhere
