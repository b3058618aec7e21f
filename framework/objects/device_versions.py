"""Older versions of resource.k8s.io read as v1.

Upstream: pkg/apis/resource/v1beta1/conversion.go `Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

V1: Final = "resource.k8s.io/v1"
V1BETA1: Final = "resource.k8s.io/v1beta1"
V1BETA2: Final = "resource.k8s.io/v1beta2"
_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
_EXACTLY: Final = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)
Manifest = Mapping[str, Any]


def as_v1(manifest: Manifest, api_version: str, kind: str) -> Manifest | None:
    """None when it is no older version. v1beta2 has the fields of v1."""
    if api_version not in (V1BETA1, V1BETA2) or kind not in _KINDS:
        return None
    newer = {**manifest, "apiVersion": V1}
    if api_version == V1BETA1:
        if kind == "ResourceSlice":
            return _changed(newer, ("spec", "devices"), _device)
        if kind == "ResourceClaim":
            return _changed(newer, ("spec", "devices", "requests"), _request)
        if kind == "ResourceClaimTemplate":
            return _changed(newer, ("spec", "spec", "devices", "requests"), _request)
    return newer


def _changed(inside: Manifest, path: tuple[str, ...], change: Callable[[Manifest], Manifest]) -> dict[str, Any]:
    """Each object of the list at ``path`` changed; what has another shape is left for the decoder to complain about."""
    name, *rest = path
    value = inside.get(name)
    if rest and isinstance(value, Mapping):
        return {**inside, name: _changed(value, tuple(rest), change)}
    if not rest and isinstance(value, list):
        return {**inside, name: [change(each) if isinstance(each, Mapping) else each for each in value]}
    return dict(inside)


def _request(request: Manifest) -> Manifest:
    """Before v1beta2 the fields of ``exactly`` stood in the request itself."""
    exactly = {name: request[name] for name in _EXACTLY if request.get(name) is not None}
    kept = {name: value for name, value in request.items() if name not in _EXACTLY}
    return {**kept, "exactly": exactly} if exactly else kept


def _device(device: Manifest) -> Manifest:
    """Before v1beta2 a device was its name and ``basic``."""
    basic = device.get("basic")
    if not isinstance(basic, Mapping):
        return device
    return {**{name: value for name, value in device.items() if name != "basic"}, **basic}
