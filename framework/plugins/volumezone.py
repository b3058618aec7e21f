"""VolumeZone: a pod goes where its bound volumes' zone and region labels point.

Rules: docs/semantics/volumes.md#volumezone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    Codes,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.objects import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from framework.objects.claims import WAIT_FOR_FIRST_CONSUMER, class_of_claim
from framework.objects.csi_migration import BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_DELIMITER
from framework.sentences import noted

STATE_KEY: Final = "PreFilterVolumeZone"
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had no available volume zone",)),
)
LABELS: Final = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_CURRENT: Final = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class Topology(NamedTuple):
    """A zone or region label of a volume: the node's must be one of ``values``."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topologies:
    wanted: tuple[Topology, ...]

    def clone(self) -> Self:
        return self


class VolumeZone(PreFilterPlugin, ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "VolumeZone"
    description: ClassVar[str] = noted("Keeps a pod in the zone of its volumes.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE)
        volume = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE)
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD), after_class_added),
            ClusterEventWithHint(node),
            ClusterEventWithHint(claim, after_claim_changed),
            ClusterEventWithHint(volume, after_volume_changed),
        )

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.volumes(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """Pods with volumes are judged one by one."""
        return None if pod.pod.spec.volumes else ()

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.pod.spec.volumes:
            return None, SKIP
        found = self._topologies(pod.pod)
        if isinstance(found, Status):
            return None, found
        if not found:
            return None, SKIP
        state.write(STATE_KEY, Topologies(tuple(found)))
        return None, None

    def _topologies(self, pod: Pod) -> list[Topology] | Status:
        """Of the pod's bound volumes; ephemeral ones are not looked at."""
        objects = self.handle.objects
        found: list[Topology] = []
        for name in _claim_names(pod):
            if not name:
                return Status.unresolvable("PersistentVolumeClaim had no name")
            claim = objects.get(PersistentVolumeClaim, pod.metadata.namespace, name)
            if claim is None:
                return Status.unresolvable(f'persistentvolumeclaim "{name}" not found')
            if not claim.spec.volume_name:
                refused = self._unbound(claim)
                if refused is not None:
                    return refused
                continue
            volume = objects.get(PersistentVolume, "", claim.spec.volume_name)
            if volume is None:
                return Status.unresolvable(f'persistentvolume "{claim.spec.volume_name}" not found')
            found += topologies(volume)
        return found

    def _unbound(self, claim: PersistentVolumeClaim) -> Status | None:
        """None when the claim waits for its first consumer."""
        name = class_of_claim(claim)
        if not name:
            return Status.unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class = self.handle.objects.get(StorageClass, "", name)
        if storage_class is None:
            return Status.unresolvable(f'storageclass.storage.k8s.io "{name}" not found')
        if storage_class.volume_binding_mode is None:
            return Status.unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return None
        return Status.unresolvable("PersistentVolume had no name")

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        try:
            wanted = state.read(STATE_KEY, Topologies).wanted
        except StateKeyNotFound:  # PreFilter is disabled for this plugin; upstream works it out here, too
            found = self._topologies(pod.pod)
            if isinstance(found, Status):
                return _everywhere(found, view)
            wanted = tuple(found)
        if not wanted:
            return None

        def kernel(*columns: Codes) -> NDArray[np.int8]:
            labels = dict(zip(LABELS, columns, strict=True))
            zoned = np.logical_or.reduce([each.codes >= 0 for each in columns])
            fits = np.ones(len(zoned), dtype=np.bool_)
            for key, values in wanted:
                # A label of the beta generation is held against the current one on nodes without it.
                own, matched = labels[key].codes >= 0, _is_one_of(labels[key], values)
                current = _is_one_of(labels[_CURRENT.get(key, key)], values)
                fits &= np.where(own, matched, current)
            verdict: NDArray[np.int8] = (zoned & ~fits).astype(np.int8)
            return verdict

        return Plan(kernel, tuple(view.label(key) for key in LABELS), wanted, REASONS)


def _everywhere(status: Status, view: View) -> Plan:
    reasons = (Reason(Code.SUCCESS, ()), Reason(status.code, status.all_reasons))
    return Plan(lambda cordoned: np.ones(len(cordoned), dtype=np.int8), (view.unschedulable(),), status, reasons)


def _is_one_of(labels: Codes, values: tuple[str, ...]) -> NDArray[np.bool_]:
    table = np.array([value in values for value in labels.values], dtype=np.bool_)
    if not len(table):
        return np.zeros(len(labels.codes), dtype=np.bool_)
    result: NDArray[np.bool_] = table[labels.codes] & (labels.codes >= 0)
    return result


def _claim_names(pod: Pod) -> Iterable[str]:
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name


def topologies(volume: PersistentVolume) -> list[Topology]:
    """``a__b`` is a list of two; a label with an empty part is ignored (upstream LabelZonesToSet)."""
    found = []
    for key in LABELS:
        if key in volume.metadata.labels:
            values = [value.strip() for value in volume.metadata.labels[key].split(ZONE_DELIMITER)]
            if all(values):
                found.append(Topology(key, tuple(sorted(set(values)))))
    return found


def after_class_added(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, StorageClass)
    return QueueingHint.QUEUE if new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER else QueueingHint.SKIP


def after_claim_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, PersistentVolumeClaim)
    wanted = new.metadata.namespace == pod.metadata.namespace and new.metadata.name in _claim_names(pod)
    return QueueingHint.QUEUE if wanted else QueueingHint.SKIP


def after_volume_changed(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, PersistentVolume)
    same = isinstance(old, PersistentVolume) and topologies(old) == topologies(new)
    return QueueingHint.SKIP if same else QueueingHint.QUEUE
