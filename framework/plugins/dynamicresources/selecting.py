"""Whether selectors choose a device. Answers are kept: devices do not change, and expressions are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.objects.devices import Device, DeviceAttribute, DeviceSelector
from framework.plugins.dynamicresources.cel import AttributeValue, CelDevice, CelError, Version, compile_selector
from framework.plugins.dynamicresources.pools import AllocationError

MOST_KEPT: Final = 1 << 16


class _Known:
    """One device with what was found out about it. Keeping the device keeps its ``id`` from being used again."""

    __slots__ = ("answers", "device", "seen")

    def __init__(self, driver: str, device: Device) -> None:
        self.device = device
        self.seen = CelDevice(
            driver,
            {name: _value(attribute) for name, attribute in device.attributes.items()},
            {name: str(capacity.value) for name, capacity in device.capacity.items()},
            device.allow_multiple_allocations is True,
        )
        self.answers: dict[str, bool] = {}


_known: dict[tuple[int, str], _Known] = {}


def selected(selectors: Sequence[DeviceSelector], driver: str, device: Device, owner: str) -> bool:
    """``owner``: whose selectors these are, for the error. Raises AllocationError."""
    if not selectors:
        return True
    key = (id(device), driver)
    known = _known.get(key)
    if known is None:
        if len(_known) >= MOST_KEPT:
            _known.clear()
        known = _known[key] = _Known(driver, device)
    for i, selector in enumerate(selectors):
        expression = "" if selector.cel is None else selector.cel.expression
        answer = known.answers.get(expression)
        if answer is None:
            answer = known.answers[expression] = _evaluated(expression, known.seen, f"{owner}: selector #{i}")
        if not answer:
            return False
    return True


def _evaluated(expression: str, device: CelDevice, where: str) -> bool:
    try:
        compiled = compile_selector(expression)
    except CelError as error:
        raise AllocationError(f"{where}: CEL compile error: {error}") from error
    try:
        return compiled.matches(device)
    except CelError as error:
        raise AllocationError(f"{where}: CEL runtime error: {error}") from error


def _value(attribute: DeviceAttribute) -> AttributeValue:
    for scalar in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if scalar is not None:
            return scalar
    if attribute.version_value is not None:
        return Version(attribute.version_value)
    for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
        if values:
            return values
    return tuple(Version(text) for text in attribute.version_values)
