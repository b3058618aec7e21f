"""VolumeZone, rule by rule (docs/semantics/volumes.md#volumezone)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.interface import QueueingHint
from framework.plugins.volumezone import after_class_added, after_volume_changed
from tests.plugins.volume_worlds import LOCAL, World, claim, node, reasons, storage_class, using, volume

ZONE = "topology.kubernetes.io/zone"
BETA = "failure-domain.beta.kubernetes.io/zone"
NO_ZONE = "node(s) had no available volume zone"


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        ({ZONE: "a"}, ["a", "bare"]),
        ({ZONE: "a__b"}, ["a", "b", "bare"]),
        ({BETA: "a"}, ["a", "bare", "beta-a"]),  # the beta label is held against the current one where it is missing
        ({ZONE: "a", BETA: "b"}, ["bare"]),
        ({ZONE: "a__"}, ["a", "b", "bare", "beta-a"]),  # an empty part: the label is ignored
        ({"topology.kubernetes.io/region": "r"}, ["bare"]),  # zones without regions do not match a region
    ],
)
def test_nodes_that_a_volume_with_these_labels_can_be_used_from(labels: dict[str, str], want: list[str]) -> None:
    """A node without any zone or region label takes every volume."""
    nodes = (node("a", "a"), node("b", "b"), node("beta-a", labels={BETA: "a"}), node("bare"))
    pv = volume("pv", metadata={"labels": labels})
    found = reasons(World(*nodes, LOCAL, pv, claim("c", to="pv")).schedule(using("p", "c")))
    assert {each for why in found.values() for each in why} <= {NO_ZONE}
    assert sorted(name for name, why in found.items() if not why) == want


@pytest.mark.parametrize(
    ("unbound", "message"),
    [
        (claim("c", storageClassName=None), "PersistentVolumeClaim had no pv name and storageClass name"),
        (claim("c", storageClassName="none"), 'storageclass.storage.k8s.io "none" not found'),
        (claim("c", storageClassName="now"), "PersistentVolume had no name"),
        (claim("c", to="gone"), 'persistentvolume "gone" not found'),
        (claim("other"), 'persistentvolumeclaim "c" not found'),
    ],
    ids=["no class", "class gone", "immediate", "volume gone", "no claim"],
)
def test_claims_without_a_volume(unbound: Any, message: str) -> None:
    others = ("VolumeBinding", "VolumeRestrictions")  # they would refuse the pod before
    now = storage_class("now", "csi.example.com", waits=False)
    attempt = World(node("a", "a"), now, unbound, without=others).schedule(using("p", "c"))
    assert attempt.pre_filter_status is not None
    assert (attempt.pre_filter_status.plugin, attempt.pre_filter_status.message) == ("VolumeZone", message)


def test_hints() -> None:
    pod = using("p", "c")
    assert after_class_added(pod, None, LOCAL) is QueueingHint.QUEUE
    assert after_class_added(pod, None, storage_class("now", "x", waits=False)) is QueueingHint.SKIP
    old = volume("pv", metadata={"labels": {ZONE: "a__b"}})
    assert after_volume_changed(pod, None, old) is QueueingHint.QUEUE
    for labels, want in (({ZONE: "b__a"}, QueueingHint.SKIP), ({ZONE: "a"}, QueueingHint.QUEUE)):
        new = replace(old, metadata=replace(old.metadata, labels=labels))
        assert after_volume_changed(pod, old, new) is want
