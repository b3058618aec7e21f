"""What the plugins of volumes, claims and groups write of an event that they are asked about (``hint_lines``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from framework.configuration.errors import go_quote
from framework.interface.events import QueueingHint
from framework.objects import CSINode, Pod, ResourceClaim, VolumeAttachment
from framework.objects.csi_migration import ZONE_DELIMITER, TranslationError, plugin_of_inline
from framework.objects.quantity import parse_quantity
from framework.plugins.dynamicresources.claims import ClaimProblem, pod_claims
from framework.plugins.volumerestrictions import shares_disk
from framework.plugins.volumezone import LABELS
from framework.queue import HintAnswer
from framework.reports.log_entries import Entry
from framework.scheduler import Scheduler

Found = Entry | tuple[Entry, ...] | None


def _helps(answer: HintAnswer) -> bool:
    return answer.hint is QueueingHint.QUEUE


def _key(obj: Any) -> str:
    namespace, name = obj.metadata.namespace, obj.metadata.name
    return f"{namespace}/{name}" if namespace else str(name)


def _about(answer: HintAnswer, **values: Any) -> dict[str, Any]:
    return {"pod": answer.pod.key} | {name: _key(value) for name, value in values.items()}


def _is_elsewhere(answer: HintAnswer) -> bool:
    known = answer.old if answer.new is None else answer.new
    return known is not None and known.metadata.namespace != answer.pod.pod.metadata.namespace


# --- NodeVolumeLimits -------------------------------------------------------------------------------------------------


def _limits_pod(answer: HintAnswer, scheduler: Scheduler) -> Found:
    old = answer.old
    assert isinstance(old, Pod)
    if _helps(answer) or not old.spec.volumes or not (old.spec.node_name or old.status.nominated_node_name):
        return None
    message = "The deleted pod does not impact the scheduling of the unscheduled pod"
    return Entry(5, "csi.go:121", message, _about(answer, deletedPod=old))


def _limits_claim(answer: HintAnswer, scheduler: Scheduler) -> Found:
    return None if _is_elsewhere(answer) else _claim_added(answer, "csi.go:148", "csi.go:153")


def _claim_added(answer: HintAnswer, helping: str, idle: str) -> Entry:
    values = _about(answer, PVC=answer.new)
    if _helps(answer):
        message = "PVC that is referred from the pod was created, which might make this pod schedulable"
        return Entry(5, helping, message, values)
    return Entry(5, idle, "PVC irrelevant to the Pod was created, which doesn't make this pod schedulable", values)


def _limits_attachment(answer: HintAnswer, scheduler: Scheduler) -> Found:
    gone = answer.old
    assert isinstance(gone, VolumeAttachment)
    values = _about(answer, volumeAttachment=gone)
    if not _helps(answer):
        message = (
            "the VolumeAttachment deletion wouldn't make this pod schedulable because the pod has no volume related to"
            " a deleted VolumeAttachment"
        )
        return Entry(5, "csi.go:190", message, values)
    for volume in answer.pod.pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            message = (
                "Pod volume uses PersistentVolumeClaim, which might make this pod schedulable due to VolumeAttachment"
                " deletion"
            )
            return Entry(5, "csi.go:167", message, values | {"volume": volume.name})
        plugin = plugin_of_inline(volume)
        if plugin is None:
            continue
        try:
            plugin.inline_handle(volume, answer.pod.pod.metadata.namespace)
        except TranslationError:
            return None  # the hint failed, and wrote nothing
        if plugin.driver == gone.spec.attacher:
            message = (
                "Pod volume is an Inline Migratable volume that matches the CSI driver, which might make this pod"
                " schedulable due to VolumeAttachment deletion"
            )
            return Entry(5, "csi.go:182", message, values | {"volume": volume.name, "csiDriver": plugin.driver})
    return None


def _limits_csi_node(answer: HintAnswer, scheduler: Scheduler) -> Found:
    old, new = answer.old, answer.new
    if not isinstance(old, CSINode) or not isinstance(new, CSINode):
        return None
    before = _limits(old)
    for driver, limit in _limits(new).items():
        if limit > before.get(driver, 0):
            values = _about(answer) | {"driver": driver, "oldLimit": before.get(driver, 0), "newLimit": limit}
            return Entry(5, "csi.go:222", "CSINode driver limit increased, might make this pod schedulable", values)
    return None


def _limits(node: CSINode) -> dict[str, int]:
    return {each.name: 0 if each.allocatable is None else each.allocatable.count or 0 for each in node.spec.drivers}


# --- VolumeRestrictions, VolumeZone -----------------------------------------------------------------------------------


def _restrictions_claim(answer: HintAnswer, scheduler: Scheduler) -> Found:
    place = "volume_restrictions.go"
    return None if _is_elsewhere(answer) else _claim_added(answer, f"{place}:375", f"{place}:379")


def _restrictions_pod(answer: HintAnswer, scheduler: Scheduler) -> Found:
    old = answer.old
    assert isinstance(old, Pod)
    if _is_elsewhere(answer):
        return None
    values = _about(answer, deletedPod=old)
    if not _helps(answer):
        message = "An irrelevant Pod was deleted, which doesn't make this pod schedulable"
        return Entry(5, "volume_restrictions.go:420", message, values)
    if shares_disk(answer.pod.pod, old):
        message = "Pod with the volume that the target pod requires was deleted, which might make this pod schedulable"
        return Entry(5, "volume_restrictions.go:397", message, values)
    message = "Pod with the same PVC that the target pod requires was deleted, which might make this pod schedulable"
    return Entry(5, "volume_restrictions.go:415", message, values)


def _zone_claim(answer: HintAnswer, scheduler: Scheduler) -> Found:
    values = _about(answer, PVC=answer.new)
    if _helps(answer):
        message = "PVC that is referred from the pod was created or updated, which might make this pod schedulable"
        return (
            Entry(5, "volume_zone.go:335", "PVC is referred from the pod", values),
            Entry(5, "volume_zone.go:319", message, values),
        )
    message = "PVC irrelevant to the Pod was created or updated, which doesn't make this pod schedulable"
    said = Entry(5, "volume_zone.go:323", message, values)
    if _is_elsewhere(answer):
        return said
    return Entry(5, "volume_zone.go:339", "PVC is not referred from the pod", values), said


def _zone_class(answer: HintAnswer, scheduler: Scheduler) -> Found:
    if _helps(answer):
        message = "StorageClass with waitForFirstConsumer mode was created and it might make this pod schedulable"
        return Entry(5, "volume_zone.go:356", message, _about(answer, StorageClass=answer.new))
    message = (
        "StorageClass is created, but its VolumeBindingMode is not waitForFirstConsumer, which doesn't make the pod"
        " schedulable"
    )
    return Entry(5, "volume_zone.go:352", message, {"storageClass": _key(answer.new), "pod": answer.pod.key})


def _zone_volume(answer: HintAnswer, scheduler: Scheduler) -> Found:
    if answer.old is None:
        return Entry(5, "volume_zone.go:369", "PV is newly created, which might make the pod schedulable", {})
    values, unread = _about(answer, PV=answer.new), (*_unread(answer.old), *_unread(answer.new))
    if _helps(answer):
        message = "PV's topology was updated, which might make the pod schedulable."
        return (*unread, Entry(5, "volume_zone.go:375", message, values))
    message = "PV was updated, but the topology is unchanged, which it doesn't make the pod schedulable"
    return (*unread, Entry(5, "volume_zone.go:379", message, values))


def _unread(volume: Any) -> Iterator[Entry]:
    """Labels whose lists of zones have an empty part. Upstream: k8s.io/cloud-provider, volume helpers."""
    for key in LABELS:
        value = volume.metadata.labels.get(key)
        if value is not None and not all(part.strip() for part in value.split(ZONE_DELIMITER)):
            error = f"{go_quote(ZONE_DELIMITER)} separated list ({go_quote(value)}) must not contain an empty string"
            values = {"label": f"{key}:{value}", "err": error}
            message = "failed to parse PV's topology label, ignoring the label"
            yield Entry(5, "volume_zone.go:393", message, values)


# --- VolumeBinding ----------------------------------------------------------------------------------------------------


def _binding(answer: HintAnswer, line: int, message: str, name: str, **values: Any) -> Entry:
    known = {"Pod": answer.pod.key, name: _key(answer.new)}
    return Entry(5, f"volume_binding.go:{line}", message, known | values)


def _binding_csi_node(answer: HintAnswer, scheduler: Scheduler) -> Found:
    if answer.old is None:
        return Entry(5, "volume_binding.go:147", "CSINode creation could make the pod schedulable", {})
    if _helps(answer):
        message = "CSINode's migrated plugins annotation is updated and that may make the pod schedulable"
        return _binding(answer, 162, message, "CSINode")
    return _binding(answer, 166, "CISNode was created or updated but it doesn't make this pod schedulable", "CSINode")


def _binding_claim(answer: HintAnswer, scheduler: Scheduler) -> Found:
    kind = "PersistentVolumeClaim"
    if _is_elsewhere(answer):
        message = (
            "PersistentVolumeClaim was created or updated, but it doesn't make this pod schedulable because the PVC"
            " belongs to a different namespace"
        )
        return _binding(answer, 183, message, kind)
    if _helps(answer):
        message = (
            "PersistentVolumeClaim the pod requires was created or updated, potentially making the target Pod"
            " schedulable"
        )
        return _binding(answer, 201, message, kind)
    message = "PersistentVolumeClaim was created or updated, but it doesn't make this pod schedulable"
    return _binding(answer, 206, message, kind)


def _binding_class(answer: HintAnswer, scheduler: Scheduler) -> Found:
    kind = "StorageClass"
    if answer.old is None:
        return _binding(answer, 229, "A new StorageClass was created, which could make a Pod schedulable", kind)
    if _helps(answer):
        return None  # its line ends in a Go struct
    return _binding(answer, 238, "StorageClass was updated, but it doesn't make this pod schedulable", kind)


def _binding_capacity(answer: HintAnswer, scheduler: Scheduler) -> Found:
    kind, old, new = "CSIStorageCapacity", answer.old, answer.new
    if old is None:
        message = "A new CSIStorageCapacity was created, which could make a Pod schedulable"
        return _binding(answer, 255, message, kind)
    limits = {"volumeLimit(new)": _amount(new), "volumeLimit(old)": _amount(old)}
    if _helps(answer):
        message = "VolumeLimit was increased, which could make a Pod schedulable"
        return _binding(answer, 275, message, kind, **limits)
    message = "CSIStorageCapacity was updated, but it doesn't make this pod schedulable"
    return _binding(answer, 279, message, kind, **limits)


def _amount(capacity: Any) -> str:
    raw = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return "<nil>" if raw is None else str(parse_quantity(raw))


def _binding_driver(answer: HintAnswer, scheduler: Scheduler) -> Found:
    if _helps(answer):
        message = "CSIDriver was updated and storage capacity got disabled, which may make the pod schedulable"
        return _binding(answer, 301, message, "CSIDriver")
    return _binding(
        answer, 306, "CSIDriver was created or updated but it doesn't make this pod schedulable", "CSIDriver"
    )


# --- DynamicResources, GangScheduling ---------------------------------------------------------------------------------


def _claims_claim(answer: HintAnswer, scheduler: Scheduler) -> Found:
    old, new = answer.old, answer.new
    assert isinstance(new, ResourceClaim)
    values = _about(answer, claim=new)
    place = "dynamicresources.go"
    if _claims(answer.pod.pod, scheduler) is None:
        return None  # its line ends in a Go struct
    before = old if isinstance(old, ResourceClaim) else None
    if before is not None and before.status.allocation is not None and new.status.allocation is None:
        return Entry(6, f"{place}:323", "claim with structured parameters got deallocated", values)
    if new.uid not in (_claims(answer.pod.pod, scheduler) or ()):
        return Entry(6, f"{place}:329", "unrelated claim got modified", values)
    if before is None:
        return Entry(5, f"{place}:334", "claim for pod got created", values)
    if not _helps(answer):
        return Entry(6, f"{place}:347", "claim for pod got modified where the pod doesn't care", values)
    return Entry(5, f"{place}:352", "status of claim for pod got updated", values)


def _claims(pod: Pod, scheduler: Scheduler) -> set[str] | None:
    """Uids of the pod's claims; None where one of them is missing, goes or is another pod's."""
    try:
        return {claim.uid for claim in pod_claims(pod, scheduler.cluster)}
    except ClaimProblem:
        return None


def _claims_pod(answer: HintAnswer, scheduler: Scheduler) -> Found:
    new = answer.new
    assert new is not None
    if new.metadata.uid != answer.pod.pod.metadata.uid:
        message = "pod is not schedulable after change in other pod"
        return Entry(7, "dynamicresources.go:367", message, _about(answer, modifiedPod=new))
    if _helps(answer):
        return Entry(5, "dynamicresources.go:379", "pod got updated and is schedulable", _about(answer))
    return Entry(6, "dynamicresources.go:375", "pod is not schedulable after being updated", _about(answer))


LINES_OF_VOLUMES: Final[dict[tuple[str, str], Callable[[HintAnswer, Scheduler], Found]]] = {
    ("NodeVolumeLimits", "Pod"): _limits_pod,
    ("NodeVolumeLimits", "PersistentVolumeClaim"): _limits_claim,
    ("NodeVolumeLimits", "VolumeAttachment"): _limits_attachment,
    ("NodeVolumeLimits", "CSINode"): _limits_csi_node,
    ("VolumeRestrictions", "PersistentVolumeClaim"): _restrictions_claim,
    ("VolumeRestrictions", "Pod"): _restrictions_pod,
    ("VolumeZone", "PersistentVolumeClaim"): _zone_claim,
    ("VolumeZone", "StorageClass"): _zone_class,
    ("VolumeZone", "PersistentVolume"): _zone_volume,
    ("VolumeBinding", "CSINode"): _binding_csi_node,
    ("VolumeBinding", "PersistentVolumeClaim"): _binding_claim,
    ("VolumeBinding", "StorageClass"): _binding_class,
    ("VolumeBinding", "CSIStorageCapacity"): _binding_capacity,
    ("VolumeBinding", "CSIDriver"): _binding_driver,
    ("DynamicResources", "ResourceClaim"): _claims_claim,
    ("DynamicResources", "Pod"): _claims_pod,
}
