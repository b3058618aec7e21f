"""Constraints between a claim's devices (docs/semantics/devices.md#allocation)."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field

from framework.objects.devices import Device, DeviceAttribute
from framework.plugins.dynamicresources.devices import DeviceId, Request


@dataclass(slots=True)
class Constraint(abc.ABC):
    """``requests`` empty: all of the claim's. ``add`` is False when the device would break the constraint."""

    attribute: str
    requests: frozenset[str]
    devices: int = 0

    def applies(self, request: Request) -> bool:
        if not self.requests:
            return True
        return request.base_name in self.requests or (bool(request.parent) and request.full_name in self.requests)

    @abc.abstractmethod
    def add(self, request: Request, device: Device, device_id: DeviceId) -> bool: ...

    @abc.abstractmethod
    def remove(self, request: Request) -> None: ...


@dataclass(slots=True)
class MatchAttribute(Constraint):
    """All devices have one value. What the first had is kept when it goes, as upstream does."""

    value: DeviceAttribute | None = None

    def add(self, request: Request, device: Device, device_id: DeviceId) -> bool:
        if not self.applies(request):
            return True
        attribute = lookup(device, device_id, self.attribute)
        if attribute is None:
            return False
        if self.devices == 0:
            self.value = attribute
        elif self.value is None or not _equal(attribute, self.value):
            return False
        self.devices += 1
        return True

    def remove(self, request: Request) -> None:
        if self.applies(request):
            self.devices -= 1


@dataclass(slots=True)
class DistinctAttribute(Constraint):
    """No two devices have the same value.

    Upstream keeps one value per request: of a request for several devices only the last one's is compared, and none
    after one of them was given back.
    """

    values: dict[str, DeviceAttribute] = field(default_factory=dict)

    def add(self, request: Request, device: Device, device_id: DeviceId) -> bool:
        if not self.applies(request):
            return True
        attribute = lookup(device, device_id, self.attribute)
        if attribute is None:
            return False
        if self.devices > 0:
            if self.values and not _is_scalar(attribute):
                return False
            if any(_equal(attribute, other) for other in self.values.values()):
                return False
        self.values[request.base_name] = attribute
        self.devices += 1
        return True

    def remove(self, request: Request) -> None:
        if self.applies(request):
            self.values.pop(request.base_name, None)
            self.devices -= 1


def lookup(device: Device, device_id: DeviceId, name: str) -> DeviceAttribute | None:
    """By the full name, or without the domain when that is the driver's."""
    found = device.attributes.get(name)
    if found is not None:
        return found
    domain, slash, short = name.partition("/")
    return device.attributes.get(short) if slash and domain == device_id.driver else None


def _is_scalar(attribute: DeviceAttribute) -> bool:
    return not (
        attribute.string_value is None
        and attribute.int_value is None
        and attribute.bool_value is None
        and attribute.version_value is None
    )


def _equal(new: DeviceAttribute, old: DeviceAttribute) -> bool:
    """Same type and value; versions are compared as texts."""
    if new.string_value is not None:
        return new.string_value == old.string_value
    if new.int_value is not None:
        return new.int_value == old.int_value
    if new.bool_value is not None:
        return new.bool_value == old.bool_value
    return new.version_value is not None and new.version_value == old.version_value
