"""What a device's driver says about it in the status of the ResourceClaim that it is allocated to, said by command."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from framework.objects import ResourceClaim
from framework.objects.devices import (
    AllocatedDeviceStatus,
    DeviceCondition,
    DeviceRequestAllocationResult,
)
from framework.scheduler import Cluster
from framework.scheduler.cluster import rfc3339
from framework.sentences import sentence
from schedweb.engine import commands
from schedweb.engine.world import Refused

MOST_CONDITIONS: Final = 8
"""Of one device (API server, ``AllocatedDeviceStatusMaxConditions``)."""


def claim_with(cluster: Cluster, command: commands.DeviceCondition) -> ResourceClaim:
    """The claim that the device is allocated to. Raises Refused."""
    claim = cluster.get(ResourceClaim, command.namespace, command.name)
    if claim is None:
        raise Refused(f'resourceclaims "{command.name}" not found in namespace "{command.namespace}"')
    _allocated(claim, command)
    others = {each.type for each in _status(claim, command).conditions} - {command.condition}
    if len(others) >= MOST_CONDITIONS:
        full = sentence(
            "device {device} has {count} conditions already, no more fit", device=_name(command), count=len(others)
        )
        raise Refused(full)
    return claim


def with_device_condition(claim: ResourceClaim, command: commands.DeviceCondition, now: int) -> ResourceClaim:
    """``now``: nanoseconds. The time of the transition stays when the status does."""
    known = _status(claim, command)
    before = next((each for each in known.conditions if each.type == command.condition), None)
    same = before is not None and before.status == command.status
    condition = DeviceCondition(
        type=command.condition,
        status=command.status,
        reason=command.reason or "SetByHand",
        message=command.message,
        last_transition_time=before.last_transition_time if before is not None and same else rfc3339(now),
    )
    conditions = [condition if each is before else each for each in known.conditions]
    if before is None:
        conditions.append(condition)
    new = replace(known, conditions=tuple(conditions))
    devices = [new if each is known else each for each in claim.status.devices]
    if known not in claim.status.devices:
        devices.append(new)
    return replace(claim, status=replace(claim.status, devices=tuple(devices)))


def _allocated(claim: ResourceClaim, command: commands.DeviceCondition) -> DeviceRequestAllocationResult:
    results = () if claim.status.allocation is None else claim.status.allocation.devices.results
    for result in results:
        if (result.driver, result.pool, result.device) == (command.driver, command.pool, command.device):
            return result
    raise Refused(sentence("device {device} is not allocated to claim {claim}", device=_name(command), claim=claim.key))


def _status(claim: ResourceClaim, command: commands.DeviceCondition) -> AllocatedDeviceStatus:
    """What is said of the device so far."""
    for status in claim.status.devices:
        if (status.driver, status.pool, status.device) == (command.driver, command.pool, command.device):
            return status
    share = _allocated(claim, command).share_id
    return AllocatedDeviceStatus(driver=command.driver, pool=command.pool, device=command.device, share_id=share)


def _name(command: commands.DeviceCondition) -> str:
    return f"{command.driver}/{command.pool}/{command.device}"
