"""Resources that device classes back, in scores: nodes that do not offer them themselves count their devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from framework.interface import Codes, Column, Handle, signing
from framework.interface.device_counts import DEVICE_COUNTERS, DeviceCounter
from framework.objects import DeviceClass, Pod
from framework.objects.extended_resources import ClassesByResource, may_be_backed
from framework.objects.resources import pod_requests

Counted = tuple[tuple[int, tuple[tuple[str, int, int], ...]], ...]
"""(position of the resource, (node, devices, allocated devices) of the nodes that have some)."""


@lru_cache(maxsize=1024)
def _some_may_be_backed(resources: tuple[str, ...]) -> bool:
    return any(map(may_be_backed, resources))


class BackedResources:
    """Which resources device classes back, and what devices nodes have of them (gate DRAExtendedResource)."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.enabled = handle.feature_gates.enabled("DRAExtendedResource")
        self._by_resource = ClassesByResource()

    def is_backed(self, resource: str) -> bool:
        """Upstream ``shouldDelegateResourceToDRA``, but for the node."""
        return self.enabled and resource in self._classes()

    def counted(self, resources: Sequence[str]) -> Counted:
        """() when none of the resources is backed, which is nearly always."""
        if not _some_may_be_backed(tuple(resources)):
            return ()
        counters: list[DeviceCounter] = self._handle.shared(DEVICE_COUNTERS, list)
        if not self.enabled or not counters:
            return ()
        classes = self._classes()
        nodes = self._handle.snapshot.list()
        return tuple(
            (i, tuple((node, *counts) for node, counts in counters[0].count(classes[name], nodes).items()))
            for i, name in enumerate(resources)
            if name in classes and may_be_backed(name)
        )

    def _classes(self) -> Mapping[str, DeviceClass]:
        return self._by_resource.for_classes(self._handle.objects.list(DeviceClass))


def signed_requests(pod: Pod, backed: BackedResources) -> signing.Fragments | None:
    """None where a device class backs one of them."""
    if backed.enabled and any(amount and backed.is_backed(name) for name, amount in pod_requests(pod).items()):
        return None
    return signing.requests(pod)


def with_devices(column: Column, names: Codes, counted: Counted) -> Column:
    """Devices in place of what nodes without the resource offer."""
    allocatable, requested = list(column.allocatable), list(column.requested)
    everywhere = list(column.everywhere)
    for position, of_nodes in counted:
        found = {node: (devices, allocated) for node, devices, allocated in of_nodes}
        table = np.array([found.get(name, (0, 0)) for name in names.values], dtype=np.int64).reshape(-1, 2)
        rows = table[names.codes] if len(table) else np.zeros((len(names.codes), 2), dtype=np.int64)
        instead = (allocatable[position] == 0) & (rows[:, 0] > 0)
        allocatable[position] = np.where(instead, rows[:, 0], allocatable[position])
        requested[position] = np.where(instead, rows[:, 1], requested[position])
        everywhere[position] = False
    return column._replace(
        allocatable=tuple(allocatable),
        requested=tuple(requested),
        everywhere=tuple(everywhere),
        largest=None,
        keeper=None,
    )
