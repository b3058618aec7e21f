"""VolumeRestrictions: disks and ReadWriteOncePod claims that two pods cannot share.

Rules: docs/semantics/volumes.md#volumerestrictions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Plan,
    PodChange,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Reason,
    Rows,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.objects import KubeObject, PersistentVolumeClaim, Pod, Volume
from framework.objects.claims import READ_WRITE_ONCE_POD
from framework.sentences import noted

STATE_KEY: Final = "PreFilterVolumeRestrictions"
DISK_CONFLICT: Final = "node(s) had no available disk"
IN_USE: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
DISK, CLAIM, NO_STATE = 1, 2, 3
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE, (DISK_CONFLICT,)),
    Reason(Code.UNSCHEDULABLE, (IN_USE,)),
    Reason(Code.ERROR, (f'cannot read "{STATE_KEY}" from cycleState',)),
)


@dataclass(frozen=True, slots=True)
class ExclusiveClaims:
    """The pod's ReadWriteOncePod claims by name, and how many of them placed pods use."""

    names: frozenset[str]
    in_use: int

    def clone(self) -> Self:
        return self

    def references(self, pods: Iterable[PodInfo]) -> int:
        """Volumes that name one of the claims. The pods' namespaces are not looked at (upstream updateWithPod)."""
        return sum(
            volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name in self.names
            for pod in pods
            for volume in pod.pod.spec.volumes
        )


class DiskConflicts:
    """→ bool: a pod on the node holds a disk that the wanted ones cannot be shared with."""

    version: ClassVar[int] = 0

    def __init__(self, wanted: Sequence[Volume], view: View) -> None:
        self._wanted = wanted
        self._users = view.volume_users()
        self._all_rows = view.unschedulable()

    def changed_since(self, version: int) -> Rows:
        return None

    def _conflict(self, pods: Iterable[PodInfo]) -> bool:
        return any(_conflicts(volume, pod.pod) for pod in pods for volume in self._wanted)

    def gather(self, rows: Rows) -> NDArray[np.bool_]:
        found = np.zeros(len(self._all_rows.gather(None)), dtype=np.bool_)
        for row in self._users.rows() if self._wanted else ():
            found[row] = self._conflict(self._users.on_row(row))
        return found if rows is None else found[rows]

    def gather_changed(self, change: PodChange) -> NDArray[np.bool_]:
        gone = {pod.uid for pod in change.removed}
        stay = [pod for pod in self._users.on_row(change.row) if pod.uid not in gone]
        return np.array([self._conflict([*stay, *change.added])])

    def is_counted(self, pod: PodInfo) -> bool:
        """Of one node alone, but its plan is told together with claims that are counted over all."""
        return self._conflict((pod,))


class ClaimsInUse:
    """→ int64: uses of the pod's ReadWriteOncePod claims, the same for every node but for pods that come and go."""

    version: ClassVar[int] = 0

    def __init__(self, claims: ExclusiveClaims, view: View) -> None:
        self._claims = claims
        self._all_rows = view.unschedulable()

    def changed_since(self, version: int) -> Rows:
        return None

    def gather(self, rows: Rows) -> NDArray[np.int64]:
        count = len(self._all_rows.gather(None)) if rows is None else len(rows)
        return np.full(count, self._claims.in_use, dtype=np.int64)

    def gather_changed(self, change: PodChange) -> NDArray[np.int64]:
        claims = self._claims
        gone = (*change.removed, *[pod for _, pod in change.elsewhere])
        return np.array([claims.in_use + claims.references(change.added) - claims.references(gone)])

    def is_counted(self, pod: PodInfo) -> bool:
        return self._claims.references((pod,)) > 0


def _kernel(conflict: NDArray[np.bool_], in_use: NDArray[np.int64]) -> NDArray[np.int8]:
    return np.where(conflict, np.int8(DISK), np.where(in_use > 0, np.int8(CLAIM), np.int8(0)))


def _without_state(conflict: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(conflict, np.int8(DISK), np.int8(NO_STATE))


class VolumeRestrictions(PreFilterPlugin, ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "VolumeRestrictions"
    description: ClassVar[str] = noted("Keeps pods apart that cannot share a volume.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE), after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(claim, after_claim_added),
        )

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.volumes(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """Pods with volumes are judged one by one."""
        return None if pod.pod.spec.volumes else ()

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        volumes = pod.pod.spec.volumes
        if not volumes:
            return None, SKIP
        namespace = pod.pod.metadata.namespace
        exclusive: dict[str, None] = {}
        for name in _claim_names(pod.pod):
            claim = self.handle.objects.get(PersistentVolumeClaim, namespace, name)
            if claim is None:
                return None, Status.unresolvable(f'persistentvolumeclaim "{name}" not found')
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                exclusive[name] = None
        users = view.volume_users()
        in_use = sum(users.claim_in_use(namespace, name) for name in exclusive)
        if not in_use and not any(map(_is_disk, volumes)):
            return None, SKIP
        state.write(STATE_KEY, ExclusiveClaims(frozenset(exclusive), in_use))
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        disks = DiskConflicts([volume for volume in pod.pod.spec.volumes if _is_disk(volume)], view)
        try:
            claims = state.read(STATE_KEY, ExclusiveClaims)
        except StateKeyNotFound:  # PreFilter is disabled for this plugin
            return Plan(_without_state, (disks,), (), REASONS)
        return Plan(_kernel, (disks, ClaimsInUse(claims, view)), (), REASONS)


def _claim_names(pod: Pod) -> Iterable[str]:
    """Claims that volumes name; those of ephemeral volumes do not count here."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name


def _is_disk(volume: Volume) -> bool:
    return (
        volume.gce_persistent_disk is not None
        or volume.aws_elastic_block_store is not None
        or volume.rbd is not None
        or volume.iscsi is not None
    )


def shares_disk(pod: Pod, other: Pod) -> bool:
    """Whether a disk of ``pod`` keeps it from a node where ``other`` is (upstream ``satisfyVolumeConflicts``)."""
    return any(_is_disk(volume) and _conflicts(volume, other) for volume in pod.spec.volumes)


def _conflicts(volume: Volume, pod: Pod) -> bool:
    return any(_same_disk(volume, other) for other in pod.spec.volumes)


def _same_disk(one: Volume, other: Volume) -> bool:
    """The same disk, and not both only read it; an EBS volume is never shared."""
    gce, their_gce = one.gce_persistent_disk, other.gce_persistent_disk
    if gce and their_gce and gce.pd_name == their_gce.pd_name and not (gce.read_only and their_gce.read_only):
        return True
    ebs, their_ebs = one.aws_elastic_block_store, other.aws_elastic_block_store
    if ebs and their_ebs and ebs.volume_id == their_ebs.volume_id:
        return True
    iscsi, their_iscsi = one.iscsi, other.iscsi
    if iscsi and their_iscsi and iscsi.iqn == their_iscsi.iqn and not (iscsi.read_only and their_iscsi.read_only):
        return True
    rbd, their_rbd = one.rbd, other.rbd
    return bool(
        rbd
        and their_rbd
        and (rbd.pool, rbd.image) == (their_rbd.pool, their_rbd.image)
        and any(monitor in their_rbd.monitors for monitor in rbd.monitors)
        and not (rbd.read_only and their_rbd.read_only)
    )


def after_pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    if old.metadata.namespace != pod.metadata.namespace:
        return QueueingHint.SKIP
    freed = shares_disk(pod, old)
    wanted = set(_claim_names(pod))
    return QueueingHint.QUEUE if freed or any(name in wanted for name in _claim_names(old)) else QueueingHint.SKIP


def after_claim_added(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, PersistentVolumeClaim)
    wanted = new.metadata.namespace == pod.metadata.namespace and new.metadata.name in _claim_names(pod)
    return QueueingHint.QUEUE if wanted else QueueingHint.SKIP
