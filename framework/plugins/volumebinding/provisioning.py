"""Whether a volume can be made for a claim, node by node (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framework.interface import ObjectStore
from framework.objects import CSIDriver, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from framework.objects.claims import NO_PROVISIONER, class_of_claim, requested_storage
from framework.objects.quantity import parse_quantity
from framework.plugins.volumebinding.node_sets import NodeSets, allowed_topologies, topology_of_capacity


@dataclass(frozen=True, slots=True)
class Provisioning:
    """``error`` concerns every node; else the columns say where the class may make volumes and has room for one."""

    error: str | None
    allowed: NDArray[np.bool_]
    sufficient: NDArray[np.bool_]
    capacity: NDArray[np.intp] | None = None
    """Row → index into ``capacities``, -1 for none; None when room is not looked at."""
    capacities: tuple[CSIStorageCapacity, ...] = ()

    def capacity_at(self, row: int) -> CSIStorageCapacity | None:
        index = -1 if self.capacity is None else int(self.capacity[row])
        return None if index < 0 else self.capacities[index]


def provisioning(objects: ObjectStore, claim: PersistentVolumeClaim, nodes: NodeSets) -> Provisioning:
    everywhere = np.ones(nodes.count, dtype=np.bool_)
    name = class_of_claim(claim)
    if not name:
        return Provisioning(f'no class for claim "{claim.key}"', everywhere, everywhere)
    storage_class = objects.get(StorageClass, "", name)
    if storage_class is None:
        return Provisioning(f'failed to find storage class "{name}"', everywhere, everywhere)
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return Provisioning(None, ~everywhere, everywhere)
    allowed = nodes.column(nodes.rows(allowed_topologies(storage_class.allowed_topologies)))
    raw = requested_storage(claim)
    driver = objects.get(CSIDriver, "", storage_class.provisioner)
    if raw is None or driver is None or not driver.spec.storage_capacity:
        return Provisioning(None, allowed, everywhere)
    return _with_room(objects, parse_quantity(raw).value(), name, allowed, nodes)


def _with_room(
    objects: ObjectStore, size: int, class_name: str, allowed: NDArray[np.bool_], nodes: NodeSets
) -> Provisioning:
    """A node takes the first sufficient capacity that it has access to: by name, where upstream's order is open."""
    capacity = np.full(nodes.count, -1, dtype=np.intp)
    used: list[CSIStorageCapacity] = []
    for each in sorted(objects.list(CSIStorageCapacity), key=lambda each: each.key):
        limit = volume_limit(each)
        if each.storage_class_name != class_name or limit is None or limit < size:
            continue
        topology = topology_of_capacity(each.node_topology)
        if topology is None:
            continue
        rows = nodes.rows(topology)
        capacity[rows[capacity[rows] < 0]] = len(used)
        used.append(each)
    return Provisioning(None, allowed, capacity >= 0, capacity, tuple(used))


def volume_limit(capacity: CSIStorageCapacity) -> int | None:
    """Bytes of the largest volume it has room for: maximumVolumeSize is more precise than capacity."""
    raw = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return None if raw is None else parse_quantity(raw).value()
