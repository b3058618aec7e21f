"""Allocator: which devices could serve a pod's claims on one node (docs/semantics/devices.md#allocation).

Upstream has three allocators and takes the first that can do what the feature gates ask for; with 1.36's defaults that
is "incubating". The first solution of its search is chosen, so the order in which it looks is part of the result:
pools by driver and name, slices by name, devices as listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from framework.objects import Node, ResourceClaim, ResourceSlice
from framework.objects.devices import (
    ALL_DEVICES,
    ALLOCATION_RESULTS_MAX_SIZE,
    EXACT_COUNT,
    AllocationResult,
    DeviceClass,
)
from framework.plugins.dynamicresources import capacity, results
from framework.plugins.dynamicresources.constraints import Constraint, DistinctAttribute, MatchAttribute
from framework.plugins.dynamicresources.devices import (
    AllocatedState,
    DeviceId,
    Features,
    Request,
    exact_request,
    sub_request,
)
from framework.plugins.dynamicresources.pools import AllocationError, Pool, gather_pools
from framework.plugins.dynamicresources.search import DeviceCandidate, DeviceSearch, RequestKey, RequestState

FindClass = Callable[[str], DeviceClass | None]


class NoDevicesOnNode(Exception):
    """No solution on this node; the text says more than that, and other nodes may still do."""


@dataclass(slots=True)
class Allocator:
    """One pod's: what is taken does not change while its nodes are tried."""

    features: Features
    allocated: AllocatedState
    find_class: FindClass
    slices: Sequence[ResourceSlice]
    counters: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """Pool name → counter set → counter → what is left of it, in billionths. Kept from node to node, and by the name of
    the pool alone: pools of two drivers that are named alike share it (upstream's ``availableCounters``)."""
    _by_node: dict[str, list[ResourceSlice]] = field(default_factory=dict)
    _shared: list[ResourceSlice] = field(default_factory=list)

    def __post_init__(self) -> None:
        for each in self.slices:
            if each.spec.node_name and not each.spec.shared_counters:
                self._by_node.setdefault(each.spec.node_name, []).append(each)
            else:
                self._shared.append(each)

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> list[AllocationResult] | None:
        """One result per claim; None when there is no solution. Raises NoDevicesOnNode and AllocationError."""
        here = [*self._by_node.get(node.metadata.name, ()), *self._shared]
        try:
            pools = gather_pools(here, node, self.features, self.slices)
        except AllocationError as error:
            raise AllocationError(f"gather pool information: {error}") from error
        search = DeviceSearch(self.features, self.allocated, self.counters, node, claims, pools)
        for index, claim in enumerate(claims):
            least = self._prepare(search, index, claim)
            if least > ALLOCATION_RESULTS_MAX_SIZE:
                raise AllocationError(
                    f"claim {claim.key}: number of requested devices {least} "
                    f"exceeds the claim limit of {ALLOCATION_RESULTS_MAX_SIZE}"
                )
            search.constraints.append(_constraints(claim))
        if not search.run():
            if any(pool.invalid for pool in pools):
                raise NoDevicesOnNode("invalid resource pools were encountered")
            return None
        conditions = self.features.binding_conditions
        return [
            results.allocation(search.results[i], search.chosen(i), claim, node.metadata.name, conditions)
            for i, claim in enumerate(claims)
        ]

    def _prepare(self, search: DeviceSearch, index: int, claim: ResourceClaim) -> int:
        """Looks up classes and, for "All", devices. The least number of devices that the claim needs."""
        least = 0
        for position, request in enumerate(claim.spec.devices.requests):
            if request.first_available and not self.features.prioritized_list:
                raise AllocationError(
                    f"claim {claim.key}, request {request.name}: has subrequests, "
                    "but the DRAPrioritizedList feature is disabled"
                )
            self._refuse_capacity(claim, request.first_available, request.exactly, request.name)
            if request.first_available:
                fewest = []
                for i, sub in enumerate(request.first_available):
                    key = RequestKey(index, position, i)
                    fewest.append(self._prepare_one(search, key, sub_request(request, sub)))
                least += min(fewest)
            else:
                least += self._prepare_one(search, RequestKey(index, position, 0), exact_request(request))
        return least

    def _refuse_capacity(self, claim: ResourceClaim, subs: Sequence[object], exact: object, name: str) -> None:
        if self.features.consumable_capacity:
            return
        disabled = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if getattr(exact, "capacity", None) is not None:
            raise AllocationError(f"claim {claim.key}, request {name}: {disabled}")
        for sub in subs:
            if getattr(sub, "capacity", None) is not None:
                raise AllocationError(f"claim {claim.key}, subrequest {getattr(sub, 'name', '')}: {disabled}")

    def _prepare_one(self, search: DeviceSearch, key: RequestKey, request: Request) -> int:
        where = f"claim {search.claims[key.claim].key}, request {request.name}"
        for i, selector in enumerate(request.selectors):
            if selector.cel is None:
                raise AllocationError(f"{where}, selector #{i}: CEL expression empty (unsupported selector type?)")
        if not self.features.admin_access and request.asks_admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if not request.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self.find_class(request.device_class_name)
        if device_class is None:
            missing = f'deviceclass.resource.k8s.io "{request.device_class_name}" not found'
            raise AllocationError(f"{where}: could not retrieve device class {request.device_class_name}: {missing}")
        state = RequestState(request, device_class)
        search.requests[key] = state
        if request.mode == EXACT_COUNT:
            state.wanted = request.count
        elif request.mode == ALL_DEVICES:
            state.every = self._every_device(search, key, state, where)
            state.wanted = len(state.every)
        else:
            raise AllocationError(f"{where}: unsupported count mode {request.mode}")
        return state.wanted

    def _every_device(
        self, search: DeviceSearch, key: RequestKey, state: RequestState, where: str
    ) -> list[DeviceCandidate]:
        found = []
        for pool in search.pools:
            _complete(pool, where)
            for each in pool.slices:
                for device in each.spec.devices:
                    if not search.selectable(key, state, each, device):
                        continue
                    candidate = DeviceCandidate(DeviceId(*pool.id, device.name), device, each, pool)
                    if self.features.consumable_capacity and not capacity.fits(
                        self.allocated.capacities.get(candidate.id), state.request.capacity, device, None
                    ):
                        continue
                    found.append(candidate)
        return found


def _complete(pool: Pool, where: str) -> None:
    text = f"{where}: asks for all devices, but resource pool {pool.id} is currently"
    if pool.incomplete:
        raise AllocationError(f"{text} being updated")
    if pool.invalid:
        raise AllocationError(f"{text} invalid")


def _constraints(claim: ResourceClaim) -> list[Constraint]:
    made: list[Constraint] = []
    for i, constraint in enumerate(claim.spec.devices.constraints):
        requests = frozenset(constraint.requests)
        if constraint.match_attribute is not None:
            made.append(MatchAttribute(constraint.match_attribute, requests))
        elif constraint.distinct_attribute is not None:
            made.append(DistinctAttribute(constraint.distinct_attribute, requests))
        else:
            raise AllocationError(
                f"claim {claim.key}, constraint #{i}: empty constraint (unsupported constraint type?)"
            )
    return made
