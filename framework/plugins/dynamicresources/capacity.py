"""Capacity that several claims share.

Upstream: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go
`CmpRequestOverCapacity`.
"""

from __future__ import annotations

from collections.abc import Mapping

from framework.objects.devices import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    CapacityRequirements,
    Device,
    DeviceCapacity,
)
from framework.objects.metadata import RawQuantity
from framework.objects.quantity import NANOS, Format, Quantity, parse_quantity
from framework.plugins.dynamicresources.devices import Capacities


def fits(
    taken: Mapping[str, Quantity] | None,
    wanted: CapacityRequirements | None,
    device: Device,
    being_taken: Mapping[str, Quantity] | None,
) -> bool:
    """Whether the device has this much capacity left. Naming a capacity that it does not have is a no, too."""
    requests = {} if wanted is None else wanted.requests
    if any(name not in device.capacity for name in requests):
        return False
    for name, capacity in device.capacity.items():
        consumed = _consumed(requests.get(name), capacity)
        if _violates(consumed, capacity.request_policy):
            return False
        total = consumed.nanos
        for part in (taken, being_taken):
            if part is not None and name in part:
                total += part[name].nanos
        if total > parse_quantity(capacity.value).nanos:
            return False
    return True


def consumed_capacity(wanted: CapacityRequirements | None, device: Device) -> Capacities:
    requests = {} if wanted is None else wanted.requests
    return {name: _consumed(requests.get(name), capacity) for name, capacity in device.capacity.items()}


def add(total: Capacities, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        old = total.get(name)
        total[name] = amount if old is None else Quantity(old.nanos + amount.nanos, old.format)


def subtract(total: Capacities, less: Mapping[str, Quantity]) -> None:
    for name, amount in less.items():
        if (old := total.get(name)) is not None:
            total[name] = Quantity(old.nanos - amount.nanos, old.format)


def _consumed(wanted: RawQuantity | None, capacity: DeviceCapacity) -> Quantity:
    policy = capacity.request_policy
    if wanted is None:
        return parse_quantity(capacity.value if policy is None or policy.default is None else policy.default)
    request = parse_quantity(wanted)
    if policy is None:
        return request
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_up(request, policy.valid_range, parse_quantity(policy.valid_range.min))
    for value in policy.valid_values:
        if request.nanos <= parse_quantity(value).nanos:
            return parse_quantity(value)
    return request


def _rounded_up(request: Quantity, allowed: CapacityRequestPolicyRange, least: Quantity) -> Quantity:
    if request.nanos < least.nanos:
        return least
    if allowed.step is None:
        return request
    step = parse_quantity(allowed.step).value()
    steps = -(-(request.value() - least.value()) // step)
    return Quantity((least.value() + step * steps) * NANOS, Format.BINARY_SI)


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and amount == parse_quantity(policy.default)):
        return False
    allowed = policy.valid_range
    if allowed is not None:
        if allowed.max is not None and amount.nanos > parse_quantity(allowed.max).nanos:
            return True
        if allowed.step is None:
            return False
        least = 0 if allowed.min is None else parse_quantity(allowed.min).value()
        return (amount.value() - least) % parse_quantity(allowed.step).value() != 0
    if policy.valid_values:
        return all(amount.nanos != parse_quantity(value).nanos for value in policy.valid_values)
    return False
