"""Device selectors in CEL (upstream: dynamic-resource-allocation/cel/compile.go; docs/decisions/0008-cel.md).

The library parses, expands macros and checks types (check.py); what it hands out is turned into closures
(program.py) that evaluate with cel-go's semantics and error texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from framework.cel.check import check
from framework.cel.errors import CelError
from framework.cel.program import Program, build
from framework.cel.values import CelQuantity, DomainMap, Version, type_name
from framework.objects.quantity import QuantityError

Scalar = bool | int | str | Version
AttributeValue = Scalar | Sequence[bool] | Sequence[int] | Sequence[str] | Sequence[Version]

MAX_LENGTH: Final = 10 * 1024  # resource.k8s.io/v1: CELSelectorExpressionMaxLength, checked by the API server


@dataclass(frozen=True, slots=True)
class _View:
    attributes: DomainMap
    capacity: DomainMap
    first_list: str | None


@dataclass(frozen=True, slots=True)
class CelDevice:
    """What a selector sees of a device. Names without a domain get the driver's; ``capacity`` holds quantities as
    Kubernetes writes them ("40Gi"). The maps must not change once a selector has seen the device."""

    driver: str
    attributes: Mapping[str, AttributeValue]
    capacity: Mapping[str, str]
    allow_multiple_allocations: bool = False
    _view: _View | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> tuple[Any, ...]:
        """Without the view, so that a pickle does not tell who was asked."""
        return self.driver, self.attributes, self.capacity, self.allow_multiple_allocations

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names = ("driver", "attributes", "capacity", "allow_multiple_allocations", "_view")
        for name, value in zip(names, (*state, None), strict=True):
            object.__setattr__(self, name, value)

    def view(self) -> _View:
        """Raises CelError for a capacity that is no quantity."""
        view = self._view
        if view is None:
            view = _see(self)
            object.__setattr__(self, "_view", view)
        return view


def _see(device: CelDevice) -> _View:
    attributes, capacity = DomainMap(), DomainMap()
    first_list = None
    for qualified, value in device.attributes.items():
        domain, name = _split(qualified, device.driver)
        if isinstance(value, bool | int | str | Version):
            attributes.setdefault(domain, {})[name] = value
            continue
        attributes.setdefault(domain, {})[name] = list(value)
        first_list = first_list or qualified
    for qualified, amount in device.capacity.items():
        domain, name = _split(qualified, device.driver)
        try:
            capacity.setdefault(domain, {})[name] = CelQuantity.parse(amount)
        except QuantityError as error:
            raise CelError(f"capacity {qualified}: {error}") from error
    return _View(attributes, capacity, first_list)


def _split(qualified: str, driver: str) -> tuple[str, str]:
    domain, slash, name = qualified.partition("/")
    return (domain, name) if slash else (driver, qualified)


@dataclass(frozen=True, slots=True)
class DeviceSelector:
    """A compiled selector. Pickles as its text."""

    expression: str
    list_attributes: bool
    _program: Program = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.expression, self.list_attributes)

    def matches(self, device: CelDevice) -> bool:
        """Raises CelError with upstream's text."""
        view = device._view or device.view()
        if view.first_list is not None and not self.list_attributes:
            raise CelError(f"attribute {view.first_list}: unsupported attribute value")
        program = self._program
        result = program.run(
            program.frame(device.driver, device.allow_multiple_allocations, view.attributes, view.capacity)
        )
        if result is True or result is False:
            return result
        kind = type_name(result)
        raise CelError(f"CEL result of type {kind} could not be converted to bool: {_conversion(kind)}")


def _conversion(kind: str) -> str:
    """Each type of cel-go and Kubernetes says it differently (ConvertToNative)."""
    match kind:
        case "int" | "uint":
            return f"unsupported type conversion from '{kind}' to bool"
        case "string":
            return "unsupported native conversion from string to 'bool'"
        case "double":
            return "type conversion error from Double to 'bool'"
        case "kubernetes.Semver" | "kubernetes.Quantity":
            return f"type conversion error from '{kind.removeprefix('kubernetes.')}' to 'bool'"
    return f"type conversion error from {kind} to 'bool'"


@lru_cache(maxsize=4096)
def compile_selector(expression: str, *, list_attributes: bool = False) -> DeviceSelector:
    """``list_attributes``: the feature gate DRAListTypeAttributes. Raises CelError."""
    if len(expression.encode()) > MAX_LENGTH:
        raise CelError(f"Too long: may not be more than {MAX_LENGTH} bytes")
    checked = check(expression, list_attributes=list_attributes)
    return DeviceSelector(expression, list_attributes, build(checked, expression))


def _again(expression: str, list_attributes: bool) -> DeviceSelector:
    return compile_selector(expression, list_attributes=list_attributes)
