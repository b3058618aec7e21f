"""What is written for devices: claims are protected, allocated and reserved, each with the version of the answer
before, and one is made for extended resources that devices back. When the pod is not bound after all it is unreserved,
and what was made is deleted.

kube-scheduler PUTs whole claims; here it is patches with the version that was read, which conflict in the same cases
and leave alone what is not ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from framework.objects import KubeObject, ResourceClaim
from framework.objects.devices import (
    CLAIM_FINALIZER,
    EXTENDED_RESOURCE_CLAIM_ANNOTATION,
    AllocationResult,
    ResourceClaimConsumerReference,
)
from schedweb.writes.bodies import as_json
from schedweb.writes.writes import STRATEGIC, About, Body, Method, Outcome, Purpose, Write

O = TypeVar("O", bound=KubeObject)  # noqa: E741
PROTECTION: Final = CLAIM_FINALIZER
EXTENDED: Final = EXTENDED_RESOURCE_CLAIM_ANNOTATION
RESOURCE: Final = "resourceclaims.resource.k8s.io"
CLASSES: Final = "/apis/resource.k8s.io/v1/deviceclasses"
TAKEN_FROM: Final = "$deleteFromPrimitiveList/"
READ_AGAIN: Final = frozenset(("protect_claim", "devices", "unreserve", "deallocate", "unprotect_claim"))
"""Purposes of writes after whose conflict the claim is read once more: it is not as it was known, or (unreserve, which
names no version) the API server was outrun by others that change it."""


class Change(msgspec.Struct, frozen=True):
    """How a claim as it is to be differs from the claim as it is known."""

    protects: bool = False
    allocates: bool = False
    joins: ResourceClaimConsumerReference | None = None
    leaves: tuple[str, ...] = ()
    """uids of whom it is reserved for no more."""
    deallocates: bool = False
    unprotects: bool = False


def change_of(known: ResourceClaim, wanted: ResourceClaim) -> Change:
    had, has = _uids(known), _uids(wanted)
    before, after = known.metadata.finalizers, wanted.metadata.finalizers
    return Change(
        protects=PROTECTION in after and PROTECTION not in before,
        allocates=known.status.allocation is None and wanted.status.allocation is not None,
        joins=next((each for each in wanted.status.reserved_for if each.uid not in had), None),
        leaves=tuple(each.uid for each in known.status.reserved_for if each.uid not in has),
        deallocates=known.status.allocation is not None and wanted.status.allocation is None,
        unprotects=PROTECTION in before and PROTECTION not in after,
    )


def _uids(claim: ResourceClaim) -> frozenset[str]:
    return frozenset(each.uid for each in claim.status.reserved_for)


def reserve(wanted: ResourceClaim, change: Change, send: Callable[[Write], Outcome]) -> tuple[Outcome, str | None]:
    """PreBind of one claim, as it is ``wanted``: the finalizer before anything is allocated, then allocation and
    reservation in one, with the version of the answer before. The last outcome, and an error in kube-scheduler's words
    or None."""
    version = ""
    if change.protects:
        outcome = send(protect_claim(wanted))
        if not outcome.is_done:
            return outcome, f"add finalizer to claim {wanted.key}: {outcome.error}"
        version = outcome.resource_version
    assert change.joins is not None
    allocation = wanted.status.allocation if change.allocates else None
    outcome = send(reserve_devices(wanted, change.joins, allocation, version))
    if not outcome.is_done:
        what = "add allocation and reservation" if change.allocates else "add reservation"
        return outcome, f"{what} to claim {wanted.key}: {outcome.error}"
    return outcome, None


def release(wanted: ResourceClaim, change: Change) -> Write | None:
    """What is written of a claim that is given back; None where nothing is."""
    if change.unprotects:
        return unprotect_claim(wanted)
    if change.deallocates:
        return deallocate(wanted)
    return unreserve(wanted, change.leaves) if change.leaves else None


def protect_claim(claim: ResourceClaim) -> Write:
    """The finalizer, before anything is allocated."""
    body: Body = {"metadata": {"resourceVersion": claim.metadata.resource_version, "finalizers": [PROTECTION]}}
    return _write("protect_claim", claim, body)


def reserve_devices(
    claim: ResourceClaim,
    consumer: ResourceClaimConsumerReference,
    allocation: AllocationResult | None,
    version: str = "",
) -> Write:
    """The claim is reserved for the pod, after those that share it. ``allocation``: None where another pod brought it;
    ``version``: of the answer before, "" for the claim's own."""
    status: Body = {} if allocation is None else {"allocation": as_json(allocation)}
    if others := [{"uid": each.uid} for each in claim.status.reserved_for if each.uid != consumer.uid]:
        # A patch alone would put it first.
        status["$setElementOrder/reservedFor"] = [*others, {"uid": consumer.uid}]
    status["reservedFor"] = [as_json(consumer)]
    return _write("devices", claim, _versioned(claim, status, version), "/status")


def unreserve(claim: ResourceClaim, uids: Sequence[str]) -> Write:
    """As kube-scheduler does: with the claim's uid and no version, so that others may change it meanwhile."""
    left: list[dict[str, Any]] = [{"$patch": "delete", "uid": uid} for uid in uids]
    body: Body = {"metadata": {"uid": claim.metadata.uid}, "status": {"reservedFor": left}}
    return _write("unreserve", claim, body, "/status")


def deallocate(claim: ResourceClaim) -> Write:
    status: Body = {"allocation": None, "reservedFor": None, "devices": None}
    return _write("deallocate", claim, _versioned(claim, status), "/status")


def unprotect_claim(claim: ResourceClaim) -> Write:
    """Before it is deleted."""
    taken = {"resourceVersion": claim.metadata.resource_version, f"{TAKEN_FROM}finalizers": [PROTECTION]}
    return _write("unprotect_claim", claim, {"metadata": taken})


def delete_claim(claim: ResourceClaim) -> Write:
    """One that was made for a pod which is not bound. The uid keeps one of the same name that came after it."""
    body: Body = {
        "kind": "DeleteOptions",
        "apiVersion": "resource.k8s.io/v1",
        "preconditions": {"uid": claim.metadata.uid},
    }
    return _write("delete_claim", claim, body, method="DELETE")


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


def named(claim: O, outcome: Outcome) -> O:
    """One that was created, as the API server named it."""
    metadata = claim.metadata
    made = replace(metadata, name=outcome.name, uid=outcome.uid, resource_version=outcome.resource_version)
    return replace(claim, metadata=made)


def _claims(namespace: str) -> str:
    return f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"


def _versioned(claim: ResourceClaim, status: Body, version: str = "") -> Body:
    return {"metadata": {"resourceVersion": version or claim.metadata.resource_version}, "status": status}


def _write(purpose: Purpose, claim: ResourceClaim, body: Body, part: str = "", method: Method = "PATCH") -> Write:
    metadata = claim.metadata
    path = f"{_claims(metadata.namespace)}/{metadata.name}"
    about = About(metadata.namespace, metadata.name, metadata.uid, path)
    if method == "PATCH":
        return Write(purpose, method, path + part, body, about, metadata.namespace, STRATEGIC)
    return Write(purpose, method, path + part, body, about, metadata.namespace)
