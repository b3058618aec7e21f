"""ClaimTracker: what is taken, one instance for all profiles (docs/semantics/devices.md).

Allocations stand in the claims' status, but for those between Reserve and PreBind, which are kept here ("in flight").
Upstream's assume cache has no counterpart: in our cluster a write is seen before it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from framework.objects import ResourceClaim
from framework.objects.devices import AllocationResult, DeviceRequestAllocationResult
from framework.objects.quantity import parse_quantity
from framework.plugins.dynamicresources import capacity
from framework.plugins.dynamicresources.devices import AllocatedState, Capacities, DeviceId

TRACKER: Final = "claims in flight"


@dataclass(slots=True)
class InFlightClaims:
    claim: ResourceClaim
    sharers: int = 1


class ClaimTracker:
    def __init__(self) -> None:
        self._in_flight: dict[str, InFlightClaims] = {}
        """By the claim's uid."""
        self._published = _Sum(consumable_capacity=True)

    # --- in flight --------------------------------------------------------------------------------------------------

    def pending(self, uid: str) -> AllocationResult | None:
        found = self._in_flight.get(uid)
        return None if found is None else found.claim.status.allocation

    def signal(self, uid: str, claim: ResourceClaim) -> None:
        """The claim, with its allocation, is in flight; once more when it was already."""
        known = self._in_flight.get(uid)
        if known is None:
            self._in_flight[uid] = InFlightClaims(claim)
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

    # --- what is taken ----------------------------------------------------------------------------------------------

    def allocated(self, claims: Sequence[ResourceClaim], *, consumable_capacity: bool) -> AllocatedState:
        """By all claims of the cluster and by those in flight. Only claims that changed are looked into."""
        if self._published.consumable_capacity != consumable_capacity:
            self._published = _Sum(consumable_capacity)
        self._published.follow(claims)
        state = self._published.state()
        for each in self._in_flight.values():
            for device, amounts in _taken(each.claim, consumable_capacity):
                if amounts is None:
                    state.devices.add(device)
                    continue
                state.shared.add(device)
                if amounts:
                    capacity.add(state.capacities.setdefault(device, {}), amounts)
        return state


class _Sum:
    """Devices of published allocations.

    As upstream's event handlers see them: an allocation counts when it appears and no more when it is gone. A device in
    two claims (written by hand) is free when one of them goes.
    """

    def __init__(self, consumable_capacity: bool) -> None:
        self.consumable_capacity = consumable_capacity
        self._known: dict[str, ResourceClaim] = {}
        """Claims with an allocation, by uid."""
        self._devices: set[DeviceId] = set()
        self._shared: dict[DeviceId, int] = {}
        """How many shares there are."""
        self._capacities: dict[DeviceId, Capacities] = {}

    def follow(self, claims: Sequence[ResourceClaim]) -> None:
        allocated = {claim.uid or claim.key: claim for claim in claims if claim.status.allocation is not None}
        known = self._known
        for uid in [uid for uid, claim in known.items() if not _is_still(claim, allocated.get(uid))]:
            self._forget(known.pop(uid))
        for uid, claim in allocated.items():
            if uid not in known:
                self._add(claim)
        self._known = allocated

    def state(self) -> AllocatedState:
        capacities = {device: dict(amounts) for device, amounts in self._capacities.items()}
        return AllocatedState(set(self._devices), set(self._shared), capacities)

    def _add(self, claim: ResourceClaim) -> None:
        for device, amounts in _taken(claim, self.consumable_capacity):
            if amounts is None:
                self._devices.add(device)
                continue
            self._shared[device] = self._shared.get(device, 0) + 1
            if amounts:
                capacity.add(self._capacities.setdefault(device, {}), amounts)

    def _forget(self, claim: ResourceClaim) -> None:
        for device, amounts in _taken(claim, self.consumable_capacity):
            if amounts is None:
                self._devices.discard(device)
                continue
            self._shared[device] -= 1
            if not self._shared[device]:
                del self._shared[device]
            total = self._capacities.get(device)
            if total is None:
                continue
            capacity.subtract(total, amounts)
            if all(amount.nanos == 0 for amount in total.values()):
                del self._capacities[device]


def _is_still(old: ResourceClaim, new: ResourceClaim | None) -> bool:
    if new is None or new is old:
        return new is old
    before, after = old.status.allocation, new.status.allocation
    return before is after or (before is not None and after is not None and before.devices == after.devices)


def _taken(claim: ResourceClaim, consumable_capacity: bool) -> Iterator[tuple[DeviceId, Capacities | None]]:
    """(device, capacity taken of it); None: all of it. Devices with admin access are not taken."""
    assert claim.status.allocation is not None
    for result in claim.status.allocation.devices.results:
        if not result.admin_access:
            yield DeviceId(result.driver, result.pool, result.device), _amounts(result, consumable_capacity)


def _amounts(result: DeviceRequestAllocationResult, consumable_capacity: bool) -> Capacities | None:
    if not consumable_capacity or result.share_id is None:
        return None
    return {name: parse_quantity(raw) for name, raw in (result.consumed_capacity or {}).items()}
