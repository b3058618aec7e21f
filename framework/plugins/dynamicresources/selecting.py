"""Whether selectors choose a device. Answers are kept: devices do not change, and expressions are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.cel import AttributeValue, CelDevice, CelError, Version, compile_selector
from framework.objects.devices import Device, DeviceAttribute, DeviceSelector
from framework.plugins.dynamicresources.pools import AllocationError

MOST_KEPT: Final = 1 << 16


class _Known:
    """One device with what was found out about it. Keeping the device keeps its ``id`` from being used again."""

    __slots__ = ("answers", "device", "driver", "seen")

    def __init__(self, driver: str, device: Device) -> None:
        self.driver = driver
        self.device = device
        self.seen: CelDevice | None = None
        self.answers: dict[str, bool] = {}

    def view(self) -> CelDevice:
        """Raises CelError for an attribute that has no value, or no version where one should be."""
        if self.seen is None:
            self.seen = CelDevice(
                self.driver,
                {name: _value(name, attribute) for name, attribute in self.device.attributes.items()},
                {name: str(capacity.value) for name, capacity in self.device.capacity.items()},
                self.device.allow_multiple_allocations is True,
            )
        return self.seen


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
            answer = known.answers[expression] = _evaluated(expression, known, f"{owner}: selector #{i}")
        if not answer:
            return False
    return True


def _evaluated(expression: str, known: _Known, where: str) -> bool:
    try:
        compiled = compile_selector(expression)
    except CelError as error:
        raise AllocationError(f"{where}: CEL compile error: {error}") from error
    try:
        return compiled.matches(known.view())
    except CelError as error:
        raise AllocationError(f"{where}: CEL runtime error: {error}") from error


def _value(name: str, attribute: DeviceAttribute) -> AttributeValue:
    """Upstream ``getAttributeValue``, without DRAListTypeAttributes: a list is no value."""
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string_value is not None:
        return attribute.string_value
    if attribute.version_value is None:
        raise CelError(f"attribute {name}: unsupported attribute value")
    try:
        return Version.parse(attribute.version_value)
    except ValueError as error:
        raise CelError(f"attribute {name}: parse semantic version: {error}") from error
