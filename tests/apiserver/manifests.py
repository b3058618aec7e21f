"""Short manifests of what clusters hold, as dicts; keywords are merged into them as a merge patch would."""

from __future__ import annotations

from typing import Any

from tests.apiserver.kinds import Json
from tests.apiserver.patches import merge


def node(name: str, *, cpu: str = "4", memory: str = "8Gi", pods: str = "110", **changes: Any) -> Json:
    """A node that is ready."""
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    made = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }
    result: Json = merge(made, changes)
    return result


def pod(
    name: str,
    namespace: str = "default",
    *,
    cpu: str = "100m",
    memory: str = "64Mi",
    on: str = "",
    scheduler: str = "default-scheduler",
    **changes: Any,
) -> Json:
    """One container; ``on`` a node it runs, otherwise it is pending."""
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    spec: Json = {"containers": [container], "schedulerName": scheduler, "priority": 0}
    if on:
        spec["nodeName"] = on
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": {"phase": "Running" if on else "Pending"},
    }
    result: Json = merge(made, changes)
    return result
