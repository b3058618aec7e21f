"""What PreBind writes for devices: claims are protected, allocated and reserved, each with the version of the answer
before, and one is made for extended resources that devices back."""

from __future__ import annotations

from typing import Final

from framework.objects import Pod, ResourceClaim
from framework.objects.devices import AllocationResult
from schedweb.writes.bodies import as_json
from schedweb.writes.writes import STRATEGIC, About, Body, Write

PROTECTION: Final = "resource.kubernetes.io/delete-protection"
EXTENDED: Final = "resource.kubernetes.io/extended-resource-claim"


def protect_claim(claim: ResourceClaim) -> Write | None:
    """The finalizer, before anything is allocated; None where the claim has it."""
    if PROTECTION in claim.metadata.finalizers:
        return None
    body: Body = {
        "metadata": {"resourceVersion": claim.metadata.resource_version, "finalizers": [PROTECTION]},
    }
    path = _path(claim)
    return Write("protect_claim", "PATCH", path, body, _about(claim), claim.metadata.namespace, STRATEGIC)


def reserve_devices(claim: ResourceClaim, pod: Pod, allocation: AllocationResult | None, version: str = "") -> Write:
    """The claim is reserved for the pod. ``allocation``: None where another pod brought it; ``version``: of the answer
    before, "" for the claim's own."""
    status: Body = {} if allocation is None else {"allocation": as_json(allocation)}
    status["reservedFor"] = [{"resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid}]
    body: Body = {"metadata": {"resourceVersion": version or claim.metadata.resource_version}, "status": status}
    path = f"{_path(claim)}/status"
    return Write("devices", "PATCH", path, body, _about(claim), claim.metadata.namespace, STRATEGIC)


def create_claim(claim: ResourceClaim) -> Write:
    """For a pod's extended resources; the API server completes the name, which the outcome has."""
    metadata = claim.metadata
    owners = [as_json(each) for each in metadata.owner_references]
    body: Body = {
        "kind": "ResourceClaim",
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {
            "generateName": metadata.generate_name,
            "namespace": metadata.namespace,
            "annotations": dict(metadata.annotations),
            "ownerReferences": owners,
        },
        "spec": as_json(claim.spec),
        "status": {},
    }
    path = _claims(metadata.namespace)
    return Write("create_claim", "POST", path, body, About(metadata.namespace, "", "", path), metadata.namespace)


def _claims(namespace: str) -> str:
    return f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"


def _path(claim: ResourceClaim) -> str:
    return f"{_claims(claim.metadata.namespace)}/{claim.metadata.name}"


def _about(claim: ResourceClaim) -> About:
    metadata = claim.metadata
    return About(metadata.namespace, metadata.name, metadata.uid, _path(claim))
