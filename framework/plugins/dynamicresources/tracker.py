"""ClaimTracker: what is taken, one instance for all profiles (upstream ``dra_manager.go``, ``allocateddevices.go``).

Allocations stand in the claims' status, but for those between Reserve and PreBind, which are kept here ("in flight").
Upstream's assume cache has no counterpart: in our cluster a write is seen before it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from framework.objects import ResourceClaim
from framework.objects.devices import AllocationResult
from framework.objects.quantity import parse_quantity
from framework.plugins.dynamicresources import capacity
from framework.plugins.dynamicresources.devices import AllocatedState, DeviceId

TRACKER: Final = "claims in flight"


@dataclass(slots=True)
class InFlight:
    claim: ResourceClaim
    sharers: int = 1


class ClaimTracker:
    def __init__(self) -> None:
        self._in_flight: dict[str, InFlight] = {}
        """By the claim's uid."""

    def pending(self, uid: str) -> AllocationResult | None:
        found = self._in_flight.get(uid)
        return None if found is None else found.claim.status.allocation

    def signal(self, uid: str, claim: ResourceClaim) -> None:
        """The claim, with its allocation, is in flight; once more when it was already."""
        known = self._in_flight.get(uid)
        if known is None:
            self._in_flight[uid] = InFlight(claim)
        else:
            known.sharers += 1

    def remove(self, uid: str, *, force: bool = False) -> None:
        known = self._in_flight.get(uid)
        if known is None:
            return
        if force or known.sharers == 1:
            del self._in_flight[uid]
        else:
            known.sharers -= 1

    def allocated(self, claims: Sequence[ResourceClaim], *, consumable_capacity: bool) -> AllocatedState:
        state = AllocatedState()
        for claim in claims:
            if claim.status.allocation is not None:
                _add(state, claim.status.allocation, consumable_capacity)
        for each in self._in_flight.values():
            if each.claim.status.allocation is not None:
                _add(state, each.claim.status.allocation, consumable_capacity)
        return state


def _add(state: AllocatedState, allocation: AllocationResult, consumable_capacity: bool) -> None:
    for result in allocation.devices.results:
        if result.admin_access:
            continue
        device = DeviceId(result.driver, result.pool, result.device)
        if not consumable_capacity or result.share_id is None:
            state.devices.add(device)
            continue
        state.shared.add(device)
        if result.consumed_capacity is not None:
            amounts = {name: parse_quantity(raw) for name, raw in result.consumed_capacity.items()}
            capacity.add(state.capacities.setdefault(device, {}), amounts)
