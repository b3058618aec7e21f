"""What the simulated volume controllers do in a run, and what they leave alone."""

from __future__ import annotations

from typing import Any

from framework.objects import PersistentVolume, PersistentVolumeClaim, Pod
from framework.objects.claims import is_fully_bound
from tests.builders import make_pod
from tests.plugins.volume_worlds import (
    LOCAL,
    MADE,
    World,
    claim,
    csi_node,
    node,
    storage_class,
    using,
    volume,
)

NOW = storage_class("now", "csi.example.com", waits=False)


def with_ephemeral(name: str, class_name: str, **more: Any) -> Pod:
    wanted = {"requests": {"storage": "1Gi"}}
    spec = {"storageClassName": class_name, "accessModes": ["ReadWriteOnce"], "resources": wanted}
    annotations = {"volume.kubernetes.io/storage-provisioner": "x", "redacted": "sealed:0123456789abcdef"}
    template = {"metadata": {"labels": {"of": "pod"}, "annotations": annotations}, "spec": spec}
    return make_pod(name, volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": template}}], **more)


def test_claims_of_generic_ephemeral_volumes_come_and_go_with_their_pod() -> None:
    world = World(node("n1"), MADE)
    pod = with_ephemeral("p", "made")
    assert world.schedule(pod).result == "bound"
    made = world.get(PersistentVolumeClaim, "p-tmp")
    assert made.metadata.labels == {"of": "pod"}
    assert "volume.kubernetes.io/storage-provisioner" in made.metadata.annotations
    assert "redacted" not in made.metadata.annotations, "what stands for annotations that are not kept is none of them"
    (owner,) = made.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid, owner.controller) == ("Pod", "p", pod.uid, True)
    assert made.metadata.uid
    assert world.get(PersistentVolume, f"pvc-{made.metadata.uid}").spec.csi is not None
    world.cluster.delete(pod)
    assert world.cluster.list(PersistentVolumeClaim) == []
    assert world.cluster.list(PersistentVolume) == []


def test_pending_pods_of_a_snapshot_get_their_claims_when_the_run_begins() -> None:
    world = World(node("n1"), MADE, with_ephemeral("p", "made"))
    assert world.get(PersistentVolumeClaim, "p-tmp").spec.storage_class_name == "made"


def test_unbound_claims_of_a_snapshot_stay_unbound_and_new_ones_are_bound() -> None:
    world = World(node("n1"), csi_node("n1"), NOW, claim("old", storageClassName="now"))
    world.add(claim("new", storageClassName="now"))
    assert not world.get(PersistentVolumeClaim, "old").spec.volume_name
    assert is_fully_bound(world.get(PersistentVolumeClaim, "new"))
    assert world.get(PersistentVolumeClaim, "new").spec.volume_name == "pvc-uid-new"


def test_a_new_claim_takes_the_smallest_volume_that_is_there() -> None:
    small, large = volume("small", "6Gi", storageClassName="now"), volume("large", storageClassName="now")
    world = World(node("n1"), NOW, large, small)
    world.add(claim("c", storageClassName="now"))
    assert world.get(PersistentVolumeClaim, "c").spec.volume_name == "small"
    taken = world.get(PersistentVolume, "small")
    assert (taken.status.phase, taken.spec.claim_ref is not None) == ("Bound", True)


def test_a_new_volume_is_available_and_serves_a_claim_that_waited_for_it() -> None:
    manual = storage_class("manual", "kubernetes.io/no-provisioner", waits=False)
    world = World(node("n1"), manual, LOCAL, claim("c", storageClassName="manual"), claim("lazy"))
    attempt = world.schedule(using("p", "c"))
    assert "pod has unbound immediate PersistentVolumeClaims" in attempt.message
    world.add(volume("pv", storageClassName="manual", phase=""))
    assert is_fully_bound(world.get(PersistentVolumeClaim, "c"))
    world.add(volume("free", phase=""))
    assert world.get(PersistentVolume, "free").status.phase == "Available"
    assert not world.get(PersistentVolumeClaim, "lazy").spec.volume_name
    world.scheduler.run_until_idle()
    assert world.get(Pod, "p").spec.node_name == "n1"


def test_a_class_that_was_missing_serves_the_claims_that_ask_for_it() -> None:
    world = World(node("n1"), claim("c", storageClassName="now"))
    world.add(NOW)
    assert is_fully_bound(world.get(PersistentVolumeClaim, "c"))


def test_a_kept_volume_is_released_and_serves_nobody_again() -> None:
    world = World(node("n1"), LOCAL, volume("pv", persistentVolumeReclaimPolicy="Retain"), claim("c"))
    assert world.schedule(using("p", "c")).result == "bound"
    world.cluster.delete(world.get(PersistentVolumeClaim, "c"))
    assert world.get(PersistentVolume, "pv").status.phase == "Released"
    world.add(claim("d"))
    assert world.schedule(using("q", "d")).result == "failed"


def test_a_second_volume_for_one_claim_is_given_back_and_the_pod_tried_again() -> None:
    """A pod that names a claim twice matches two volumes (upstream); the controller keeps the first."""
    world = World(node("n1"), LOCAL, volume("a"), volume("b"), claim("c"))
    attempt = world.schedule(using("p", "c", "c"))
    assert attempt.message == 'running PreBind plugin "VolumeBinding": binding volumes: ClaimRef got reset for pv "b"'
    assert world.get(PersistentVolume, "b").spec.claim_ref is None
    assert world.get(PersistentVolumeClaim, "c").spec.volume_name == "a"
    world.scheduler.run_until_idle()
    assert world.get(Pod, "p").spec.node_name == "n1"
