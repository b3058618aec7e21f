"""Short ways to write nodes and pods in tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.interface import PodInfo
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults


def make_node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    images: Any = (),
    scalars: Mapping[str, str] | None = None,
    **spec_or_resources: Any,
) -> Node:
    """``taints`` and ``unschedulable`` go to spec; other keywords are allocatable resources (default: room for all)."""
    spec = {key: spec_or_resources.pop(key) for key in ("taints", "unschedulable") if key in spec_or_resources}
    resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    resources.update({key.replace("_", "-"): value for key, value in spec_or_resources.items()})
    resources.update(scalars or {})
    manifest = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"nodes..{name}", "labels": dict(labels or {})},
        "spec": spec,
        "status": {"allocatable": resources, "images": list(images)},
    }
    node = with_defaults(decode_manifest(manifest))
    assert isinstance(node, Node)
    return node


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    ports: Any = (),
    image: str = "app:1",
    node_name: str = "",
    **spec: Any,
) -> Pod:
    """One container with ``requests`` and ``ports``; other keywords go to spec as a manifest writes them."""
    container = {"name": "main", "image": image, "ports": list(ports), "resources": {"requests": dict(requests or {})}}
    written: dict[str, Any] = {"containers": [container], **spec}
    if node_name:
        written["nodeName"] = node_name
    metadata = {"name": name, "namespace": namespace, "uid": f"pods.{namespace}.{name}", "labels": dict(labels or {})}
    pod = with_defaults(decode_manifest({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": written}))
    assert isinstance(pod, Pod)
    return pod


def info(pod: Pod) -> PodInfo:
    return PodInfo(pod)
