"""The tracker keeps up with claims that come, change and go; the same is found by looking at all of them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from framework.objects import ObjectMeta, ResourceClaim
from framework.objects.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from framework.plugins.dynamicresources.devices import AllocatedState, DeviceId
from framework.plugins.dynamicresources.tracker import ClaimTracker

Result = tuple[str, str, int]
"""(device, "whole" | "part" | "admin", how much)."""
RESULTS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(("whole", "part", "admin")), st.integers(1, 9)), max_size=3
)


def claim(name: str, results: list[Result] | None) -> ResourceClaim:
    made = None
    if results is not None:
        listed = tuple(
            DeviceRequestAllocationResult(
                driver="d",
                pool="p",
                device=device,
                admin_access=kind == "admin" or None,
                share_id=f"{name}-{i}" if kind == "part" else None,
                consumed_capacity={"memory": str(amount)} if kind == "part" else None,
            )
            for i, (device, kind, amount) in enumerate(results)
        )
        made = AllocationResult(devices=DeviceAllocationResult(results=listed))
    return ResourceClaim(
        metadata=ObjectMeta(name=name, namespace="default", uid=name), status=ResourceClaimStatus(allocation=made)
    )


def shown(state: AllocatedState) -> tuple[list[DeviceId], list[DeviceId], dict[DeviceId, dict[str, int]]]:
    capacities = {d: {n: q.nanos for n, q in amounts.items()} for d, amounts in state.capacities.items()}
    return sorted(state.devices), sorted(state.shared), capacities


@given(st.lists(st.tuples(st.sampled_from("123"), st.one_of(st.none(), st.just("gone"), RESULTS)), max_size=12))
@settings(max_examples=200, deadline=None)
def test_it_keeps_up(changes: list[tuple[str, list[Result] | str | None]]) -> None:
    tracker, claims = ClaimTracker(), dict[str, ResourceClaim]()
    for name, change in changes:
        if change == "gone":
            claims.pop(name, None)
        else:
            assert not isinstance(change, str)
            # An allocation does not change (the API server sees to it): it goes, or another one comes.
            tracker.allocated([each for each in claims.values() if each.name != name], consumable_capacity=True)
            own = None if change is None else [(f"{d}{name}" if k == "whole" else d, k, n) for d, k, n in change]
            claims[name] = claim(name, own)
        now = list(claims.values())
        assert shown(tracker.allocated(now, consumable_capacity=True)) == shown(
            ClaimTracker().allocated(now, consumable_capacity=True)
        )


def test_what_is_in_flight_counts_until_it_is_removed() -> None:
    tracker = ClaimTracker()
    reserved = claim("1", [("a", "whole", 1)])
    tracker.signal("1", reserved)
    tracker.signal("1", reserved)
    assert tracker.pending("1") is reserved.status.allocation
    tracker.remove("1")
    assert tracker.allocated([], consumable_capacity=True).devices == {DeviceId("d", "p", "a")}
    tracker.remove("1")
    assert tracker.allocated([], consumable_capacity=True).devices == set()


def test_without_shared_capacity_a_shared_device_is_taken() -> None:
    shared = [claim("1", [("a", "part", 1)])]
    assert ClaimTracker().allocated(shared, consumable_capacity=False).devices == {DeviceId("d", "p", "a")}


def test_two_claims_for_one_device_and_one_goes() -> None:
    """Upstream keeps a set (allocateddevices.go); only claims written by hand get there."""
    tracker = ClaimTracker()
    both = [claim("1", [("a", "whole", 1)]), claim("2", [("a", "whole", 1)])]
    tracker.allocated(both, consumable_capacity=True)
    assert tracker.allocated(both[:1], consumable_capacity=True).devices == set()
