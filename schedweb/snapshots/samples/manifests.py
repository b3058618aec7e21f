"""Building blocks of the sample clusters: nodes, owned pods and their surroundings as plain manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Manifest = dict[str, Any]

START: Final = "2026-11-20T10:00:00Z"
BEFORE: Final = "2026-11-20T08:00:00Z"
"""When what is already there was made."""
_TAIL_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Arrival:
    """At ``after`` seconds from the start ``manifest`` is created, or deleted when ``delete`` is set."""

    after: float
    manifest: Manifest
    delete: bool = False


@dataclass(frozen=True, slots=True)
class SampleCluster:
    name: str
    description: str
    configuration: str
    """Slug of the built-in configuration that shows what the sample is about."""
    objects: list[Manifest] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)


def tail(*parts: object, length: int = 5) -> str:
    """A name's random-looking end, the same for the same parts."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return "".join(_TAIL_LETTERS[byte % len(_TAIL_LETTERS)] for byte in digest[:length])


def uid(kind: str, namespace: str, name: str) -> str:
    """A UUID-shaped uid, the same for the same object."""
    hexadecimal = hashlib.sha256(f"{kind}/{namespace}/{name}".encode()).hexdigest()
    return "-".join((hexadecimal[:8], hexadecimal[8:12], hexadecimal[12:16], hexadecimal[16:20], hexadecimal[20:32]))


def metadata(kind: str, name: str, namespace: str = "", created: str = BEFORE, **more: Any) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "uid": uid(kind, namespace, name), "creationTimestamp": created, **more}


def node(
    name: str,
    *,
    zone: str,
    pool: str,
    instance_type: str,
    capacity: Mapping[str, str],
    allocatable: Mapping[str, str] | None = None,
    taints: list[Manifest] | None = None,
    cordoned: bool = False,
    images: Mapping[str, int] | None = None,
) -> Manifest:
    """``capacity`` in quantities; ``pods`` is 110 unless given."""
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": instance_type,
        "pool": pool,
        "topology.kubernetes.io/region": zone[:-1],
        "topology.kubernetes.io/zone": zone,
    }
    spec: Manifest = {}
    if taints:
        spec["taints"] = list(taints)
    if cordoned:
        spec["unschedulable"] = True
        unschedulable = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        spec["taints"] = [*spec.get("taints", []), unschedulable]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata("Node", name, labels=labels),
        "spec": spec,
        "status": {
            "capacity": {"pods": "110", **capacity},
            "allocatable": {"pods": "110", **(allocatable or capacity)},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "images": [{"names": [image], "sizeBytes": size} for image, size in (images or {}).items()],
        },
    }


def namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("Namespace", name)}


def priority_class(name: str, value: int, *, default: bool = False, never_preempts: bool = False) -> Manifest:
    manifest: Manifest = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata("PriorityClass", name),
        "value": value,
    }
    if default:
        manifest["globalDefault"] = True
    if never_preempts:
        manifest["preemptionPolicy"] = "Never"
    return manifest


def pod_group(name: str, in_namespace: str, *, min_member: int, timeout_seconds: int) -> Manifest:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": metadata("PodGroup", name, in_namespace),
        "spec": {"minMember": min_member, "scheduleTimeoutSeconds": timeout_seconds},
    }


def disruption_budget(name: str, in_namespace: str, app: str, *, allowed: int) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata("PodDisruptionBudget", name, in_namespace),
        "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": allowed},
        "status": {"disruptionsAllowed": allowed},
    }


@dataclass(frozen=True, slots=True)
class Workload:
    """A ReplicaSet or StatefulSet with a Service, and the pods it makes."""

    name: str
    namespace: str
    requests: Mapping[str, str]
    image: str
    kind: str = "ReplicaSet"
    priority_class: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    """More of the pod's spec: affinity, tolerations, spread constraints, gates, …"""

    @property
    def controller_name(self) -> str:
        return self.name if self.kind == "StatefulSet" else f"{self.name}-{tail(self.namespace, self.name, length=9)}"

    @property
    def pod_labels(self) -> dict[str, str]:
        return {"app": self.name, **self.labels}

    def controller(self, replicas: int) -> list[Manifest]:
        selector = {"matchLabels": {"app": self.name}}
        owner = {
            "apiVersion": "apps/v1",
            "kind": self.kind,
            "metadata": metadata(self.kind, self.controller_name, self.namespace),
            "spec": {"replicas": replicas, "selector": selector},
        }
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata("Service", self.name, self.namespace),
            "spec": {"selector": {"app": self.name}},
        }
        return [owner, service]

    def pod(self, number: int, *, on: str = "", created: str = BEFORE) -> Manifest:
        """``on``: the node it already runs on."""
        if self.kind == "StatefulSet":
            name = f"{self.name}-{number}"
        else:
            name = f"{self.controller_name}-{tail(self.namespace, self.name, number)}"
        owner = {
            "apiVersion": "apps/v1",
            "kind": self.kind,
            "name": self.controller_name,
            "uid": uid(self.kind, self.namespace, self.controller_name),
            "controller": True,
        }
        spec: Manifest = {
            **({"nodeName": on} if on else {}),
            **({"priorityClassName": self.priority_class} if self.priority_class else {}),
            "containers": [{"name": "main", "image": self.image, "resources": {"requests": dict(self.requests)}}],
            **self.spec,
        }
        status = {"phase": "Running", "startTime": created} if on else {"phase": "Pending"}
        about = metadata("Pod", name, self.namespace, created, labels=self.pod_labels, ownerReferences=[owner])
        return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": status}


def spread_over(key: str, app: str, *, max_skew: int, hard: bool = False) -> Manifest:
    return {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def one_per_node(app: str) -> Manifest:
    """Required anti-affinity: no two pods of ``app`` on one node."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def toleration(key: str) -> Manifest:
    return {"key": key, "operator": "Exists", "effect": "NoSchedule"}


def taint(key: str, value: str = "true") -> Manifest:
    return {"key": key, "value": value, "effect": "NoSchedule"}
