"""Claims that nobody can meet: what is missing is made, and a claim gets a class or a node that serves it."""

from __future__ import annotations

import pytest

from tests.advice.asking import helped, of_kind, places_of, played, texts, tried
from tests.schedweb.engine.worlds import Manifest, node, pod

ZONE = "topology.kubernetes.io/zone"
STATEFUL = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}


def storage_class(name: str, provisioner: str = "ebs.csi.aws.com", zone: str = "") -> Manifest:
    made: Manifest = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    if zone:
        made["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]}]
    return {**made, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def claim(name: str, storage_class: str, size: str = "1Gi") -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
        },
    }


def claiming(name: str, *, stateful: bool = False) -> Manifest:
    """Of a claim of its own, ``data-<name>``."""
    made = pod(name)
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}]
    if stateful:
        made["metadata"]["ownerReferences"] = [STATEFUL]
    return made


def bound_in(zone: str, policy: str = "Retain") -> list[Manifest]:
    """``data-db``, and its volume in that zone."""
    held = claim("data-db", "gp3")
    held["spec"]["volumeName"] = "disk"
    held["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    held["status"] = {"phase": "Bound"}
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    about = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "shop"}
    volume: Manifest = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}}
    volume["spec"] = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "gp3",
        "persistentVolumeReclaimPolicy": policy,
        "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "disk"},
        "claimRef": {**about, "name": "data-db", "uid": "uid-data-db"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    volume["status"] = {"phase": "Bound"}
    return [held, volume]


def test_a_missing_claim_is_made() -> None:
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "gp3"}}
    storage |= {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    wants = pod("db")
    wants["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = [node("a"), storage, wants]
    found = helped(played(objects), "db")
    assert texts(found)[0] == "Create the missing PersistentVolumeClaim data"
    assert places_of(tried(objects, found.remedies[0])) == {"shop/db": "a"}
    assert found.remedies[0].commands[0].startswith("kubectl apply -f - <<'EOF'\napiVersion: v1\nkind: Persistent")


def test_a_missing_storage_class_is_made_for_the_driver_that_there_is() -> None:
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "ebs.csi.aws.com"},
        "spec": {},
    }
    claim: Manifest = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    claim["metadata"] = {"name": "data", "namespace": "shop"}
    claim["spec"] = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    wants = pod("db")
    wants["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = [node("a"), driver, claim, wants]
    found = helped(played(objects), "db")
    assert texts(found)[0] == "Create the missing StorageClass fast"
    assert places_of(tried(objects, found.remedies[0])) == {"shop/db": "a"}


@pytest.mark.parametrize("storage_class", [None, "kubernetes.io/no-provisioner"])
def test_a_claim_is_made_with_its_volume_where_nobody_provisions_any(storage_class: str | None) -> None:
    wants = pod("db")
    wants["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]
    objects = [node("a"), wants]
    if storage_class:
        local = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"}}
        objects.append({**local, "provisioner": storage_class, "volumeBindingMode": "WaitForFirstConsumer"})
    found = helped(played(objects), "db")
    assert texts(found)[0] == (
        "Create the missing PersistentVolumeClaim missing and PersistentVolume shop-missing. "
        "The data of a hostPath volume stay on the node where it is used: for test clusters."
    )
    assert "hostPath" in found.remedies[0].diff
    assert places_of(tried(objects, found.remedies[0])) == {"shop/db": "a"}


@pytest.mark.parametrize("storage_class", ["gone", ""])
def test_claims_of_a_class_that_is_gone_get_volumes_where_nobody_provisions_any(storage_class: str) -> None:
    """Every replica of a StatefulSet has a claim of its own."""
    objects: list[Manifest] = [node("a")]
    for name in ("db-0", "db-1"):
        claim: Manifest = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        claim["metadata"] = {"name": f"data-{name}", "namespace": "shop"}
        claim["spec"] = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
        claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
        wants = pod(name)
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}
        wants["metadata"]["ownerReferences"] = [owner]
        wants["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}]
        objects += [claim, wants]
    found = helped(played(objects), "db-0")
    made = {each.manifest["metadata"]["name"] for each in found.remedies[0].operations}
    assert made <= {"shop-data-db-0", "shop-data-db-1"}
    placed = places_of(tried(objects, found.remedies[0]))
    assert placed["shop/db-0"] == "a"
    assert (made, placed["shop/db-1"]) == ({"shop-data-db-0", "shop-data-db-1"}, "a")


@pytest.mark.parametrize("sibling", [False, True])
def test_all_replicas_of_a_stateful_set_get_their_claims(sibling: bool) -> None:
    """Like the claim of one that has it, if any has."""
    objects: list[Manifest] = [node("a"), storage_class("gp3"), storage_class("slow")]
    if sibling:
        objects += [claim("data-db-9", "slow", "7Gi"), claiming("db-9", stateful=True)]
    objects += [claiming(name, stateful=True) for name in ("db-0", "db-1", "db-2")]
    found = helped(played(objects), "db-1")
    first = found.remedies[0]
    assert str(first.text) == "Create the missing PersistentVolumeClaim data-db-1, data-db-0 and data-db-2"
    assert first.placed == 3
    specs = {each.manifest["metadata"]["name"]: each.manifest["spec"] for each in first.operations}
    assert specs.keys() == {"data-db-0", "data-db-1", "data-db-2"}
    wanted = ("slow", "7Gi") if sibling else ("gp3", "1Gi")
    assert {(each["storageClassName"], each["resources"]["requests"]["storage"]) for each in specs.values()} == {wanted}
    assert set(places_of(tried(objects, first)).values()) == {"a"}


@pytest.mark.parametrize(
    "unable",
    [storage_class("bad", zone="eu-1x"), storage_class("bad", "kubernetes.io/no-provisioner"), None],
    ids=["topology", "nobody provisions", "no such class"],
)
def test_a_claim_whose_class_cannot_serve_gets_one_that_can(unable: Manifest | None) -> None:
    nodes = [node("a", **{ZONE: "eu-1a"}), storage_class("other", zone="eu-1y"), storage_class("gp3")]
    objects = [*nodes, *([unable] if unable else [])]
    for name in ("db-0", "db-1"):
        objects += [claim(f"data-{name}", "bad"), claiming(name, stateful=True)]
    changed = of_kind(helped(played(objects), "db-0"), "claim")
    assert str(changed.text) == "Delete the claims data-db-0 and data-db-1 and make them anew with the StorageClass gp3"
    assert changed.placed == 2
    assert changed.commands[0] == "kubectl delete pvc data-db-0 data-db-1 -n shop"
    assert "+  storageClassName: gp3" in changed.diff
    assert places_of(tried(objects, changed)) == {"shop/db-0": "a", "shop/db-1": "a"}


def test_a_node_where_the_class_may_make_volumes_is_proposed() -> None:
    objects = [
        node("a", **{ZONE: "eu-1a"}),
        storage_class("far", zone="eu-1x"),
        claim("data-db", "far"),
        claiming("db"),
    ]
    found = helped(played(objects), "db")
    assert texts(found) == [f"Add a node like a (4 cpu, 16 Gi memory), with {ZONE}=eu-1x"]
    assert places_of(tried(objects, found.remedies[0])) == {"shop/db": "a-more-1"}


def test_the_claim_of_an_ephemeral_volume_is_given_another_class() -> None:
    wants = pod("db")
    template = {"spec": claim("any", "bad")["spec"]}
    wants["spec"]["volumes"] = [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}]
    objects = [node("a", **{ZONE: "eu-1a"}), storage_class("bad", zone="eu-1x"), storage_class("gp3"), wants]
    changed = of_kind(helped(played(objects), "db"), "claim")
    assert str(changed.text) == "Give the ephemeral volume data the StorageClass gp3"
    assert places_of(tried(objects, changed)) == {"shop/db": "a"}


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_a_volume_in_a_zone_that_no_node_has(policy: str) -> None:
    objects = [node("a", **{ZONE: "eu-1a"}), storage_class("gp3"), storage_class("slow"), claiming("db")]
    objects += bound_in("eu-1x", policy)
    found = helped(played(objects), "db")
    lost = "The volume disk is deleted with its data." if policy == "Delete" else "The data stay on the volume disk."
    assert texts(found) == [
        f"Delete the claim data-db and make it anew with the StorageClass gp3. {lost}",
        f"Add a node like a (4 cpu, 16 Gi memory), with {ZONE}=eu-1x",
    ]
    for remedy in found.remedies:
        assert places_of(tried(objects, remedy)) == {"shop/db": remedy.node}


def test_a_claim_that_a_running_pod_uses_is_not_made_anew() -> None:
    running = pod("running", node_name="a")
    running["spec"]["volumes"] = claiming("db")["spec"]["volumes"]
    objects = [node("a", **{ZONE: "eu-1a"}), storage_class("gp3"), storage_class("slow"), claiming("db"), running]
    found = helped(played([*objects, *bound_in("eu-1x")]), "db")
    assert "claim" not in [remedy.kind for remedy in found.remedies]


@pytest.mark.parametrize("other", [False, True], ids=["no other class", "another class"])
def test_a_claim_whose_class_should_have_provisioned_at_once_is_helped(other: bool) -> None:
    """Its provisioner does nothing, or it would be bound: it gets a volume, or a class that waits for the pod."""
    at_once = {**storage_class("fast"), "volumeBindingMode": "Immediate"}
    objects = [node("a"), at_once, claim("data-db", "fast", "5Gi"), claiming("db")]
    objects += [storage_class("gp3")] if other else []
    found = helped(played(objects), "db")
    anew = ["Delete the claim data-db and make it anew with the StorageClass gp3"] if other else []
    assert texts(found) == [
        "Create the missing PersistentVolume shop-data-db. "
        "The data of a hostPath volume stay on the node where it is used: for test clusters.",
        *anew,
    ]
    for remedy in found.remedies:
        assert places_of(tried(objects, remedy)) == {"shop/db": "a"}


def test_a_missing_claim_is_made_of_a_class_that_provisions_at_once() -> None:
    objects = [node("a"), {**storage_class("fast"), "volumeBindingMode": "Immediate"}, claiming("db")]
    found = helped(played(objects), "db")
    assert texts(found)[0] == "Create the missing PersistentVolumeClaim data-db"
    assert "hostPath" not in found.remedies[0].diff
    assert places_of(tried(objects, found.remedies[0])) == {"shop/db": "a"}
