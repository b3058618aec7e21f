"""NodeVolumeLimits: a node takes no more volumes than its CSI drivers can attach.

Rules: docs/semantics/volumes.md#nodevolumelimits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    SUCCESS,
    ClusterEventWithHint,
    Codes,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    Handle,
    Plan,
    PodChange,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    Reason,
    Rows,
    SignPlugin,
    Status,
    View,
    signing,
)
from framework.objects import CSIDriver, CSINode, PersistentVolume, Pod, Volume, VolumeAttachment
from framework.objects.csi_migration import plugin_of_inline
from framework.plugins.nodevolumelimits.attachable import Attachable, CountingError, Volumes
from framework.plugins.nodevolumelimits.hints import events_to_register
from framework.sentences import noted

EXCEEDED: Final = Status.unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(PreFilterPlugin, ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "NodeVolumeLimits"
    description: ClassVar[str] = noted("Keeps a node within the number of volumes its CSI drivers can attach.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return events_to_register()

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.volumes(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """Pods with volumes are judged one by one."""
        return None if pod.pod.spec.volumes else ()

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        return None, None if any(map(_may_attach, pod.pod.spec.volumes)) else SKIP

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        if not pod.pod.spec.volumes:
            return None
        room = RoomForVolumes(self.handle, pod.pod, view)
        return Plan(lambda verdicts: verdicts, (room,), (), room.reason)


def _may_attach(volume: Volume) -> bool:
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or plugin_of_inline(volume) is not None
    )


class RoomForVolumes:
    """→ verdict codes: 0, or what ``reason`` knows. Nodes differ by their CSINode and the pods that they hold."""

    version: ClassVar[int] = 0

    def __init__(self, handle: Handle, pod: Pod, view: View) -> None:
        self._objects = handle.objects
        self._attachable = Attachable(handle.objects)
        self._users = view.volume_users()
        self._names = view.name()
        self._driver_must_be_there = handle.feature_gates.enabled("VolumeLimitScaling")
        self._statuses = [SUCCESS]
        self._without = self._new_volumes(pod, csi_node=False)
        """The pod's volumes, or why they cannot be counted, on a node without CSINode …"""
        self._with = self._new_volumes(pod, csi_node=True)
        """… and on one with it."""
        self._attachments: dict[str, list[VolumeAttachment]] | None = None

    def reason(self, code: int) -> Reason:
        status = self._statuses[code]
        return Reason(status.code, status.all_reasons)

    def _code(self, status: Status) -> int:
        if status not in self._statuses:
            self._statuses.append(status)
        return self._statuses.index(status)

    def changed_since(self, version: int) -> Rows:
        return None

    def _new_volumes(self, pod: Pod, *, csi_node: bool) -> Volumes | Status:
        found: Volumes = {}
        try:
            self._attachable.add_volumes(pod, found, csi_node=csi_node, new=True)
        except CountingError as error:
            return Status.unresolvable(str(error)) if error.missing else Status.as_error(str(error))
        return found

    def gather(self, rows: Rows) -> NDArray[np.int32]:
        names: Codes = self._names.gather(None)
        verdicts = np.full(len(names.codes), self._verdict(None, "", ()), dtype=np.int32)
        by_name = {name: i for i, name in enumerate(names.values)}
        row_of = {int(code): row for row, code in enumerate(names.codes) if code >= 0}
        used, wanted = self._users.rows(), self._wanted_on_empty_nodes()
        for csi_node in self._objects.list(CSINode):
            code = by_name.get(csi_node.metadata.name)
            row = None if code is None else row_of.get(code)
            if row is None:
                continue
            if wanted is not None and row not in used and not self._has_attachments(csi_node.metadata.name):
                if _exceeds(wanted, csi_node):
                    verdicts[row] = self._code(EXCEEDED)
            else:
                verdicts[row] = self._verdict(csi_node, csi_node.metadata.name, self._users.on_row(row))
        return verdicts if rows is None else verdicts[rows]

    def _wanted_on_empty_nodes(self) -> Mapping[str, int] | None:
        """Driver → volumes of the pod: all that matters on a node that has none. None when more does."""
        if isinstance(self._with, Status) or self._driver_must_be_there:
            return None
        return {driver: _count(self._with, driver) for driver in self._with.values()}

    def gather_changed(self, change: PodChange) -> NDArray[np.int32]:
        names: Codes = self._names.gather(np.array([change.row]))
        name = names.values[int(names.codes[0])]
        csi_node = self._objects.get(CSINode, "", name)
        gone = {pod.uid for pod in change.removed}
        pods = [pod for pod in self._users.on_row(change.row) if pod.uid not in gone]
        return np.array([self._verdict(csi_node, name, [*pods, *change.added])], dtype=np.int32)

    def _verdict(self, csi_node: CSINode | None, node_name: str, pods: Iterable[PodInfo]) -> int:
        new = self._without if csi_node is None else self._with
        if isinstance(new, Status):
            return self._code(new)
        if not new:
            return 0
        if self._driver_must_be_there and (missing := self._missing_driver(new, csi_node)) is not None:
            return self._code(Status.unschedulable(f"{missing} CSI driver is not installed on the node"))
        limits = _limits(csi_node)
        if not limits:
            return 0
        attached: Volumes = {}
        try:
            for pod in pods:
                self._attachable.add_volumes(pod.pod, attached, csi_node=True, new=False)
        except CountingError as error:
            return self._code(Status.as_error(str(error)))
        wanted = {name: driver for name, driver in new.items() if name not in attached}
        present = {**self._by_attachments(node_name), **attached}
        for driver in dict.fromkeys(wanted.values()):
            if driver in limits and _count(present, driver) + _count(wanted, driver) > limits[driver]:
                return self._code(EXCEEDED)
        return 0

    def _missing_driver(self, new: Volumes, csi_node: CSINode | None) -> str | None:
        """The first by name; upstream takes any. Only drivers that ask for it keep pods away."""
        there = set() if csi_node is None else {driver.name for driver in csi_node.spec.drivers}
        for name in sorted(set(new.values()) - there):
            driver = self._objects.get(CSIDriver, "", name)
            if driver is not None and driver.spec.prevent_pod_scheduling_if_missing:
                return name
        return None

    def _has_attachments(self, node_name: str) -> bool:
        return len(self._attachments_of(node_name)) > 0

    def _attachments_of(self, node_name: str) -> Sequence[VolumeAttachment]:
        if self._attachments is None:
            self._attachments = {}
            for attachment in self._objects.list(VolumeAttachment):
                self._attachments.setdefault(attachment.spec.node_name, []).append(attachment)
        return self._attachments.get(node_name, ())

    def _by_attachments(self, node_name: str) -> Volumes:
        """Volumes that are attached to the node whatever its pods say: those of CSI drivers, by PersistentVolume."""
        found: Volumes = {}
        for attachment in self._attachments_of(node_name):
            spec = attachment.spec
            if not spec.attacher or spec.source.persistent_volume_name is None:
                continue
            volume = self._objects.get(PersistentVolume, "", spec.source.persistent_volume_name)
            if volume is not None and volume.spec.csi is not None:
                found[f"{spec.attacher}/{volume.spec.csi.volume_handle}"] = spec.attacher
        return found


def _limits(csi_node: CSINode | None) -> Mapping[str, int]:
    if csi_node is None:
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _exceeds(wanted: Mapping[str, int], csi_node: CSINode) -> bool:
    """On a node without volumes."""
    limits = _limits(csi_node)
    return any(count > limits[driver] for driver, count in wanted.items() if driver in limits)


def _count(volumes: Volumes, driver: str) -> int:
    return sum(each == driver for each in volumes.values())
