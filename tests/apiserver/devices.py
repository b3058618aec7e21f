"""Manifests of devices: their class, the slice in which a node offers them, claims, and pods that want them."""

from __future__ import annotations

from typing import Any

from tests.apiserver.kinds import Json
from tests.apiserver.manifests import pod

GROUP = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(name: str = DRIVER, *, extended: str = "", **spec: Any) -> Json:
    chooses = [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]
    offered = {"extendedResourceName": extended} if extended else {}
    made = {"selectors": chooses, **offered, **spec}
    return {"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": name}, "spec": made}


def device_slice(node_name: str, *devices: str) -> Json:
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": 1}
    offered = [{"name": each} for each in devices]
    spec = {"driver": DRIVER, "nodeName": node_name, "pool": pool, "devices": offered}
    return {"apiVersion": GROUP, "kind": "ResourceSlice", "metadata": {"name": f"{node_name}-gpus"}, "spec": spec}


def device_claim(name: str, namespace: str = "default", *, of: str = DRIVER, **devices: Any) -> Json:
    exactly = {"deviceClassName": of, "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "g", "exactly": exactly}], **devices}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def claiming(claim: str, name: str, **changes: Any) -> Json:
    """A pod that names the claim."""
    changes.setdefault("spec", {})["resourceClaims"] = [{"name": "g", "resourceClaimName": claim}]
    return pod(name, **changes)


def wanting(resource: str, name: str, **changes: Any) -> Json:
    """A pod that asks for one of an extended resource."""
    made = pod(name, **changes)
    amounts = made["spec"]["containers"][0]["resources"]
    amounts["requests"] = {**amounts["requests"], resource: "1"}
    amounts["limits"] = {resource: "1"}
    return made
