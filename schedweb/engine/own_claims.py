"""Claims of volumes and devices in a world of our own: what the real scheduler chose for them is left out.

Of a claim that came undecided ours says which volume or which devices it has; of all others, and of claims that bind
without a scheduler (volumeBindingMode Immediate), the real cluster does.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Final, Protocol

from msgspec.structs import replace

from framework.objects import KubeObject, PersistentVolume, PersistentVolumeClaim, ResourceClaim
from framework.objects.claims import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from framework.objects.devices import CLAIM_FINALIZER, EXTENDED_RESOURCE_CLAIM_ANNOTATION
from framework.objects.storage import PersistentVolumeClaimStatus, PersistentVolumeStatus

DECIDED: Final = (SELECTED_NODE, BIND_COMPLETED, BOUND_BY_CONTROLLER)
"""Annotations that say which volume a claim has, or where it is to be made."""


class Decisions(Protocol):
    @property
    def claims(self) -> MutableMapping[str, bool]: ...

    def decided(self, namespace: str, name: str, uid: str) -> bool: ...


def claim(
    beside: Decisions, ours: PersistentVolumeClaim | None, seen: PersistentVolumeClaim, *, waits: bool
) -> PersistentVolumeClaim:
    """``waits``: as it is seen it has no volume, and a scheduler chooses one."""
    uid = seen.metadata.uid
    if ours is None and waits:
        beside.claims[uid] = True
    if uid not in beside.claims:
        return seen
    annotations = _annotations(seen.metadata.annotations, {} if ours is None else ours.metadata.annotations, DECIDED)
    bound = ours is not None and bool(ours.spec.volume_name)
    status = ours.status if ours is not None and bound else PersistentVolumeClaimStatus(phase="Pending")
    return replace(
        seen,
        metadata=replace(seen.metadata, annotations=annotations),
        spec=replace(seen.spec, volume_name="" if ours is None else ours.spec.volume_name),
        status=status,
    )


def _annotations(seen: Mapping[str, str], ours: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    kept = {name: value for name, value in seen.items() if name not in names}
    return kept | {name: ours[name] for name in names if name in ours}


def volume(beside: Decisions, ours: PersistentVolume | None, seen: PersistentVolume) -> PersistentVolume | None:
    """One that was made for a claim of which ours decides is not there."""
    there = seen.spec.claim_ref
    here = None if ours is None else ours.spec.claim_ref
    is_theirs = there is not None and there.uid in beside.claims
    if ours is None or (ours.metadata.uid != seen.metadata.uid):
        return ours if is_theirs or (ours is not None and is_made_here(beside, ours)) else seen
    if not is_theirs and not (here is not None and here.uid in beside.claims):
        return seen
    annotations = _annotations(seen.metadata.annotations, ours.metadata.annotations, (BOUND_BY_CONTROLLER,))
    return replace(
        seen,
        metadata=replace(seen.metadata, annotations=annotations),
        spec=replace(seen.spec, claim_ref=here),
        status=ours.status,
    )


def free(seen: PersistentVolume) -> PersistentVolume | None:
    """As it was before a scheduler chose it; None of one that was made for its claim."""
    annotations = dict(seen.metadata.annotations)
    if annotations.pop(BOUND_BY_CONTROLLER, None) is None or seen.metadata.name == _made_name(seen):
        return None
    return replace(
        seen,
        metadata=replace(seen.metadata, annotations=annotations),
        spec=replace(seen.spec, claim_ref=None),
        status=PersistentVolumeStatus(phase="Available"),
    )


def _made_name(seen: PersistentVolume) -> str:
    """As provisioners name it, the simulated one too."""
    return "" if seen.spec.claim_ref is None else f"pvc-{seen.spec.claim_ref.uid}"


def devices(beside: Decisions, ours: ResourceClaim | None, seen: ResourceClaim) -> ResourceClaim | None:
    uid = seen.metadata.uid
    if _is_schedulers(beside, seen):
        return ours  # each scheduler makes its own
    if ours is None and seen.status.allocation is None:
        beside.claims[uid] = True
    status, metadata = seen.status, seen.metadata
    if uid in beside.claims:
        finalizers = tuple(each for each in metadata.finalizers if each != CLAIM_FINALIZER)
        if ours is not None and CLAIM_FINALIZER in ours.metadata.finalizers:
            finalizers = (*finalizers, CLAIM_FINALIZER)
        metadata = replace(metadata, finalizers=finalizers)
        allocation = None if ours is None else ours.status.allocation
        status = replace(status, allocation=allocation, devices=() if ours is None else ours.status.devices)
    namespace = metadata.namespace
    there = [each for each in status.reserved_for if not beside.decided(namespace, each.name, each.uid)]
    here = () if ours is None else ours.status.reserved_for
    mine = [each for each in here if beside.decided(namespace, each.name, each.uid)]
    return replace(seen, metadata=metadata, status=replace(status, reserved_for=(*there, *mine)))


def _is_schedulers(beside: Decisions, obj: ResourceClaim) -> bool:
    """Made by a scheduler for an extended resource of a pod about which ours decides."""
    metadata = obj.metadata
    return metadata.annotations.get(EXTENDED_RESOURCE_CLAIM_ANNOTATION) == "true" and any(
        owner.controller and beside.decided(metadata.namespace, owner.name, owner.uid)
        for owner in metadata.owner_references
    )


def is_made_here(beside: Decisions, ours: KubeObject) -> bool:
    """Whether our world has it by a decision of ours, whatever the real cluster has of that name."""
    if isinstance(ours, ResourceClaim):
        return _is_schedulers(beside, ours)
    if not isinstance(ours, PersistentVolume) or ours.spec.claim_ref is None:
        return False
    return ours.spec.claim_ref.uid in beside.claims and ours.metadata.name == _made_name(ours)
