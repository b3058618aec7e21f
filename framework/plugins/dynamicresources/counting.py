"""Devices per node for NodeResourcesFit's and BalancedAllocation's scores.

Rules: docs/semantics/devices.md#extended-resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from framework.interface import NodeInfo, ObjectStore
from framework.objects import DeviceClass, Node, ResourceClaim, ResourceSlice
from framework.objects.devices import Device
from framework.plugins.dynamicresources.devices import DeviceId
from framework.plugins.dynamicresources.pools import AllocationError, node_matches
from framework.plugins.dynamicresources.selecting import selected
from framework.plugins.dynamicresources.tracker import ClaimTracker


class FreeDeviceCounter:
    """Implements DeviceCounter."""

    def __init__(self, objects: ObjectStore, tracker: ClaimTracker, consumable_capacity: bool) -> None:
        self._objects = objects
        self._tracker = tracker
        self._consumable_capacity = consumable_capacity

    def count(self, device_class: DeviceClass, nodes: Sequence[NodeInfo]) -> Mapping[str, tuple[int, int]]:
        """A node where it fails counts as one without devices: upstream logs the error."""
        claims = self._objects.list(ResourceClaim)
        taken = self._tracker.allocated(claims, consumable_capacity=self._consumable_capacity)
        of_nodes: dict[str, list[ResourceSlice]] = {}
        others: list[ResourceSlice] = []
        for each in self._objects.list(ResourceSlice):
            spec = each.spec
            local = spec.node_name and not (spec.per_device_node_selection or spec.all_nodes or spec.node_selector)
            (of_nodes.setdefault(spec.node_name or "", []) if local else others).append(each)
        found = {}
        for info in nodes:
            assert info.node is not None
            mine = (*of_nodes.get(info.name, ()), *others)
            try:
                devices = [
                    DeviceId(each.spec.driver, each.spec.pool.name, device.name)
                    for each in mine
                    for device in _devices(each, info.node)
                    if selected(device_class.spec.selectors, each.spec.driver, device, device_class.name)
                ]
            except AllocationError:
                continue
            if devices:
                found[info.name] = (len(devices), sum(taken.is_allocated(device) for device in devices))
        return found


def _devices(each: ResourceSlice, node: Node) -> Iterable[Device]:
    """Those for this node. Unlike the allocator this takes slices that name no nodes at all for everybody's."""
    spec = each.spec
    if spec.per_device_node_selection:
        return [d for d in spec.devices if node_matches(node, d.node_name, d.all_nodes, d.node_selector)]
    if spec.all_nodes or (spec.node_name or "") == node.metadata.name:
        return spec.devices
    if spec.node_selector is not None:
        return spec.devices if node_matches(node, spec.node_name, False, spec.node_selector) else ()
    return () if spec.node_name else spec.devices
