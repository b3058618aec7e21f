"""The search for devices (docs/semantics/devices.md#allocation; upstream ``allocateOne``, ``allocateDevice``).

Depth first over claims, requests, devices; the first full solution wins. Where upstream gives up on a device it does
not always give back what it had noted for it; that changes which solutions are found later, so it is done alike here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from framework.objects import Node, ResourceClaim, ResourceSlice
from framework.objects.devices import (
    ALL_DEVICES,
    ALLOCATION_RESULTS_MAX_SIZE,
    Device,
    DeviceClass,
    DeviceTaint,
    DeviceToleration,
)
from framework.objects.quantity import Quantity, parse_quantity
from framework.plugins.dynamicresources import capacity
from framework.plugins.dynamicresources.constraints import Constraint
from framework.plugins.dynamicresources.devices import AllocatedState, Capacities, DeviceId, Features, Request
from framework.plugins.dynamicresources.pools import AllocationError, Pool, node_matches
from framework.plugins.dynamicresources.selecting import selected

PREVENTING_EFFECTS: Final = ("NoExecute", "NoSchedule")
CounterValues = dict[str, dict[str, int]]
"""Counter set → counter → amount in billionths."""


class TooManyDevices(Exception):
    """The claim would get more devices than a result can hold; fewer are wanted by another subrequest, perhaps."""


class RequestKey(NamedTuple):
    claim: int
    request: int
    sub: int


@dataclass(frozen=True, slots=True, eq=False)
class DeviceCandidate:
    id: DeviceId
    device: Device
    slice: ResourceSlice
    pool: Pool


@dataclass(slots=True)
class RequestState:
    request: Request
    device_class: DeviceClass
    wanted: int = 0
    every: list[DeviceCandidate] = field(default_factory=list)
    """The devices of a request for all."""
    selected_sub: int = 0
    """Of the first subrequest's entry: which one was chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A device in the result."""

    request: Request
    id: DeviceId
    device: Device
    slice: ResourceSlice
    shared: bool
    consumed: Capacities


class SearchStart(NamedTuple):
    """Where to begin looking: positions of pool, slice and device."""

    pool: int = 0
    slice: int = 0
    device: int = 0


START: Final = SearchStart()


@dataclass(slots=True)
class DeviceSearch:
    features: Features
    allocated: AllocatedState
    available: dict[str, CounterValues]
    node: Node
    claims: Sequence[ResourceClaim]
    pools: Sequence[Pool]
    constraints: list[list[Constraint]] = field(default_factory=list)
    requests: dict[RequestKey, RequestState] = field(default_factory=dict)
    results: list[list[Taken]] = field(default_factory=list)
    _matches: dict[tuple[DeviceId, RequestKey], bool] = field(default_factory=dict)
    _allocating: dict[DeviceId, set[int]] = field(default_factory=dict)
    """Device → positions of the claims that it would go to."""
    _allocating_capacity: dict[DeviceId, Capacities] = field(default_factory=dict)
    _consumed: dict[str, CounterValues] = field(default_factory=dict)
    """Pool name → counters used up by what was found so far."""

    def run(self) -> bool:
        self.results = [[] for _ in self.claims]
        try:
            return self._next_request(0, 0)
        except TooManyDevices:
            raise AllocationError("allocation max size exceeded") from None

    def chosen(self, claim: int) -> list[RequestState]:
        """Per request of the claim the request itself, or the subrequest that was chosen."""
        keys = (RequestKey(claim, i, 0) for i in range(len(self.claims[claim].spec.devices.requests)))
        return [self.requests[key._replace(sub=self.requests[key].selected_sub)] for key in keys]

    # --- claims and requests ----------------------------------------------------------------------------------------

    def _next_request(self, claim: int, request: int) -> bool:
        if claim >= len(self.claims):
            return True
        if request >= len(self.claims[claim].spec.devices.requests):
            try:
                return self._next_request(claim + 1, 0)
            except TooManyDevices:
                return False
        key = RequestKey(claim, request, 0)
        state = self.requests[key]
        if not state.request.parent:
            return self._next_device(key, 0, START)
        always_too_many = True
        sub = 0
        while (tried := RequestKey(claim, request, sub)) in self.requests:
            try:
                if self._next_device(tried, 0, START):
                    state.selected_sub = sub
                    return True
                always_too_many = False
            except TooManyDevices:
                pass
            sub += 1
        if always_too_many:
            raise TooManyDevices
        return False

    def _next_device(self, key: RequestKey, index: int, start: SearchStart) -> bool:
        """The ``index``-th device of the request, looked for from ``start`` on."""
        state = self.requests[key]
        if state.request.mode == ALL_DEVICES and not state.every:
            return False
        if index >= state.wanted:
            return self._next_request(key.claim, key.request + 1)
        if len(self.results[key.claim]) + state.wanted - index > ALLOCATION_RESULTS_MAX_SIZE:
            raise TooManyDevices
        if state.request.mode == ALL_DEVICES:
            give_back = self._take(key, state.request, state.every[index], must=True)
            return give_back is not None and self._go_on(key, index, START, give_back)
        for p in range(start.pool, len(self.pools)):
            pool = self.pools[p]
            if pool.incomplete or pool.invalid:
                continue
            first_slice = start.slice if p == start.pool else 0
            for s in range(first_slice, len(pool.slices)):
                each = pool.slices[s]
                devices = each.spec.devices
                first_device = start.device if p == start.pool and s == start.slice else 0
                for d in range(first_device, len(devices)):
                    candidate = DeviceCandidate(DeviceId(*pool.id, devices[d].name), devices[d], each, pool)
                    if not self._usable(key, state, candidate):
                        continue
                    give_back = self._take(key, state.request, candidate, must=False)
                    if give_back is not None and self._go_on(key, index, SearchStart(p, s, d + 1), give_back):
                        return True
        return False

    def _go_on(self, key: RequestKey, index: int, start: SearchStart, give_back: Callable[[], None]) -> bool:
        try:
            done = self._next_device(key, index + 1, start)
        except (TooManyDevices, AllocationError):
            give_back()
            raise
        if not done:
            give_back()
        return done

    # --- one device -------------------------------------------------------------------------------------------------

    def _usable(self, key: RequestKey, state: RequestState, candidate: DeviceCandidate) -> bool:
        if self._in_use(state.request, candidate.id, key.claim):
            return False
        if not self.selectable(key, state, candidate.slice, candidate.device):
            return False
        return not self.features.consumable_capacity or self._has_capacity(state.request, candidate)

    def _in_use(self, request: Request, device: DeviceId, claim: int) -> bool:
        """With admin access only the claim's own devices count."""
        mine = self._allocating.get(device)
        if request.admin_access:
            return mine is not None and claim in mine
        return device in self.allocated.devices or bool(mine)

    def _has_capacity(self, request: Request, candidate: DeviceCandidate) -> bool:
        return capacity.fits(
            self.allocated.capacities.get(candidate.id),
            request.capacity,
            candidate.device,
            self._allocating_capacity.get(candidate.id),
        )

    def selectable(self, key: RequestKey, state: RequestState, each: ResourceSlice, device: Device) -> bool:
        """Selectors of class and request, and the device's own nodes. Raises AllocationError."""
        if not self.features.binding_conditions and device.binding_conditions:
            return False
        device_id = DeviceId(each.spec.driver, each.spec.pool.name, device.name)
        known = self._matches.get((device_id, key))
        if known is None:
            known = self._is_selectable(key, state, each, device)
            self._matches[device_id, key] = known
        return known

    def _is_selectable(self, key: RequestKey, state: RequestState, each: ResourceSlice, device: Device) -> bool:
        of_class = f"class {state.device_class.name}"
        of_claim = f"claim {self.claims[key.claim].key}"
        if not selected(state.device_class.spec.selectors, each.spec.driver, device, of_class):
            return False
        if not selected(state.request.selectors, each.spec.driver, device, of_claim):
            return False
        if each.spec.per_device_node_selection:
            return node_matches(self.node, device.node_name, device.all_nodes, device.node_selector)
        return True

    def _take(
        self, key: RequestKey, request: Request, candidate: DeviceCandidate, *, must: bool
    ) -> Callable[[], None] | None:
        """Notes the device as taken; what gives it back, or None when it cannot be had. Raises AllocationError."""
        device, claim = candidate.device, key.claim
        many = self.features.consumable_capacity and device.allow_multiple_allocations is True
        if not (many and request.admin_access) and self._in_use(request, candidate.id, claim):
            return None
        if not self.features.partitionable_devices and device.consumes_counters:
            return None
        in_part = many and (candidate.id in self.allocated.capacities or candidate.id in self._allocating_capacity)
        if not in_part and device.consumes_counters and not self._counters_left(candidate):
            return None
        # From here on upstream keeps the counters noted when the device is refused after all.
        if self.features.device_taints and _is_kept_off(device.taints, request.tolerations):
            return None
        constraints = self.constraints[claim]
        for i, constraint in enumerate(constraints):
            if constraint.add(request, device, candidate.id):
                continue
            if must:
                raise AllocationError(
                    f"claim {self.claims[claim].key}, request {request.name}: cannot add device {candidate.id} "
                    "because a claim constraint would not be satisfied"
                )
            for earlier in constraints[:i]:
                earlier.remove(request)
            return None
        mine = self._allocating.setdefault(candidate.id, set())
        if not many:
            mine.add(claim)
        consumed: Capacities = {}
        if self.features.consumable_capacity:
            if not self._has_capacity(request, candidate):
                return None  # without giving back constraints and device: upstream
            if many:
                consumed = capacity.consumed_capacity(request.capacity, device)
                capacity.add(self._allocating_capacity.setdefault(candidate.id, {}), consumed)
        results = self.results[claim]
        before = len(results)
        results.append(Taken(request, candidate.id, device, candidate.slice, many, consumed))

        def give_back() -> None:
            for constraint in constraints:
                constraint.remove(request)
            mine.discard(claim)
            if many:
                self._release(candidate.id, consumed)
            elif self.features.partitionable_devices and device.consumes_counters:
                self._give_counters_back(candidate)
            del results[before:]

        return give_back

    def _release(self, device: DeviceId, consumed: Mapping[str, Quantity]) -> None:
        """A device without capacities stays noted as in use: upstream removes nothing for it."""
        if not consumed:
            return
        left = self._allocating_capacity.get(device)
        if left is None:
            return
        capacity.subtract(left, consumed)
        if all(amount.nanos == 0 for amount in left.values()):
            del self._allocating_capacity[device]

    # --- counters ---------------------------------------------------------------------------------------------------

    def _counters_left(self, candidate: DeviceCandidate) -> bool:
        """Notes the device's counters as used up, if there is enough of all."""
        name = candidate.pool.id.pool
        available = self.available.get(name)
        if available is None:
            available = self.available[name] = self._available_counters(candidate.pool)
        consumed = self._consumed.setdefault(name, {})
        for consumption in candidate.device.consumes_counters:
            mine = consumed.setdefault(consumption.counter_set, {})
            for counter, amount in consumption.counters.items():
                mine[counter] = mine.get(counter, 0) + parse_quantity(amount.value).nanos
        for counter_set, counters in available.items():
            used = consumed.get(counter_set, {})
            if any(left < used.get(counter, 0) for counter, left in counters.items()):
                self._give_counters_back(candidate)
                return False
        return True

    def _available_counters(self, pool: Pool) -> CounterValues:
        available = {
            name: {counter: parse_quantity(amount.value).nanos for counter, amount in each.counters.items()}
            for name, each in pool.counter_sets.items()
        }
        for each in (*pool.slices, *pool.slices_elsewhere):
            for device in each.spec.devices:
                if not self.allocated.is_allocated(DeviceId(each.spec.driver, each.spec.pool.name, device.name)):
                    continue
                for consumption in device.consumes_counters:
                    left = available.get(consumption.counter_set, {})
                    for counter, amount in consumption.counters.items():
                        if counter in left:
                            left[counter] -= parse_quantity(amount.value).nanos
        return available

    def _give_counters_back(self, candidate: DeviceCandidate) -> None:
        consumed = self._consumed.get(candidate.pool.id.pool, {})
        for consumption in candidate.device.consumes_counters:
            mine = consumed.get(consumption.counter_set, {})
            for counter, amount in consumption.counters.items():
                mine[counter] = mine.get(counter, 0) - parse_quantity(amount.value).nanos


def _is_kept_off(taints: Sequence[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> bool:
    """Effects other than these two, None included, keep nobody off."""
    return any(
        taint.effect in PREVENTING_EFFECTS and not any(_tolerates(each, taint) for each in tolerations)
        for taint in taints
    )


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Upstream ``resourceclaim.ToleratesTaint``."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
