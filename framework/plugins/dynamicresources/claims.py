"""A pod's claims (docs/semantics/devices.md#extension-points)."""

from __future__ import annotations

from framework.configuration.errors import go_quote
from framework.interface import ObjectStore
from framework.objects import Pod, ResourceClaim
from framework.objects.devices import AllocatedDeviceStatus, DeviceRequestAllocationResult
from framework.objects.pod import PodResourceClaim

NO_SUPPORTED_FIELD = "none of the supported fields are set"


class ClaimProblem(Exception):
    """The pod has to wait: a claim is missing, going away, or somebody else's."""


class BindingFailed(Exception):
    """A driver could not make an allocated device ready."""


def pod_claims(pod: Pod, objects: ObjectStore) -> list[ResourceClaim]:
    """In the order of spec.resourceClaims, without those that need no claim. Raises ClaimProblem."""
    found = []
    for reference in pod.spec.resource_claims:
        name, generated = claim_name(pod, reference)
        if name is None:
            continue
        claim = objects.get(ResourceClaim, pod.namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimProblem(f'resourceclaim "{claim.name}" is being deleted')
        if generated and not is_controlled_by(claim, pod):
            raise ClaimProblem(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
        found.append(claim)
    return found


def claim_name(pod: Pod, reference: PodResourceClaim) -> tuple[str | None, bool]:
    """(name, whether it was generated for this pod). Name None: no claim is needed. Raises ClaimProblem."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name, False
    if reference.resource_claim_template_name is not None:
        for status in pod.status.resource_claim_statuses:
            if status.name == reference.name:
                return status.resource_claim_name, True
        raise ClaimProblem(f'pod "{pod.key}": ResourceClaim not created yet')
    raise ClaimProblem(f'pod "{pod.key}", spec.resourceClaim "{reference.name}": {NO_SUPPORTED_FIELD}')


def is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    controller = next((owner for owner in claim.metadata.owner_references if owner.controller), None)
    return controller is not None and controller.uid == pod.uid


def is_reserved_for(claim: ResourceClaim, pod: Pod) -> bool:
    return any(consumer.uid == pod.uid for consumer in claim.status.reserved_for)


def is_ready(claim: ResourceClaim) -> bool:
    """Whether all binding conditions of the claim's devices are met. Raises BindingFailed."""
    if claim.status.allocation is None:
        return False
    for result in claim.status.allocation.devices.results:
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return False
        conditions = {condition.type: condition for condition in reversed(status.conditions)}
        for name in result.binding_failure_conditions:
            failed = conditions.get(name)
            if failed is not None and failed.status == "True":
                raise BindingFailed(
                    f"device binding failed: claim={claim.name}, reason={failed.reason}, message="
                    + go_quote(failed.message)
                )
        if any(name not in conditions or conditions[name].status != "True" for name in result.binding_conditions):
            return False
    return True


def has_binding_conditions(claim: ResourceClaim) -> bool:
    allocation = claim.status.allocation
    return allocation is not None and any(result.binding_conditions for result in allocation.devices.results)


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    for status in claim.status.devices:
        if (status.driver, status.pool, status.device) == (result.driver, result.pool, result.device):
            return status
    return None
