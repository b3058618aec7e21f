"""The nodes and pods of the benchmarks, as manifests that are decoded one by one: no two share anything."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
NAMESPACES: Final = ("sched-0", "sched-1")
"""Of the pods that are there from the start, and of the measured ones."""

Manifest = dict[str, Any]
O = TypeVar("O", Node, Pod)  # noqa: E741


def _decoded(manifest: Manifest, kind: type[O]) -> O:
    made = decode_manifest(manifest)
    assert isinstance(made, kind)
    return made


def node(number: int, zones: int) -> Node:
    """4 cpu, 32Gi, 110 pods; ``zones`` 0 leaves the label out."""
    name = f"node-{number}"
    labels = {HOSTNAME: name}
    if zones:
        labels[ZONE] = f"zone{number % zones + 1}"
    quantities = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return _decoded(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
            "status": {"allocatable": quantities, "capacity": quantities},
        },
        Node,
    )


def pod(name: str, template: Manifest, namespace: str, node_name: str = "") -> Pod:
    """``template``: labels, requests and the rest of the spec (``cpu``, ``memory``, ``labels`` are short for them)."""
    spec = dict(template)
    requests = {"cpu": spec.pop("cpu", "100m"), "memory": spec.pop("memory", "500Mi")}
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": spec.pop("labels", {}),
    }
    containers = [{"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}]
    if node_name:
        spec["nodeName"] = node_name
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}
    return _decoded(manifest, Pod)


def plain() -> Manifest:
    return {}


def spreading(when_unsatisfiable: str) -> Manifest:
    """Over zones, maxSkew 5, among pods with its own label."""
    constraint = {
        "maxSkew": 5,
        "topologyKey": ZONE,
        "whenUnsatisfiable": when_unsatisfiable,
        "labelSelector": {"matchLabels": {"color": "blue"}},
    }
    return {"labels": {"color": "blue"}, "topologySpreadConstraints": [constraint]}


def pod_affinity(kind: str, color: str, key: str, *, preferred: bool) -> Manifest:
    """``kind``: podAffinity or podAntiAffinity, towards pods with its own label in both namespaces."""
    term: Manifest = {
        "labelSelector": {"matchLabels": {"color": color}},
        "topologyKey": key,
        "namespaces": list(reversed(NAMESPACES)),
    }
    rule = (
        {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
        if preferred
        else {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    )
    return {"labels": {"color": color}, "affinity": {kind: rule}}


def node_affinity() -> Manifest:
    expression = {"key": ZONE, "operator": "In", "values": ["zone1", "zone2"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def workload_pod(name: str) -> Manifest:
    """A Deployment's pod, spread over hosts and zones among its own."""
    chosen = {"labelSelector": {"matchLabels": {"app": name}}, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}
    constraints = [chosen | {"topologyKey": key} for key in (HOSTNAME, ZONE)]
    return {"labels": {"app": name}, "topologySpreadConstraints": constraints}
