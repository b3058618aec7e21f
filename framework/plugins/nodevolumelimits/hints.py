"""Which events may make room for another volume (docs/semantics/volumes.md#nodevolumelimits)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.interface import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, QueueingHint
from framework.objects import CSINode, KubeObject, PersistentVolumeClaim, Pod, VolumeAttachment
from framework.objects.claims import claim_volumes
from framework.objects.csi_migration import TranslationError, plugin_of_inline


def events_to_register() -> Sequence[ClusterEventWithHint]:
    claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
    attachment = ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE)
    return (
        ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)),
        ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE), after_csi_node_updated),
        ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE), after_pod_deleted),
        ClusterEventWithHint(claim, after_claim_added),
        ClusterEventWithHint(attachment, after_attachment_deleted),
    )


def _hint(queue: bool) -> QueueingHint:
    return QueueingHint.QUEUE if queue else QueueingHint.SKIP


def _limits(csi_node: CSINode) -> dict[str, int]:
    """A driver without a limit counts as one with limit 0 here (upstream isSchedulableAfterCSINodeUpdated)."""
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable is not None else 0
        for driver in csi_node.spec.drivers
    }


def after_csi_node_updated(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, CSINode)
    assert isinstance(new, CSINode)
    before = _limits(old)
    return _hint(any(limit > before.get(driver, 0) for driver, limit in _limits(new).items()))


def after_pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    if not old.spec.node_name and not old.status.nominated_node_name:
        return QueueingHint.SKIP
    return _hint(
        any(
            volume.persistent_volume_claim is not None
            or volume.ephemeral is not None
            or plugin_of_inline(volume) is not None
            for volume in old.spec.volumes
        )
    )


def after_claim_added(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, PersistentVolumeClaim)
    return _hint(
        new.metadata.namespace == pod.metadata.namespace
        and any(name == new.metadata.name for _, name in claim_volumes(pod))
    )


def after_attachment_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, VolumeAttachment)
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return QueueingHint.QUEUE
        plugin = plugin_of_inline(volume)
        if plugin is None:
            continue
        try:
            plugin.inline_handle(volume, pod.metadata.namespace)
        except TranslationError:
            return QueueingHint.QUEUE  # upstream's hint fails, and a failed hint queues
        if old.spec.attacher == plugin.driver:
            return QueueingHint.QUEUE
    return QueueingHint.SKIP
