"""What must exist: claims, volumes, devices, profiles, gates."""

from __future__ import annotations

from collections.abc import Iterator

from tests.schedweb.engine.worlds import GANGS
from tests.schedweb.runs.pending.causes.cause import Cause
from tests.schedweb.runs.pending.causes.manifests import (
    HOST,
    ZONE,
    ZONES,
    claims,
    csi_node,
    device_claim,
    device_class,
    devices,
    full,
    in_zone,
    node,
    pod,
    pv,
    pvc,
    storage_class,
    topologies,
)


def causes() -> Iterator[Cause]:
    yield from volumes()
    yield from device_claims()
    yield from everything_else()


def volumes() -> Iterator[Cause]:
    yield Cause(
        "claim-missing",
        [node("a"), pod(volumes=claims("data"))],
        "Claim shop/data does not exist.",
        "The pod is tried again when it is created.",
    )
    yield Cause(
        "claim-unbound-immediate",
        [node("a"), storage_class("fast", "Immediate"), pvc("data", "fast"), pod(volumes=claims("data"))],
        "Claim shop/data is not bound and its class fast binds immediately.",
        "No volume was found or made for it, and no node is looked at before there is one.",
    )
    yield Cause(
        "claim-class-missing",
        [node("a"), pvc("data", "gone"), pod(volumes=claims("data"))],
        "Claim shop/data is not bound and its class gone does not exist.",
        "No volume was found or made for it, and no node is looked at before there is one.",
    )
    yield Cause(
        "claim-no-class",
        [node("a"), pvc("data", ""), pod(volumes=claims("data"))],
        "Claim shop/data is not bound and has no storage class.",
        "No volume was found or made for it, and no node is looked at before there is one.",
    )
    yield Cause(
        "claim-lost",
        [node("a"), pvc("data", "fast", "gone"), storage_class("fast"), pod(volumes=claims("data"))],
        "Claim shop/data is bound to volume gone, which does not exist.",
    )
    yield Cause(
        "claim-rwop",
        [
            node("a"),
            storage_class("fast"),
            pvc("data", "fast", "v1", "ReadWriteOncePod"),
            pv("v1", "data"),
            pod("user", on="a", volumes=claims("data")),
            pod(volumes=claims("data")),
        ],
        "Claim shop/data is ReadWriteOncePod and shop/user on a uses it.",
        "That pod has to go first.",
    )
    yield Cause(
        "disk-in-use",
        [
            node("a"),
            pod("user", on="a", volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "disk-1"}}]),
            pod(volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "disk-1"}}]),
        ],
        "On every node that it could use another pod has its disk.",
        "A disk of this kind serves one pod per node.",
    )
    yield Cause(
        "volume-elsewhere",
        [
            *ZONES,
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", host="n-z"),
            pod(volumes=claims("data")),
        ],
        "Volume v1 of claim shop/data can be used only where kubernetes.io/hostname is n-z, and no node is there.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "volume-zone-elsewhere",
        [
            *ZONES,
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", zone="z"),
            pod(volumes=claims("data")),
        ],
        "Volume v1 of claim shop/data can be used only in z, and no node is there.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "volume-zone-full",
        [
            *ZONES,
            full("n-a"),
            full("n-b"),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", zone="a"),
            pod(volumes=claims("data")),
        ],
        "No node that it may use has 0.5 free cpu; the nearest, n-a, has 0.2.",
        "2 of 3 nodes cannot reach its volumes. Pods that leave can make room on 1, not on the other 2.",
    )
    yield Cause(
        "volume-node-cordoned",
        [
            node("a", cordoned=True),
            node("b"),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", host="a"),
            pod(volumes=claims("data")),
        ],
        "The only node that can reach its volumes, a, is cordoned.",
        "1 of 2 nodes cannot reach its volumes. No pod that leaves would change that.",
    )
    yield Cause(
        "no-volume-free",
        [
            *ZONES,
            storage_class("local", provisioner="kubernetes.io/no-provisioner"),
            pvc("data", "local"),
            pod(volumes=claims("data")),
        ],
        "No free volume of class local fits claim shop/data (10Gi) on any node that it could use.",
        "This class makes none. No pod that leaves would change that.",
    )
    yield Cause(
        "class-cannot-make-it-there",
        [
            *ZONES,
            storage_class("fast", allowedTopologies=topologies("z")),
            pvc("data", "fast"),
            pod(volumes=claims("data")),
        ],
        "Class fast makes volumes only in z, and no node is there; claim shop/data needs one.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "class-makes-it-nowhere+taint+room",
        [
            node("n-a", labels={ZONE: "a"}, taints=("x:NoSchedule",)),
            ZONES[1],
            full("n-b"),
            storage_class("fast", allowedTopologies=topologies("z8")),
            pvc("data", "fast"),
            pod(volumes=claims("data")),
        ],
        "Class fast makes volumes only in z8, and no node is there; claim shop/data needs one.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "class-makes-it-where-it-is-full",
        [
            *ZONES,
            full("n-b"),
            storage_class("fast", allowedTopologies=topologies("b", "z9")),
            pvc("data", "fast"),
            pod(volumes=claims("data")),
        ],
        "No node that it may use has 0.5 free cpu; the nearest, n-b, has 0.2.",
        "2 of 3 nodes cannot reach its volumes. Pods that leave can make room on 1, not on the other 2.",
    )
    yield Cause(
        "volume-bound-in-no-nodes-zone",
        [
            *ZONES,
            storage_class("fast"),
            pvc("data", "fast", "pv-z9"),
            in_zone(pv("pv-z9", "data"), "z9"),
            pod(volumes=claims("data")),
        ],
        "Volume pv-z9 of claim shop/data can be used only in z9, and no node is there.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "volume-free-in-no-nodes-zone",
        [
            *ZONES,
            full("n-a"),
            storage_class("local", provisioner="kubernetes.io/no-provisioner"),
            pvc("data", "local"),
            in_zone(pv("pv-z9", of_class="local"), "z9"),
            pod(volumes=claims("data")),
        ],
        "The only free volume for claim shop/data, pv-z9, can be used only in z9, and no node is there.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "nearest-of-those-that-reach-its-volume",
        [
            *ZONES,
            full("n-a", "3900m"),
            full("n-b"),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", zone="a"),
            pod(volumes=claims("data")),
        ],
        "No node that it may use has 0.5 free cpu; the nearest, n-a, has 0.1.",
        "2 of 3 nodes cannot reach its volumes. Pods that leave can make room on 1, not on the other 2.",
    )
    yield Cause(
        "nearest-lacks-all-of-one",
        [
            node("a"),
            full("a", "4"),
            node("b"),
            pod("m", "3500m", on="b", requests={"memory": "15Gi"}),
            pod(cpu="1", requests={"memory": "10Gi"}),
        ],
        "No node has 1 free cpu; the nearest, a, has 0.",
    )
    yield Cause(
        "storage-too-small",
        [
            node("a"),
            storage_class("fast"),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": "disk.example.com"},
                "spec": {"storageCapacity": True},
            },
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"namespace": "shop", "name": "c"},
                "storageClassName": "fast",
                "nodeTopology": {"matchLabels": {HOST: "a"}},
                "capacity": "5Gi",
            },
            pvc("data", "fast"),
            pod(volumes=claims("data")),
        ],
        "No node that it could use has 10Gi of class fast left for claim shop/data.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "too-many-volumes",
        [
            node("a"),
            csi_node("a", 1),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data"),
            pvc("other", "fast", "v2"),
            pv("v2", "other"),
            pod("user", on="a", volumes=claims("other")),
            pod(volumes=claims("data")),
        ],
        "Every node that it could use has its 1 volume of disk.example.com attached.",
        "A pod with such a volume has to go first.",
    )
    yield Cause(
        "claim-being-deleted",
        [
            node("a"),
            storage_class("fast"),
            {
                **pvc("data", "fast"),
                "metadata": {
                    **pvc("data", "fast")["metadata"],
                    "deletionTimestamp": "2023-11-14T22:00:00Z",
                    "finalizers": ["kubernetes.io/pvc-protection"],
                },
            },
            pod(volumes=claims("data")),
        ],
        "Claim shop/data is being deleted.",
    )


def device_claims() -> Iterator[Cause]:
    yield Cause(
        "device-claim-missing",
        [node("a"), pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}])],
        "ResourceClaim shop/gpu does not exist.",
        "The pod is tried when it is created.",
    )
    yield Cause(
        "device-class-missing",
        [
            node("a"),
            device_claim("gpu", "gpu.example.com"),
            pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]),
        ],
        "Device class gpu.example.com does not exist; request r asks for it.",
    )
    yield Cause(
        "claim-template-missing",
        [node("a"), pod(device="d", resourceClaims=[{"name": "d", "resourceClaimTemplateName": "gpu-tmpl"}])],
        "There is no ResourceClaimTemplate shop/gpu-tmpl to make its ResourceClaim from.",
        "The pod is tried when it is created.",
    )
    yield Cause(
        "devices-none",
        [
            node("a"),
            device_class("gpu.example.com"),
            device_claim("gpu", "gpu.example.com"),
            pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]),
        ],
        "No node has a free device of class gpu.example.com.",
        "No driver published a device.",
    )
    yield Cause(
        "devices-taken",
        [
            node("a"),
            devices("a", "gpu-0"),
            device_class("gpu.example.com"),
            device_claim("old", "gpu.example.com", on="a", users=1),
            pod("u0", on="a", device="d", resourceClaims=[{"name": "d", "resourceClaimName": "old"}]),
            device_claim("gpu", "gpu.example.com"),
            pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]),
        ],
        "No node has a free device of class gpu.example.com.",
        "1 of 1 published device is allocated.",
    )
    yield Cause(
        "device-elsewhere",
        [
            node("a"),
            node("b"),
            full("a"),
            devices("a", "gpu-0"),
            device_class("gpu.example.com"),
            device_claim("gpu", "gpu.example.com", on="a"),
            pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]),
        ],
        "None of the 2 nodes that it may use takes it: 1 lacks the devices, 1 has no room.",
        "Of those without room a is nearest, short of 0.3 cpu.",
    )


def everything_else() -> Iterator[Cause]:
    yield Cause(
        "no-profile",
        [node("a"), pod(schedulerName="volcano")],
        "No profile of this configuration is called volcano.",
        "Nobody tries it. The configuration has the profile default-scheduler.",
    )
    yield Cause(
        "gate",
        [node("a"), pod(schedulingGates=[{"name": "example.com/quota"}])],
        "Held by example.com/quota.",
        "It is not tried until the gate is removed.",
    )
    yield Cause(
        "gates",
        [node("a"), pod(schedulingGates=[{"name": "example.com/quota"}, {"name": "example.com/review"}])],
        "Held by example.com/quota and example.com/review.",
        "It is not tried until the gates are removed.",
    )
    yield Cause(
        "features",
        [node("a"), pod(hostNetwork=True, hostUsers=False)],
        "No node that it could use declares the feature UserNamespacesHostNetworkSupport.",
        "Kubelets list what they support in status.declaredFeatures. No pod that leaves would change that.",
    )
    yield Cause(
        "gang-too-few",
        [
            node("a"),
            {
                "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                "kind": "PodGroup",
                "metadata": {"namespace": "shop", "name": "g"},
                "spec": {"minMember": 3},
            },
            pod(labels={"scheduling.x-k8s.io/pod-group": "g"}),
        ],
        "Its pod group needs 3 pods, and there is 1.",
        "It is tried when they are there.",
        configuration=GANGS,
    )
