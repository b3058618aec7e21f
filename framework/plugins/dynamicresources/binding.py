"""Binder: what DynamicResources writes to the API server (upstream ``bindClaim``, ``deleteClaim``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from framework.interface import Handle
from framework.interface.handle import Unanswered
from framework.objects import Pod, ResourceClaim
from framework.objects.devices import CLAIM_FINALIZER, AllocationResult, ResourceClaimConsumerReference
from framework.objects.generated import generated_name, generated_uid
from framework.objects.pod import PodExtendedResourceClaimStatus
from framework.objects.timestamps import SECOND, format_timestamp
from framework.plugins.dynamicresources.claims import BindingFailed, has_binding_conditions, is_ready, is_reserved_for
from framework.plugins.dynamicresources.extended import IN_MEMORY_NAME
from framework.plugins.dynamicresources.state import ClaimState, NodeAllocation
from framework.plugins.dynamicresources.tracker import ClaimTracker

MOST_CONSUMERS: Final = 256
"""So many pods the API lets one claim be reserved for."""
CONFLICT: Final = "Operation cannot be fulfilled"
MOST_TRIES: Final = 5
BINDING_TIMEOUT: Final = "device binding timeout"


class BindError(Exception):
    """PreBind fails with this text."""


class Binder:
    def __init__(self, handle: Handle, tracker: ClaimTracker, binding_conditions: bool) -> None:
        self._handle = handle
        self._tracker = tracker
        self._binding_conditions = binding_conditions

    # --- Reserve, Unreserve, PostFilter -----------------------------------------------------------------------------

    def reserve(self, claim: ResourceClaim, allocation: AllocationResult) -> None:
        """Notes the allocation; nothing is written yet."""
        status = replace(claim.status, allocation=allocation)
        self._tracker.signal(claim.uid, replace(_with_finalizer(claim), status=status))

    def deallocate(self, claim: ResourceClaim) -> str | None:
        status = replace(claim.status, reserved_for=(), allocation=None, devices=())
        return self._handle.api.update(replace(claim, status=status))

    def remove_consumer(self, claim: ResourceClaim, pod: Pod) -> None:
        """Failure is ignored: the next attempt gets here again."""

        def without(live: ResourceClaim) -> ResourceClaim:
            kept = tuple(each for each in live.status.reserved_for if each.uid != pod.uid)
            return replace(live, status=replace(live.status, reserved_for=kept))

        live = self._live(claim)
        if live is not None and live.uid == claim.uid:
            self._handle.api.update(without(live))

    def delete(self, claim: ResourceClaim) -> str | None:
        """Takes the finalizer off, then deletes."""
        kept = tuple(name for name in claim.metadata.finalizers if name != CLAIM_FINALIZER)
        try:
            self._written(claim, lambda live: replace(live, metadata=replace(live.metadata, finalizers=kept)))
        except BindError as error:
            return f"update resourceclaim {claim.key}: {error}"
        return self._handle.api.delete_object(claim)

    # --- PreBind ----------------------------------------------------------------------------------------------------

    def bind(self, state: ClaimState, pod: Pod, node_name: str) -> bool:
        """Publishes the pod's allocations and reservations. True: drivers have yet to make devices ready.

        Raises BindError.
        """
        for index, claim in enumerate(state.claims):
            if not is_reserved_for(claim, pod):
                state.claims[index] = self._bind_claim(state, index, pod, node_name)
        if not self._binding_conditions or not any(has_binding_conditions(claim) for claim in state.claims):
            return False
        note = f"waiting for binding conditions for device on node {node_name}"
        self._handle.api.event("Normal", "BindingConditionsPending", pod, note)
        return True

    def first_not_ready(self, state: ClaimState) -> ResourceClaim | None:
        """Upstream ``isPodReadyForBinding``. Raises BindError."""
        for index, claim in enumerate(state.claims):
            live = self._live(claim)
            if live is None:
                raise BindError(f'could not find ResourceClaim "{claim.key}"')
            state.claims[index] = live
            try:
                if not is_ready(live):
                    return live
            except BindingFailed as error:
                raise BindError(str(error)) from error
        return None

    def _bind_claim(self, state: ClaimState, index: int, pod: Pod, node_name: str) -> ResourceClaim:
        claim, allocation = state.claims[index], state.allocations.get(index)
        is_extended = claim is state.extended
        if is_extended and allocation is None and not claim.spec.devices.requests:
            return claim
        # A special claim's reservation stands under the uid of its time in memory.
        in_flight, written, stands = state.initial_extended_uid if is_extended else claim.uid, False, False

        def again(live: ResourceClaim) -> ResourceClaim:
            """What was read anew is what a call goes on with that was interrupted by a write without an answer."""
            changed = self._bound(live, allocation, pod)
            state.claims[index] = live
            return changed

        try:
            if is_extended and claim.name == IN_MEMORY_NAME:
                claim = state.claims[index] = self._create_extended(pod, node_name, state)
                written = True
            claim = self._written(claim, again, lambda live: allocation is None and is_reserved_for(live, pod))
            written = True
        except Unanswered:
            stands = True
            raise
        finally:
            if allocation is not None and not stands:
                self._tracker.remove(in_flight, force=written and not is_extended)
        if is_extended:
            self._tell_pod(pod, claim, state.by_node.get(node_name, NodeAllocation(())))
        return claim

    def _bound(self, live: ResourceClaim, allocation: AllocationResult | None, pod: Pod) -> ResourceClaim:
        if live.metadata.deletion_timestamp is not None:
            raise BindError(f"claim {live.key} got deleted in the meantime")
        status = live.status
        if allocation is not None:
            if status.allocation is not None:
                raise BindError(f"claim {live.key} got allocated elsewhere in the meantime")
            live = _with_finalizer(live)
            status = replace(status, allocation=allocation)
        consumer = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
        status = replace(status, reserved_for=(*status.reserved_for, consumer))
        if self._binding_conditions:
            if status.allocation is None:
                raise BindError(f"claim {live.key} got deallocated elsewhere in the meantime")
            if status.allocation.allocation_timestamp is None:
                now = format_timestamp(self._handle.now() // SECOND * SECOND)
                status = replace(status, allocation=replace(status.allocation, allocation_timestamp=now))
        if len(status.reserved_for) > MOST_CONSUMERS:
            action = "add reservation" if allocation is None else "add allocation and reservation"
            many = f"Too many: {len(status.reserved_for)}: must have at most {MOST_CONSUMERS} items"
            raise BindError(
                f'{action} to claim {live.key}: ResourceClaim.resource.k8s.io "{live.name}" is invalid: '
                f"status.reservedFor: {many}"
            )
        return replace(live, status=status)

    def _written(
        self,
        claim: ResourceClaim,
        change: Callable[[ResourceClaim], ResourceClaim],
        is_done: Callable[[ResourceClaim], bool] = lambda live: False,
    ) -> ResourceClaim:
        """Changes the claim as it is known, and as it is now when that conflicts, as often as upstream
        (``retry.DefaultRetry``). ``is_done``: of a claim as it is now, whether it is so already. Raises BindError."""
        changed = change(claim)
        error = self._handle.api.update(changed)
        for _ in range(MOST_TRIES - 1):
            if error is None or CONFLICT not in error:
                break
            live = self._live(claim)
            if live is None:
                missing = f'resourceclaims.resource.k8s.io "{claim.name}" not found'
                raise BindError(f"get updated claim {claim.key} after conflict: {missing}")
            if is_done(live):
                return live
            changed = change(live)
            error = self._handle.api.update(changed)
        if error is not None:
            raise BindError(error)
        # A dry run at a real API server leaves nothing to be seen.
        return self._live(claim) or changed

    def _create_extended(self, pod: Pod, node_name: str, state: ClaimState) -> ResourceClaim:
        found = state.by_node.get(node_name)
        if found is None or found.extended_claim is None:
            raise BindError(f"extended resource claim not found for node {node_name}")
        metadata = found.extended_claim.metadata
        now = format_timestamp(self._handle.now() // SECOND * SECOND)
        name, number = generated_name(metadata.generate_name, pod.uid), 0
        while self._handle.objects.get(ResourceClaim, pod.namespace, name) is not None:
            number += 1
            name = generated_name(metadata.generate_name, pod.uid, str(number))
        uid = generated_uid("ResourceClaim", pod.uid, name, pod.metadata.resource_version)
        claim = replace(found.extended_claim, metadata=replace(metadata, name=name, uid=uid, creation_timestamp=now))
        created = self._handle.api.create_object(claim)
        if isinstance(created, str):
            raise BindError(f"create claim for extended resources {claim.key}: {created}")
        return created

    def _tell_pod(self, pod: Pod, claim: ResourceClaim, found: NodeAllocation) -> None:
        if not found.mappings:
            raise BindError(f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus")
        live = self._handle.objects.get(Pod, pod.namespace, pod.name)
        error: str | None = f'pods "{pod.name}" not found'
        if live is not None:
            reference = PodExtendedResourceClaimStatus(request_mappings=found.mappings, resource_claim_name=claim.name)
            status = replace(live.status, extended_resource_claim_status=reference)
            error = self._handle.api.update(replace(live, status=status))
        if error is not None:
            raise BindError(f"update pod {pod.key} ExtendedResourceClaimStatus: {error}")

    def _live(self, claim: ResourceClaim) -> ResourceClaim | None:
        return self._handle.objects.get(ResourceClaim, claim.namespace, claim.name)


def _with_finalizer(claim: ResourceClaim) -> ResourceClaim:
    if CLAIM_FINALIZER in claim.metadata.finalizers:
        return claim
    return replace(claim, metadata=replace(claim.metadata, finalizers=(*claim.metadata.finalizers, CLAIM_FINALIZER)))
