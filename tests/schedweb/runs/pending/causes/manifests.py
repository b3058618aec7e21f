"""Manifests in a line: nodes, pods, claims and what they ask for."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ARCH = "kubernetes.io/arch"


def node(
    name: str,
    cpu: str = "4",
    *,
    taints: tuple[str, ...] = (),
    cordoned: bool = False,
    labels: dict[str, str] | None = None,
    amounts: dict[str, str] | None = None,
) -> Manifest:
    """A taint is written ``key=value:effect``."""
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "110", **(amounts or {})}
    spec: Manifest = {"taints": [taint(each) for each in taints]} if taints else {}
    if cordoned:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, **(labels or {})}},
        "spec": spec,
        "status": {"capacity": allocatable, "allocatable": allocatable},
    }


def taint(text: str) -> Manifest:
    left, _, effect = text.rpartition(":")
    key, _, value = left.partition("=")
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def pod(name: str = "it", cpu: str = "500m", *, on: str = "", namespace: str = "shop", **more: Any) -> Manifest:
    """``labels`` and ``requests`` by those keywords, ``ports``; every other one is a field of spec."""
    requests = {"cpu": cpu, **more.pop("requests", {})}
    container: Manifest = {"name": "main", "image": "app:1", "resources": {"requests": requests, "limits": {}}}
    for resource in requests:
        if "/" in resource:
            container["resources"]["limits"][resource] = requests[resource]
    if "ports" in more:
        container["ports"] = [
            {"containerPort": port, "hostPort": port, "protocol": "TCP"} for port in more.pop("ports")
        ]
    if "device" in more:
        container["resources"]["claims"] = [{"name": more.pop("device")}]
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "labels": more.pop("labels", {}),
    }
    spec: Manifest = {"containers": [container], **more}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def wants(*terms: Manifest) -> Manifest:
    """spec.affinity: required node affinity; each term an alternative."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def where(key: str, operator: str, *values: str) -> Manifest:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


def named(name: str) -> Manifest:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}


def beside(key: str = HOST, *, namespaces: tuple[str, ...] = (), **labels: str) -> Manifest:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(key, labels, namespaces)]}}


def away(key: str = HOST, **labels: str) -> Manifest:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(key, labels, ())]}}


def _term(key: str, labels: dict[str, str], namespaces: tuple[str, ...]) -> Manifest:
    term: Manifest = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {**term, "namespaces": list(namespaces)} if namespaces else term


def spread(key: str = ZONE, skew: int = 1, **more: Any) -> list[Manifest]:
    selector = {"matchLabels": more.pop("labels", {"app": "web"})}
    return [
        {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **more}
    ]


def tolerates(key: str, value: str = "", effect: str = "") -> list[Manifest]:
    operator = {"operator": "Equal", "value": value} if value else {"operator": "Exists"}
    return [{"key": key, **operator, **({"effect": effect} if effect else {})}]


def claims(*names: str) -> list[Manifest]:
    return [{"name": f"v{at}", "persistentVolumeClaim": {"claimName": name}} for at, name in enumerate(names)]


def pvc(name: str, storage_class: str | None = None, volume: str = "", mode: str = "ReadWriteOnce") -> Manifest:
    spec: Manifest = {"accessModes": [mode], "resources": {"requests": {"storage": "10Gi"}}}
    metadata: Manifest = {"namespace": "shop", "name": name, "uid": f"uid-{name}"}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    status = "Pending"
    if volume:
        spec["volumeName"] = volume
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        status = "Bound"
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {**kind, "metadata": metadata, "spec": spec, "status": {"phase": status}}


def pv(name: str, claim: str = "", *, zone: str = "", host: str = "", driver: str = "", of_class: str = "") -> Manifest:
    spec: Manifest = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"]}
    spec["csi"] = {"driver": driver or "disk.example.com", "volumeHandle": name}
    if of_class:
        spec["storageClassName"] = of_class
    if claim:
        spec["claimRef"] = {"namespace": "shop", "name": claim, "uid": f"uid-{claim}"}
    if host:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [where(HOST, "In", host)]}}
    labels = {ZONE: zone} if zone else {}
    kind = {"apiVersion": "v1", "kind": "PersistentVolume"}
    phase = "Bound" if claim else "Available"
    return {**kind, "metadata": {"name": name, "labels": labels}, "spec": spec, "status": {"phase": phase}}


def in_zone(volume: Manifest, zone: str) -> Manifest:
    """By its node affinity."""
    affinity = {"required": {"nodeSelectorTerms": [where(ZONE, "In", zone)]}}
    return {**volume, "spec": {**volume["spec"], "nodeAffinity": affinity}}


def topologies(*zones: str) -> list[Manifest]:
    return [{"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}]


def storage_class(
    name: str, mode: str = "WaitForFirstConsumer", provisioner: str = "disk.example.com", **more: Any
) -> Manifest:
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    return {**kind, "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def csi_node(name: str, count: int, driver: str = "disk.example.com") -> Manifest:
    drivers = [{"name": driver, "nodeID": name, "allocatable": {"count": count}}]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def device_class(name: str) -> Manifest:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": {}}


def device_claim(name: str, of_class: str, count: int = 1, *, on: str = "", users: int = 0) -> Manifest:
    exactly = {"deviceClassName": of_class, "allocationMode": "ExactCount", "count": count}
    found: Manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "shop", "name": name, "uid": f"uid-{name}"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    }
    if on:
        result = {"request": "r", "driver": "gpu.example.com", "pool": on, "device": "gpu-0"}
        allocation = {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [named(on)]},
        }
        reserved = [{"resource": "pods", "name": f"u{at}", "uid": f"uid-u{at}"} for at in range(users)]
        found["status"] = {"allocation": allocation, "reservedFor": reserved}
    return found


def devices(on: str, *names: str) -> Manifest:
    spec: Manifest = {"driver": "gpu.example.com", "nodeName": on, "devices": [{"name": name} for name in names]}
    spec["pool"] = {"name": on, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"slice-{on}"},
        "spec": spec,
    }


ADDED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: tenant, operator: In, values: [red]}]}]
"""
GPU = "nvidia.com/gpu"
WEB = {"app": "web"}
POOLS = [
    node("g1", labels={"pool": "general"}),
    node("g2", labels={"pool": "general"}),
    node("s1", labels={"pool": "spot"}),
    node("x1", labels={"pool": "gpu"}),
]
ZONES = [node(f"n-{zone}", labels={ZONE: zone}) for zone in ("a", "b", "c")]


def full(name: str, cpu: str = "3800m") -> Manifest:
    """A pod that leaves 200m of a node's 4 cpu."""
    return pod(f"on-{name}", cpu, on=name)
