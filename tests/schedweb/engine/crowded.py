"""Crowded clusters as manifests: one where a pod has to preempt, one with claims of every state."""

from __future__ import annotations

from copy import deepcopy

from tests.schedweb.engine.worlds import Manifest, node, pod

ZONE = "topology.kubernetes.io/zone"


def of_priority(manifest: Manifest, priority: int) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "priority": priority}}


def low(name: str, on: str, priority: int, cpu: str, **labels: str) -> Manifest:
    return of_priority(pod(name, cpu, node_name=on, **labels), priority)


BUDGET: Manifest = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "kept", "namespace": "shop"},
    "spec": {"selector": {"matchLabels": {"app": "kept"}}},
    "status": {"disruptionsAllowed": 0},
}
CORDONED: Manifest = {**node("e", "4"), "spec": {"unschedulable": True}}
VICTIMS: list[Manifest] = [
    *(node(name, "4") for name in "abcd"),
    CORDONED,
    node("small", "1"),
    BUDGET,
    low("kept", "a", 0, "4", app="kept"),
    low("cheap", "b", 1, "4"),
    low("dear", "c", 50, "4"),
    low("equal", "d", 100, "4"),
    low("tiny", "small", 0, "1"),
    of_priority(pod("vip", "3"), 100),
]
"""vip takes the place of cheap on b; c and a lose, on d nobody is less important, e and small cannot help."""


def pvc(name: str, storage_class: str, volume: str = "") -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "10Gi"}},
    }
    metadata: Manifest = {"name": name, "namespace": "shop"}
    if volume:
        spec["volumeName"] = volume
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    status = {"phase": "Bound" if volume else "Pending"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": status}


def storage_class(name: str, mode: str, provisioner: str) -> Manifest:
    metadata = {"name": name}
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}
    return {**head, "provisioner": provisioner, "volumeBindingMode": mode}


def pv(name: str, zone: str, claim: str, storage_class: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {ZONE: zone}},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "claimRef": {"namespace": "shop", "name": claim},
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": name},
        },
        "status": {"phase": "Bound"},
    }


def resource_claim(name: str, count: int) -> Manifest:
    request = {
        "name": "gpu",
        "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": count},
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"devices": {"requests": [request]}},
    }


def using(manifest: Manifest, *claims: str, devices: str = "") -> Manifest:
    made = deepcopy(manifest)
    made["spec"]["volumes"] = [
        {"name": f"data-{place}", "persistentVolumeClaim": {"claimName": name}} for place, name in enumerate(claims)
    ]
    if devices:
        made["spec"]["resourceClaims"] = [{"name": "gpus", "resourceClaimName": devices}]
    return made


DEVICE_CLASS: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu.example.com"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
}
SLICE: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "west-1-gpus"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "west-1",
        "pool": {"name": "west-1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{place}"} for place in range(4)],
    },
}
CLAIMS: list[Manifest] = [
    node("west-1", "8", **{ZONE: "west"}),
    node("east-1", "8", **{ZONE: "east"}),
    node("east-2", "8", **{ZONE: "east"}),
    storage_class("late", "WaitForFirstConsumer", "ebs.csi.aws.com"),
    storage_class("local-path", "Immediate", "rancher.io/local-path"),
    pv("pv-1", "east", "placed", "late"),
    pvc("placed", "late", "pv-1"),
    pvc("waits", "late"),
    pvc("at-once", "local-path"),
    DEVICE_CLASS,
    SLICE,
    resource_claim("two-gpus", 2),
    resource_claim("nine-gpus", 9),
    using(pod("bound-0"), "placed"),
    using(pod("late-0"), "waits"),
    using(pod("early-0"), "at-once"),
    using(pod("missing-0"), "nowhere"),
    using(pod("trainer-0"), devices="two-gpus"),
    using(pod("greedy-0"), devices="nine-gpus"),
]
"""Every pod's claims are in another state; trainer-0 gets two of the four devices, greedy-0 none."""
ATTACHED: list[Manifest] = [
    node("west-1"),
    DEVICE_CLASS,
    {
        **SLICE,
        "spec": {
            **SLICE["spec"],
            "devices": [{"name": "gpu-0", "bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}],
        },
    },
    resource_claim("one-gpu", 1),
    using(pod("trainer-0"), devices="one-gpu"),
]
"""One device, which is to be attached before the pod that gets it is bound."""
