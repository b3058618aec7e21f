"""Older versions of resource.k8s.io are read as v1."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from framework.objects.decode import decode_json, decode_manifest
from framework.objects.errors import ObjectError

REQUEST = {"name": "r", "deviceClassName": "gpu", "count": 2, "adminAccess": True}


def manifest(version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def test_requests_of_v1beta1_get_exactly() -> None:
    claim = decode_manifest(manifest("v1beta1", "ResourceClaim", {"devices": {"requests": [REQUEST]}}))
    assert isinstance(claim, ResourceClaim)
    (request,) = claim.spec.devices.requests
    assert request.exactly is not None
    assert (request.exactly.device_class_name, request.exactly.count, request.exactly.admin_access) == ("gpu", 2, True)


def test_alternatives_of_v1beta1_stay_what_they_are() -> None:
    listed = {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}]}}
    template = decode_manifest(manifest("v1beta1", "ResourceClaimTemplate", {"spec": listed}))
    assert isinstance(template, ResourceClaimTemplate)
    (request,) = template.spec.spec.devices.requests
    assert request.exactly is None
    assert [sub.device_class_name for sub in request.first_available] == ["gpu"]


def test_devices_of_v1beta1_lose_their_basic() -> None:
    device = {"name": "d", "basic": {"attributes": {"model": {"string": "a100"}}, "capacity": {"m": {"value": "1"}}}}
    slice_ = decode_manifest(manifest("v1beta1", "ResourceSlice", {"driver": "d", "devices": [device]}))
    assert isinstance(slice_, ResourceSlice)
    assert slice_.spec.devices[0].attributes["model"].string_value == "a100"
    assert slice_.spec.devices[0].capacity["m"].value == "1"


def test_v1beta2_is_v1_under_another_name() -> None:
    text = (
        b'{"apiVersion": "resource.k8s.io/v1beta2", "kind": "ResourceClaim", "metadata": {"name": "x"}, '
        b'"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}'
    )
    (claim,) = decode_json(text)
    assert isinstance(claim, ResourceClaim)
    assert claim.spec.devices.requests[0].exactly is not None


def test_what_is_malformed_is_still_named() -> None:
    with pytest.raises(ObjectError) as refused:
        decode_manifest(manifest("v1beta1", "ResourceClaim", {"devices": {"requests": 3}}))
    assert "spec.devices.requests" in str(refused.value)
