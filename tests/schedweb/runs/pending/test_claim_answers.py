"""First sentences for refusals by the plugins of volumes, devices, declared features and gangs."""

from __future__ import annotations

from typing import Any

import pytest

from framework.interface import Code, Status
from schedweb.runs.pending.claim_answers import held_by_gang
from tests.schedweb.runs.pending.test_answers import Known, answer

Manifest = dict[str, Any]
RWOP = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def pvc(
    name: str, storage_class: str = "", volume: str = "", mode: str = "ReadWriteOnce", bound: bool = True
) -> Manifest:
    spec: Manifest = {"accessModes": [mode], "resources": {"requests": {"storage": "10Gi"}}}
    metadata: Manifest = {"namespace": "data", "name": name}
    if storage_class:
        spec["storageClassName"] = storage_class
    if volume:
        spec["volumeName"] = volume
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def pv(name: str, zone: str = "", host: str = "", driver: str = "") -> Manifest:
    spec: Manifest = {"csi": {"driver": driver}} if driver else {}
    if host:
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    return {"kind": "PersistentVolume", "metadata": {"name": name, "labels": labels}, "spec": spec}


def storage_class(name: str, mode: str = "Immediate", provisioner: str = "ebs.csi.aws.com") -> Manifest:
    named = {"kind": "StorageClass", "metadata": {"name": name}}
    return {**named, "provisioner": provisioner, "volumeBindingMode": mode}


def csi_node(name: str, driver: str, count: int) -> Manifest:
    drivers = [{"name": driver, "nodeID": name, "allocatable": {"count": count}}]
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}}


def resource_claim(name: str, *requests: tuple[str, int | None], devices: tuple[str, ...] | None = None) -> Manifest:
    asked = [
        {
            "name": f"r{place}",
            "exactly": {"deviceClassName": each, "allocationMode": "All"}
            if count is None
            else {"deviceClassName": each, "count": count},
        }
        for place, (each, count) in enumerate(requests)
    ]
    claim: Manifest = {
        "kind": "ResourceClaim",
        "metadata": {"namespace": "data", "name": name},
        "spec": {"devices": {"requests": asked}},
    }
    if devices is not None:
        results = [{"request": "r0", "driver": "gpu.example.com", "pool": "n1", "device": each} for each in devices]
        claim["status"] = {"allocation": {"devices": {"results": results}}}
    return claim


def resource_slice(name: str, *devices: str) -> Manifest:
    published = [{"name": each} for each in devices]
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": "gpu.example.com", "devices": published},
    }


def pod(*claims: str, resource_claims: tuple[str, ...] = (), **spec: Any) -> Manifest:
    volumes = [{"name": f"v{place}", "persistentVolumeClaim": {"claimName": name}} for place, name in enumerate(claims)]
    named = [{"name": f"c{place}", "resourceClaimName": name} for place, name in enumerate(resource_claims)]
    return {
        "metadata": {"namespace": "data", "name": "db-0"},
        "spec": {"volumes": volumes, "resourceClaims": named, **spec},
    }


def at_once(plugin: str, message: str, manifest: Manifest, *objects: Manifest) -> tuple[str, str]:
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (message,), plugin)
    return answer({}, [1, 1, 0], manifest, refused, Known(*objects))


def on_nodes(plugin: str, reason: str, manifest: Manifest, *objects: Manifest) -> str:
    status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (reason,), plugin)
    nodes = {name: ([1, 1, 0], [0, 0, 0], status) for name in ("n1", "n2")}
    headline, _ = answer(nodes, [1, 1, 0], manifest, None, Known(*objects))
    return headline


@pytest.mark.parametrize(
    ("plugin", "message", "headline"),
    [
        ("VolumeBinding", 'persistentvolumeclaim "c" not found', "Claim data/c does not exist."),
        ("VolumeRestrictions", 'persistentvolumeclaim "c" not found', "Claim data/c does not exist."),
        (
            "VolumeBinding",
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "db-0-scratch"',
            "Claim data/db-0-scratch of its ephemeral volume is not made yet.",
        ),
        (
            "VolumeBinding",
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv-9"',
            "Claim data/c is bound to volume pv-9, which does not exist.",
        ),
        ("VolumeBinding", 'persistentvolumeclaim "c" is being deleted', "Claim data/c is being deleted."),
        (
            "DynamicResources",
            "request gpu: device class gpu.example.com does not exist",
            "Device class gpu.example.com does not exist; request gpu asks for it.",
        ),
        (
            "VolumeBinding",
            "PVC data/c was not created for pod data/db-0 (pod is not owner)",
            "VolumeBinding refuses it",
        ),
    ],
)
def test_what_the_message_names(plugin: str, message: str, headline: str) -> None:
    assert at_once(plugin, message, pod("c"))[0].startswith(headline)


@pytest.mark.parametrize(
    ("objects", "headline"),
    [
        ((pvc("a", "local-path"), storage_class("local-path")), "its class local-path binds immediately."),
        ((pvc("a", "gone"),), "its class gone does not exist."),
        ((pvc("a"),), "has no storage class."),
        ((pvc("a", "late", "pv-1", bound=False), storage_class("late", "WaitForFirstConsumer")), "class late binds"),
    ],
)
def test_a_claim_that_binds_at_once_and_is_not_bound(objects: tuple[Manifest, ...], headline: str) -> None:
    message = "pod has unbound immediate PersistentVolumeClaims"
    said, _ = at_once("VolumeBinding", message, pod("a"), *objects)
    assert said.startswith("Claim data/a is not bound and ")
    assert headline in said


def test_only_claims_that_bind_at_once_are_named() -> None:
    objects = (
        pvc("late", "late"),
        pvc("done", "now", "pv-1"),
        pvc("a", "now"),
        pvc("b", "now"),
        storage_class("late", "WaitForFirstConsumer"),
        storage_class("now"),
    )
    said = at_once(
        "VolumeBinding",
        "pod has unbound immediate PersistentVolumeClaims",
        pod("late", "done", "a", "b"),
        *objects,
    )
    assert said == (
        "Claim data/a is not bound and its class now binds immediately.",
        "So is data/b. No volume was found or made for it, and no node is looked at before there is one.",
    )


NO_PROVISIONER = "kubernetes.io/no-provisioner"


@pytest.mark.parametrize(
    ("plugin", "reason", "objects", "headline"),
    [
        (
            "VolumeRestrictions",
            RWOP,
            (pvc("a", mode="ReadWriteOncePod"),),
            "Claim data/a is ReadWriteOncePod and another",
        ),
        ("VolumeRestrictions", "node(s) had no available disk", (), "On every node that it could use another pod has"),
        (
            "NodeVolumeLimits",
            "node(s) exceed max volume count",
            (pvc("a", "ebs"), storage_class("ebs"), csi_node("n1", "ebs.csi.aws.com", 25), csi_node("n9", "x", 3)),
            "Every node that it could use has its 25 volumes of ebs.csi.aws.com attached.",
        ),
        (
            "NodeVolumeLimits",
            "node(s) exceed max volume count",
            (
                pvc("a", "ebs", "pv-1"),
                pv("pv-1", driver="ebs.csi.aws.com"),
                csi_node("n1", "ebs.csi.aws.com", 25),
                csi_node("n2", "ebs.csi.aws.com", 39),
            ),
            "Every node that it could use has as many volumes attached as its CSI driver allows.",
        ),
        (
            "VolumeBinding",
            "node(s) didn't match PersistentVolume's node affinity",
            (pvc("a", "local", "pv-1"), pv("pv-1", host="n7")),
            "Volume pv-1 of claim data/a can be used only where kubernetes.io/hostname is n7, and no node is there.",
        ),
        (
            "VolumeBinding",
            "node(s) didn't find available persistent volumes to bind",
            (pvc("a", "local"), storage_class("local", "WaitForFirstConsumer", NO_PROVISIONER)),
            "No free volume of class local fits claim data/a (10Gi) on any node that it could use.",
        ),
        (
            "VolumeBinding",
            "node(s) didn't find available persistent volumes to bind",
            (pvc("a", "ebs"), storage_class("ebs", "WaitForFirstConsumer")),
            "Class ebs cannot make a volume for claim data/a on any node that it could use.",
        ),
        (
            "VolumeBinding",
            "node(s) did not have enough free storage",
            (pvc("a", "ebs"), storage_class("ebs", "WaitForFirstConsumer")),
            "No node that it could use has 10Gi of class ebs left for claim data/a.",
        ),
        (
            "VolumeBinding",
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
            (pvc("a", "ebs", "pv-9"),),
            "Claim data/a is bound to volume pv-9, which does not exist.",
        ),
        (
            "VolumeZone",
            "node(s) had no available volume zone",
            (pvc("a", "ebs", "pv-1"), pv("pv-1", zone="eu-1b")),
            "Volume pv-1 of claim data/a can be used only in eu-1b, and no node there fits.",
        ),
    ],
)
def test_volumes(plugin: str, reason: str, objects: tuple[Manifest, ...], headline: str) -> None:
    assert on_nodes(plugin, reason, pod("a"), *objects).startswith(headline)


NONE_LEFT = "cannot allocate all claims"


@pytest.mark.parametrize(
    ("reason", "objects", "headline"),
    [
        (
            NONE_LEFT,
            (resource_claim("g", ("gpu.example.com", 2)),),
            "No node has 2 free devices of class gpu.example.com.",
        ),
        (
            NONE_LEFT,
            (resource_claim("g", ("gpu.example.com", 1)),),
            "No node has a free device of class gpu.example.com.",
        ),
        (
            NONE_LEFT,
            (resource_claim("g", ("gpu.example.com", 2), ("nic.example.com", None)),),
            "No node has all the devices that it asks for: 2 of gpu.example.com and all of nic.example.com.",
        ),
        (
            "resourceclaim not available on the node",
            (resource_claim("g", ("gpu.example.com", 1), devices=("gpu-3",)),),
            "Claim data/g is allocated gpu-3, and no node that can reach it can take the pod.",
        ),
    ],
)
def test_devices(reason: str, objects: tuple[Manifest, ...], headline: str) -> None:
    assert on_nodes("DynamicResources", reason, pod(resource_claims=("g",)), *objects) == headline


def test_how_many_devices_there_are() -> None:
    status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (NONE_LEFT,), "DynamicResources")
    known = Known(
        resource_claim("g", ("gpu.example.com", 2)),
        resource_claim("other", ("gpu.example.com", 1), devices=("gpu-0",)),
        resource_slice("s", "gpu-0", "gpu-1"),
    )
    _, detail = answer({"n": ([1, 1, 0], [0, 0, 0], status)}, [1, 1, 0], pod(resource_claims=("g",)), None, known)
    assert detail == "1 of 2 published devices are allocated."


def test_a_claim_in_use() -> None:
    claim = resource_claim("g", ("gpu.example.com", 1), devices=("gpu-3",))
    headline, _ = at_once("DynamicResources", "resourceclaim in use", pod(resource_claims=("g",)), claim)
    assert headline == "Claim data/g is used by as many pods as may share it."


@pytest.mark.parametrize(
    ("spec", "headline"),
    [
        (
            {"containers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
            "No node that it could use declares the feature RestartAllContainersOnContainerExits.",
        ),
        (
            {"hostNetwork": True, "hostUsers": False},
            "No node that it could use declares the feature UserNamespacesHostNetworkSupport.",
        ),
    ],
)
def test_declared_features(spec: Manifest, headline: str) -> None:
    reason = "node(s) didn't match Pod's required features"
    assert on_nodes("NodeDeclaredFeatures", reason, pod(**spec)) == headline


@pytest.mark.parametrize(
    ("group", "headline"),
    [
        (None, "Its pod group data/g does not exist."),
        (
            {"schedulingPolicy": {"gang": {"minCount": 3}}},
            "Its pod group data/g needs 3 pods, and not all of them are there.",
        ),
        ({"schedulingPolicy": {"basic": {}}}, "It waits for its pod group data/g."),
    ],
)
def test_gangs(group: Manifest | None, headline: str) -> None:
    made = (
        []
        if group is None
        else [
            {
                "apiVersion": "scheduling.k8s.io/v1alpha2",
                "kind": "PodGroup",
                "metadata": {"namespace": "data", "name": "g"},
                "spec": group,
            }
        ]
    )
    assert held_by_gang(pod(schedulingGroup={"podGroupName": "g"}), Known(*made))[0] == headline
