"""Warnings for pods that a plugin which is not built yet would have judged (design: never silently dropped)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from framework.objects import Pod


def has_claims(pod: Pod) -> bool:
    return any(volume.persistent_volume_claim or volume.ephemeral for volume in pod.spec.volumes)


def has_attached_volumes(pod: Pod) -> bool:
    return has_claims(pod) or any(
        volume.csi or volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.azure_disk
        or volume.iscsi or volume.rbd
        for volume in pod.spec.volumes
    )  # fmt: skip


def has_resource_claims(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims)


def always(pod: Pod) -> bool:
    return True


JUDGES: Final[dict[str, Callable[[Pod], bool]]] = {
    "VolumeBinding": has_claims,
    "VolumeZone": has_claims,
    "VolumeRestrictions": has_attached_volumes,
    "NodeVolumeLimits": has_attached_volumes,
    "DynamicResources": has_resource_claims,
    # These judge only pods that use features which no manifest of ours can ask for by itself.
    "DeferredPodScheduling": lambda pod: False,
    "GangScheduling": lambda pod: False,
    "PodGroupPodsCount": lambda pod: False,
    "TopologyPlacementGenerator": lambda pod: False,
}


def warnings_of(pod: Pod, not_evaluated: Iterable[str]) -> list[str]:
    return [
        f"{plugin} is not evaluated yet; kube-scheduler would have asked it about this pod."
        for plugin in not_evaluated
        if JUDGES.get(plugin, always)(pod)
    ]
