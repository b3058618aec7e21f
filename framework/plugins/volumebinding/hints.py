"""Which events may let a pod's claims be bound after all (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.interface import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, QueueingHint
from framework.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    KubeObject,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from framework.objects.claims import claim_volumes
from framework.objects.csi_migration import MIGRATED_PLUGINS
from framework.plugins.volumebinding.provisioning import volume_limit


def events_to_register() -> Sequence[ClusterEventWithHint]:
    change = ActionType.ADD | ActionType.UPDATE
    node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
    capacity = ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, change)
    return (
        ClusterEventWithHint(ClusterEvent(EventResource.STORAGE_CLASS, change), after_class_changed),
        ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, change), after_claim_changed),
        ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, change)),
        ClusterEventWithHint(node),
        ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, change), after_csi_node_changed),
        ClusterEventWithHint(ClusterEvent(EventResource.CSI_DRIVER, ActionType.UPDATE), after_csi_driver_changed),
        ClusterEventWithHint(capacity, after_capacity_changed),
    )


def _hint(queue: bool) -> QueueingHint:
    return QueueingHint.QUEUE if queue else QueueingHint.SKIP


def after_class_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, StorageClass)
    return _hint(not isinstance(old, StorageClass) or old.allowed_topologies != new.allowed_topologies)


def after_claim_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, PersistentVolumeClaim)
    return _hint(
        new.metadata.namespace == pod.metadata.namespace
        and any(name == new.metadata.name for _, name in claim_volumes(pod))
    )


def after_csi_node_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, CSINode)
    if not isinstance(old, CSINode):
        return QueueingHint.QUEUE
    before, after = (node.metadata.annotations.get(MIGRATED_PLUGINS, "") for node in (old, new))
    return _hint(before != after)


def after_csi_driver_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Only inline CSI volumes are looked for, though claims are what capacity is counted for: so upstream."""
    assert isinstance(old, CSIDriver)
    assert isinstance(new, CSIDriver)
    used = any(volume.csi is not None and volume.csi.driver == new.metadata.name for volume in pod.spec.volumes)
    return _hint(used and bool(old.spec.storage_capacity) and not new.spec.storage_capacity)


def after_capacity_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, CSIStorageCapacity)
    if not isinstance(old, CSIStorageCapacity):
        return QueueingHint.QUEUE
    before, after = volume_limit(old), volume_limit(new)
    return _hint(after is not None and (before is None or after > before))
