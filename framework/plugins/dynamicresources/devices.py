"""What the allocator's parts have in common: ids of devices, features, and one shape for requests and subrequests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from framework.objects.devices import (
    CapacityRequirements,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
)
from framework.objects.quantity import Quantity


class DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


class Gates(Protocol):
    def enabled(self, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Features:
    """What the allocator may do (upstream ``structured.Features``)."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    binding_conditions: bool = True
    consumable_capacity: bool = True

    @staticmethod
    def from_gates(gates: Gates) -> Features:
        return Features(
            admin_access=gates.enabled("DRAAdminAccess"),
            prioritized_list=gates.enabled("DRAPrioritizedList"),
            partitionable_devices=gates.enabled("DRAPartitionableDevices"),
            device_taints=gates.enabled("DRADeviceTaints"),
            binding_conditions=gates.enabled("DRADeviceBindingConditions")
            and gates.enabled("DRAResourceClaimDeviceStatus"),
            consumable_capacity=gates.enabled("DRAConsumableCapacity"),
        )


Capacities = dict[str, Quantity]
"""Name of a capacity → how much of it is used up."""


@dataclass(slots=True)
class AllocatedState:
    """Devices that are taken, wholly or, when they allow many allocations, in part."""

    devices: set[DeviceId] = field(default_factory=set)
    shared: set[DeviceId] = field(default_factory=set)
    capacities: dict[DeviceId, Capacities] = field(default_factory=dict)

    def is_allocated(self, device: DeviceId) -> bool:
        return device in self.devices or device in self.shared or device in self.capacities


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request or subrequest. ``parent`` is the name of the request that holds the subrequest, else ""."""

    name: str
    parent: str
    device_class_name: str
    mode: str
    count: int
    admin_access: bool
    asks_admin_access: bool
    selectors: tuple[DeviceSelector, ...]
    tolerations: tuple[DeviceToleration, ...]
    capacity: CapacityRequirements | None

    @property
    def full_name(self) -> str:
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def base_name(self) -> str:
        return self.parent or self.name


def exact_request(request: DeviceRequest) -> Request:
    exact = request.exactly
    # Upstream would crash on a request without either; PreFilter has refused it.
    assert exact is not None
    return Request(
        request.name,
        "",
        exact.device_class_name,
        exact.allocation_mode,
        exact.count,
        exact.admin_access is True,
        exact.admin_access is not None,
        exact.selectors,
        exact.tolerations,
        exact.capacity,
    )


def sub_request(parent: DeviceRequest, sub: DeviceSubRequest) -> Request:
    return Request(
        sub.name,
        parent.name,
        sub.device_class_name,
        sub.allocation_mode,
        sub.count,
        False,
        False,
        sub.selectors,
        sub.tolerations,
        sub.capacity,
    )
