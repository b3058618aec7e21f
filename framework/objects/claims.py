"""How pods, claims and volumes belong together (upstream: component-helpers/storage/volume and storage/ephemeral)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from framework.objects.metadata import RawQuantity
from framework.objects.pod import Pod, Volume
from framework.objects.quantity import Quantity, parse_quantity
from framework.objects.storage import PersistentVolume, PersistentVolumeClaim

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"
STORAGE: Final = "storage"
_NOTHING: Final = Quantity(0)


def ephemeral_claim_name(pod: Pod, volume: Volume) -> str:
    return f"{pod.metadata.name}-{volume.name}"


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim behind a volume, named by it or made for it; None when there is none."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.ephemeral is not None:
        return ephemeral_claim_name(pod, volume)
    return None


def claim_volumes(pod: Pod) -> Iterator[tuple[Volume, str]]:
    """The pod's volumes with a claim, and the claim's name."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is not None:
            yield volume, name


def not_made_for(pod: Pod, claim: PersistentVolumeClaim) -> str | None:
    """Why the claim of a generic ephemeral volume is not this pod's own; None when it is."""
    controllers = [owner.uid for owner in claim.metadata.owner_references if owner.controller]
    if claim.metadata.namespace == pod.metadata.namespace and controllers[:1] == [pod.metadata.uid]:
        return None
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """ "" when no class was asked for."""
    beta = claim.metadata.annotations.get(BETA_CLASS)
    return beta if beta is not None else claim.spec.storage_class_name or ""


def class_of_volume(volume: PersistentVolume) -> str:
    beta = volume.metadata.annotations.get(BETA_CLASS)
    return beta if beta is not None else volume.spec.storage_class_name


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """The volume names this claim, whether bound or only pre-bound by its name."""
    ref = volume.spec.claim_ref
    return (
        ref is not None
        and (ref.name, ref.namespace) == (claim.metadata.name, claim.metadata.namespace)
        and ref.uid in ("", claim.metadata.uid)
    )


def requested_storage(claim: PersistentVolumeClaim) -> RawQuantity | None:
    return (claim.spec.resources.requests or {}).get(STORAGE)


def requested_quantity(claim: PersistentVolumeClaim) -> Quantity:
    raw = requested_storage(claim)
    return _NOTHING if raw is None else parse_quantity(raw)


def capacity_quantity(volume: PersistentVolume) -> Quantity:
    raw = (volume.spec.capacity or {}).get(STORAGE)
    return _NOTHING if raw is None else parse_quantity(raw)
