"""What is particular to claims of devices: what a status may become, and who may allocate and reserve.

Texts are those of kube-apiserver 1.36.2, which was asked (its own spelling of whole objects is cut short here).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.apiserver import statuses
from tests.apiserver.kinds import DEVICE_CLAIMS, Json

MOST_CONSUMERS = 256
IMMUTABLE = "field is immutable"
Cause = tuple[str, str, str]


def check(before: Json, after: Json, *, is_status: bool, why_not: Callable[[], str]) -> None:
    """422 where the claim cannot become this. ``why_not``: why the user may not patch ``resourceclaims/binding`` in all
    namespaces (DRAResourceClaimGranularStatusAuthorization); "" when they may."""
    if not is_status:
        causes = [_immutable("spec")] if after.get("spec") != before.get("spec") else []
    else:
        causes = _of_status(before, after, why_not)
    if causes:
        raise statuses.invalid(DEVICE_CLAIMS, before["metadata"]["name"], causes)


def _of_status(before: Json, after: Json, why_not: Callable[[], str]) -> list[Cause]:
    old, new = before.get("status", {}), after.get("status", {})
    causes: list[Cause] = []
    changes = any(old.get(key) != new.get(key) for key in ("allocation", "reservedFor"))
    if changes and (why := why_not()):
        causes.append(
            (
                "FieldValueForbidden",
                "status.allocation",
                "Forbidden: changing status.allocation or status.reservedFor requires "
                f'resource="resourceclaims/binding", verb="patch" permission: {why}',
            )
        )
    reserved, allocation = new.get("reservedFor") or [], new.get("allocation")
    if len(reserved) > MOST_CONSUMERS:
        what = f"Too many: {len(reserved)}: must have at most {MOST_CONSUMERS} items"
        causes.append(("FieldValueTooMany", "status.reservedFor", what))
    if reserved and allocation is None:
        what = "Forbidden: may not be specified when `allocated` is not set"
        causes.append(("FieldValueForbidden", "status.reservedFor", what))
    added = [each for each in reserved if each not in (old.get("reservedFor") or [])]
    if added and before["metadata"].get("deletionTimestamp"):
        what = "Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        causes.append(("FieldValueForbidden", "status.reservedFor", what))
    if allocation is not None and old.get("allocation") is not None:
        if allocation != old["allocation"]:
            causes.append(_immutable("status.allocation"))
    elif allocation is not None:
        causes += _of_allocation(allocation, before["spec"])
    return causes


def _immutable(field: str) -> Cause:
    return "FieldValueInvalid", field, f"Invalid value: …: {IMMUTABLE}"


def _of_allocation(allocation: Json, spec: Json) -> list[Cause]:
    names = {each["name"] for each in spec["devices"].get("requests", [])}
    causes: list[Cause] = []
    for at, result in enumerate(allocation["devices"].get("results", [])):
        name = result.get("request", "")
        if name.partition("/")[0] not in names:
            field = f"status.allocation.devices.results[{at}].request"
            what = (
                f'Invalid value: "{name}": must be the name of a request in the claim or the name of a request and a '
                "subrequest separated by '/'"
            )
            causes.append(("FieldValueInvalid", field, what))
    for at, entry in enumerate(allocation["devices"].get("config", [])):
        if "parameters" not in entry.get("opaque", {}):
            field = f"status.allocation.devices.config[{at}].opaque.parameters"
            causes.append(("FieldValueRequired", field, "Required value"))
    return causes


def without_stale_devices(before: Json, after: Json) -> Json:
    """What drivers said of devices that are not allocated any more goes with them."""
    status = after.get("status", {})
    if not status.get("devices"):
        return after
    freed = _devices(before) - _devices(after)
    left = [each for each in status["devices"] if (each["driver"], each["pool"], each["device"]) not in freed]
    kept = {key: value for key, value in status.items() if key != "devices"}
    return {**after, "status": {**kept, **({"devices": left} if left else {})}}


def _devices(claim: Json) -> set[tuple[str, str, str]]:
    allocation = claim.get("status", {}).get("allocation") or {}
    results = allocation.get("devices", {}).get("results", [])
    return {(each["driver"], each["pool"], each["device"]) for each in results}
