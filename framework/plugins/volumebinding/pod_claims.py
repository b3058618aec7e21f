"""A pod's claims, sorted by what has to be done about them (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from framework.interface import ObjectStore
from framework.objects import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from framework.objects.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_volumes,
    class_of_claim,
    is_fully_bound,
    not_made_for,
)
from framework.plugins.volumebinding.assume_cache import AssumeCache

Claims = tuple[PersistentVolumeClaim, ...]


@dataclass(frozen=True, slots=True)
class PodClaims:
    """Each in the order of the pod's volumes; a claim that two volumes name is there twice."""

    bound: Claims = ()
    delayed: Claims = ()
    """Unbound, waiting for their first consumer: the scheduler's work."""
    immediate: Claims = ()
    """Unbound, though they should be bound before the pod is scheduled; pre-bound ones included."""

    def clone(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Match:
    """A claim, and the volume that it is to be bound to."""

    volume: PersistentVolume
    claim: PersistentVolumeClaim


@dataclass(frozen=True, slots=True)
class Provision:
    """A claim for which a volume is to be made. ``capacity`` is what the node has for it, where that is published."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None = None


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What binding the pod to one node would do."""

    matches: tuple[Match, ...] = ()
    provisions: tuple[Provision, ...] = ()


def claims_problem(objects: ObjectStore, pod: Pod) -> str | None:
    """Why the claims cannot be used at all (upstream podHasPVCs); None when they can, or there are none."""
    namespace = pod.metadata.namespace
    for volume, name in claim_volumes(pod):
        claim = objects.get(PersistentVolumeClaim, namespace, name)
        if claim is None:
            if volume.ephemeral is not None:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return f'persistentvolumeclaim "{name}" not found'
        if claim.status.phase == "Lost":
            bound_to = claim.spec.volume_name
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{bound_to}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if volume.ephemeral is not None and (refused := not_made_for(pod, claim)) is not None:
            return refused
    return None


def pod_claims(objects: ObjectStore, cache: AssumeCache[PersistentVolumeClaim], pod: Pod) -> PodClaims:
    """Raises RuntimeError with upstream's text."""
    bound: list[PersistentVolumeClaim] = []
    delayed: list[PersistentVolumeClaim] = []
    immediate: list[PersistentVolumeClaim] = []
    for volume, name in claim_volumes(pod):
        claim = cache.get(pod.metadata.namespace, name)
        if claim is None:
            raise RuntimeError(f'error getting PVC "{pod.metadata.namespace}/{name}": not found')
        if volume.ephemeral is not None and (refused := not_made_for(pod, claim)) is not None:
            raise RuntimeError(refused)
        if is_fully_bound(claim):
            bound.append(claim)
        elif _waits_for_consumer(objects, claim) and not claim.spec.volume_name:
            delayed.append(claim)
        else:
            immediate.append(claim)
    return PodClaims(tuple(bound), tuple(delayed), tuple(immediate))


def _waits_for_consumer(objects: ObjectStore, claim: PersistentVolumeClaim) -> bool:
    name = class_of_claim(claim)
    storage_class = objects.get(StorageClass, "", name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise RuntimeError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def all_claims_bound(cache: AssumeCache[PersistentVolumeClaim], pod: Pod) -> bool:
    """Upstream arePodVolumesBound."""
    for volume, name in claim_volumes(pod):
        claim = cache.get(pod.metadata.namespace, name)
        if claim is None or not is_fully_bound(claim):
            return False
        if volume.ephemeral is not None and not_made_for(pod, claim) is not None:
            return False
    return True
