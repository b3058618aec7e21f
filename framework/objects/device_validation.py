"""What the API server checks of device claims, classes and slices, as far as decisions rely on it, with its texts.

Left out: CEL expressions, which are compiled when a claim is allocated, and limits on sizes of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from framework.objects.affinity_validation import node_selector_errors
from framework.objects.devices import (
    ALL_DEVICES,
    EXACT_COUNT,
    CapacityRequirements,
    Device,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from framework.objects.devices import DeviceSubRequest as SubRequest
from framework.objects.field_errors import FieldError, duplicate, invalid, not_supported, required
from framework.objects.metadata import KubernetesObject, RawQuantity
from framework.objects.names import dns1123_label_errors, dns1123_subdomain_errors
from framework.objects.quantity import QuantityError, parse_quantity

_REFERENCE: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_CONSTRAINT: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)
_ONE_PLACE: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_NOT_HERE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_ONE_PLACE_PER_DEVICE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_ONE_VALUE: Final = "exactly one value must be specified"


def device_errors(obj: KubernetesObject) -> Iterable[FieldError]:
    """None for kinds that are not about devices."""
    match obj:
        case ResourceClaim():
            yield from _claim_errors(obj.spec.devices, "spec.devices")
        case ResourceClaimTemplate():
            yield from _claim_errors(obj.spec.spec.devices, "spec.spec.devices")
        case DeviceClass():
            yield from _selector_errors(obj.spec.selectors, "spec.selectors")
        case ResourceSlice():
            yield from _slice_errors(obj)


# --- claims ---------------------------------------------------------------------------------------------------------


def _claim_errors(claim: DeviceClaim, path: str) -> Iterable[FieldError]:
    yield from _unique([request.name for request in claim.requests], f"{path}.requests")
    for i, request in enumerate(claim.requests):
        yield from _request_errors(request, f"{path}.requests[{i}]")
    names = {request.name for request in claim.requests}
    names |= {f"{request.name}/{sub.name}" for request in claim.requests for sub in request.first_available}
    for i, constraint in enumerate(claim.constraints):
        yield from _constraint_errors(constraint, names, f"{path}.constraints[{i}]")
    for i, config in enumerate(claim.config):
        for k, name in enumerate(config.requests):
            if name not in names:
                yield invalid(f"{path}.config[{i}].requests[{k}]", name, _REFERENCE)


def _request_errors(request: DeviceRequest, path: str) -> Iterable[FieldError]:
    for text in dns1123_label_errors(request.name):
        yield invalid(f"{path}.name", request.name, text)
    if request.exactly is None and not request.first_available:
        yield required(path, _ONE_KIND)
    elif request.exactly is not None and request.first_available:
        yield invalid(path, None, f"{_ONE_KIND}, but multiple fields are set")
    elif request.exactly is not None:
        yield from _asked_errors(request.exactly, f"{path}.exactly")
    else:
        yield from _unique([sub.name for sub in request.first_available], f"{path}.firstAvailable")
        for i, sub in enumerate(request.first_available):
            at = f"{path}.firstAvailable[{i}]"
            for text in dns1123_label_errors(sub.name):
                yield invalid(f"{at}.name", sub.name, text)
            yield from _asked_errors(sub, at)


def _asked_errors(request: ExactDeviceRequest | SubRequest, path: str) -> Iterable[FieldError]:
    if not request.device_class_name:
        yield required(f"{path}.deviceClassName")
    else:
        for text in dns1123_subdomain_errors(request.device_class_name):
            yield invalid(f"{path}.deviceClassName", request.device_class_name, text)
    yield from _selector_errors(request.selectors, f"{path}.selectors")
    if request.allocation_mode == ALL_DEVICES:
        if request.count:
            text = f"must not be specified when allocationMode is '{ALL_DEVICES}'"
            yield invalid(f"{path}.count", request.count, text)
    elif request.allocation_mode == EXACT_COUNT:
        if request.count <= 0:
            yield invalid(f"{path}.count", request.count, "must be greater than zero")
    else:
        yield not_supported(f"{path}.allocationMode", request.allocation_mode, (ALL_DEVICES, EXACT_COUNT))
    if isinstance(request.capacity, CapacityRequirements):
        for name, raw in request.capacity.requests.items():
            yield from _quantity_errors(raw, f"{path}.capacity.requests[{name}]")


def _constraint_errors(constraint: DeviceConstraint, names: set[str], path: str) -> Iterable[FieldError]:
    yield from _unique(constraint.requests, f"{path}.requests")
    for i, name in enumerate(constraint.requests):
        if name not in names:
            yield invalid(f"{path}.requests[{i}]", name, _REFERENCE)
    given = {"matchAttribute": constraint.match_attribute, "distinctAttribute": constraint.distinct_attribute}
    for field, attribute in given.items():
        if attribute is not None and "/" not in attribute:
            yield invalid(f"{path}.{field}", attribute, "must include a domain")
        if attribute is not None:
            return
    yield required(path, _ONE_CONSTRAINT)


def _selector_errors(selectors: Sequence[DeviceSelector], path: str) -> Iterable[FieldError]:
    for i, selector in enumerate(selectors):
        if selector.cel is None:
            yield required(f"{path}[{i}].cel")
        elif not selector.cel.expression:
            yield required(f"{path}[{i}].cel.expression")


# --- slices ---------------------------------------------------------------------------------------------------------


def _slice_errors(obj: ResourceSlice) -> Iterable[FieldError]:
    spec = obj.spec
    if not spec.driver:
        yield required("spec.driver")
    if not spec.pool.name:
        yield required("spec.pool.name")
    if spec.pool.resource_slice_count <= 0:
        yield invalid("spec.pool.resourceSliceCount", spec.pool.resource_slice_count, "must be greater than zero")
    if spec.pool.generation < 0:
        yield invalid("spec.pool.generation", spec.pool.generation, "must be greater than or equal to zero")
    if spec.node_selector is not None:
        yield from node_selector_errors(spec.node_selector, "spec.nodeSelector")
    places = {
        "nodeName": spec.node_name,
        "nodeSelector": spec.node_selector,
        "allNodes": spec.all_nodes,
        "perDeviceNodeSelection": spec.per_device_node_selection,
    }
    yield from _place_errors(places, "spec", _ONE_PLACE, f"{_ONE_PLACE}, but multiple fields are set")
    if spec.shared_counters and spec.devices:
        yield invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _unique([device.name for device in spec.devices], "spec.devices")
    for i, device in enumerate(spec.devices):
        yield from _device_errors(device, spec.per_device_node_selection is True, f"spec.devices[{i}]")
    yield from _unique([each.name for each in spec.shared_counters], "spec.sharedCounters")
    for i, counter_set in enumerate(spec.shared_counters):
        for name, counter in counter_set.counters.items():
            yield from _quantity_errors(counter.value, f"spec.sharedCounters[{i}].counters[{name}]")


def _place_errors(places: Mapping[str, object], path: str, none: str, many: str) -> Iterable[FieldError]:
    found = []
    for name, value in places.items():
        if value == "":
            yield invalid(f"{path}.{name}", value, "must be either unset or set to a non-empty string")
        elif value is False:
            yield invalid(f"{path}.{name}", value, "must be either unset or set to true")
        elif value is not None:
            found.append(f"`{name}`")
    if not found:
        yield required(path, none)
    elif len(found) > 1:
        yield invalid(path, f"{{{', '.join(found)}}}", many)


def _device_errors(device: Device, places_itself: bool, path: str) -> Iterable[FieldError]:
    for text in dns1123_label_errors(device.name):
        yield invalid(f"{path}.name", device.name, text)
    for name, attribute in device.attributes.items():
        scalars = (attribute.int_value, attribute.bool_value, attribute.string_value, attribute.version_value)
        lists = (attribute.int_values, attribute.bool_values, attribute.string_values, attribute.version_values)
        count = sum(value is not None for value in scalars) + sum(bool(values) for values in lists)
        if count == 0:
            yield required(f"{path}.attributes[{name}]", _ONE_VALUE)
        elif count > 1:
            yield invalid(f"{path}.attributes[{name}]", None, _ONE_VALUE)
    for name, capacity in device.capacity.items():
        yield from _capacity_errors(capacity, f"{path}.capacity[{name}]")
    for i, consumption in enumerate(device.consumes_counters):
        for name, counter in consumption.counters.items():
            yield from _quantity_errors(counter.value, f"{path}.consumesCounters[{i}].counters[{name}]")
    places = {"nodeName": device.node_name, "nodeSelector": device.node_selector, "allNodes": device.all_nodes}
    if places_itself:
        yield from _place_errors(places, path, _ONE_PLACE_PER_DEVICE, _ONE_PLACE_PER_DEVICE)
    elif any(value is not None for value in places.values()):
        yield invalid(path, None, _NOT_HERE)
    if device.node_selector is not None:
        yield from node_selector_errors(device.node_selector, f"{path}.nodeSelector")


def _capacity_errors(capacity: DeviceCapacity, path: str) -> Iterable[FieldError]:
    yield from _quantity_errors(capacity.value, f"{path}.value")
    policy = capacity.request_policy
    if policy is None:
        return
    at = f"{path}.requestPolicy"
    for name, raw in (("default", policy.default), *(("validValues", value) for value in policy.valid_values)):
        if raw is not None:
            yield from _quantity_errors(raw, f"{at}.{name}")
    allowed = policy.valid_range
    if allowed is None:
        return
    for name, raw in (("min", allowed.min), ("max", allowed.max), ("step", allowed.step)):
        if raw is not None:
            yield from _quantity_errors(raw, f"{at}.validRange.{name}", positive=name == "step")


def _quantity_errors(raw: RawQuantity, path: str, *, positive: bool = False) -> Iterable[FieldError]:
    try:
        quantity = parse_quantity(raw)
    except QuantityError as error:
        yield invalid(path, raw, str(error))
        return
    if positive and quantity.nanos <= 0:
        yield invalid(path, str(quantity), "must be greater than zero")


def _unique(names: Sequence[str], path: str) -> Iterable[FieldError]:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            yield duplicate(f"{path}[{i}]", name)
        seen.add(name)
