"""DynamicResources: devices for the pod's resource claims (docs/semantics/devices.md#extension-points).

Filter has no wall clock here, so ``filterTimeout`` never strikes. Devices' binding conditions are set by people or by
whoever else writes claims' status; PreBind waits for them on the run's clock.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.configuration.durations import parse_duration
from framework.interface import (
    SKIP,
    SUCCESS,
    BoundsNormalizer,
    ClusterEventWithHint,
    Codes,
    ColumnScorePlugin,
    CycleState,
    DeviceDecision,
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    NodeInfo,
    NodeStatuses,
    Plan,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
    SignPlugin,
    StateKeyNotFound,
    Status,
    StillBinding,
    View,
    signing,
)
from framework.interface.device_counts import DEVICE_COUNTERS, DeviceCounter
from framework.interface.scores import default_normalize
from framework.objects import DeviceClass, Pod, ResourceClaim, ResourceSlice
from framework.objects.devices import FIRST_AVAILABLE_MAX_SIZE, DeviceRequest
from framework.objects.extended_resources import ClassesByResource, may_be_backed
from framework.objects.field_errors import aggregate
from framework.objects.resources import is_scalar_resource_name, pod_requests
from framework.objects.selectors import compile_node_selector
from framework.objects.timestamps import SECOND, parse_timestamp
from framework.plugins.dynamicresources import extended
from framework.plugins.dynamicresources.allocator import Allocator, NoDevicesOnNode
from framework.plugins.dynamicresources.args import DynamicResourcesArgs
from framework.plugins.dynamicresources.binding import BINDING_TIMEOUT, MOST_CONSUMERS, Binder, BindError
from framework.plugins.dynamicresources.claims import (
    BindingFailed,
    ClaimProblem,
    has_binding_conditions,
    is_ready,
    is_reserved_for,
    pod_claims,
)
from framework.plugins.dynamicresources.counting import FreeDeviceCounter
from framework.plugins.dynamicresources.devices import Features
from framework.plugins.dynamicresources.hints import Hints
from framework.plugins.dynamicresources.pools import AllocationError
from framework.plugins.dynamicresources.state import NO_CLAIMS, STATE_KEY, ClaimState, NodeAllocation
from framework.plugins.dynamicresources.tracker import TRACKER, ClaimTracker
from framework.sentences import noted

IN_USE: Final = Status.unresolvable("resourceclaim in use")
NOTHING_TO_DEALLOCATE: Final = Status.unschedulable("no new claims to deallocate")
NOT_ON_NODE: Final = Status.unresolvable("resourceclaim not available on the node")
LOOKS_EVERY: Final = 5 * SECOND
"""Upstream asks its informer for the claim this often while it waits in PreBind."""
NOT_ALL: Final = Status.unresolvable("cannot allocate all claims")


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ColumnScorePlugin,
    BoundsNormalizer,
    ReservePlugin,
    PreBindPlugin,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "DynamicResources"
    args_type: ClassVar[type[DynamicResourcesArgs]] = DynamicResourcesArgs
    description: ClassVar[str] = noted("Allocates devices for the pod's resource claims.")
    repeatable: ClassVar[bool] = True
    skip_is_final: ClassVar[bool] = True

    args: DynamicResourcesArgs

    def __init__(self, args: DynamicResourcesArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        gates = handle.feature_gates
        self._features = Features.from_gates(gates)
        self._extended = gates.enabled("DRAExtendedResource")
        self._binding_timeout = parse_duration(args.binding_timeout)
        self._tracker = handle.shared(TRACKER, ClaimTracker)
        self._binder = Binder(handle, self._tracker, self._features.binding_conditions)
        self._hints = Hints(handle.objects)
        counters: list[DeviceCounter] = handle.shared(DEVICE_COUNTERS, list)
        if not counters:
            counters.append(FreeDeviceCounter(handle.objects, self._tracker, self._features.consumable_capacity))
        self._by_resource = ClassesByResource()

    # --- queue ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return self._hints.events()

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.spec.resource_claims:
            return None
        try:
            pod_claims(pod, self.handle.objects)
        except ClaimProblem as problem:
            return Status.unresolvable(str(problem))
        return None

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return None if pod.pod.spec.resource_claims else {}

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """Pods with claims, or with requests that a claim may back, are judged one by one."""
        return None if pod.pod.spec.resource_claims or any(map(may_be_backed, pod_requests(pod.pod))) else ()

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        state.write(STATE_KEY, NO_CLAIMS)
        if not pod.pod.spec.resource_claims and not (self._extended and self._classes()):
            return None, SKIP
        try:
            mine = self._collect(pod.pod)
        except ClaimProblem as problem:
            return None, Status.unresolvable(str(problem))
        if not mine.claims:
            return None, SKIP
        for index, claim in enumerate(mine.claims):
            if (problem_status := self._check_claim(mine, index, claim, pod.pod)) is not None:
                return None, problem_status
        if mine.to_allocate():
            claims = self.handle.objects.list(ResourceClaim)
            taken = self._tracker.allocated(claims, consumable_capacity=self._features.consumable_capacity)
            mine.allocator = Allocator(self._features, taken, self._find_class, self.handle.objects.list(ResourceSlice))
        state.write(STATE_KEY, mine)
        return None, None

    def _collect(self, pod: Pod) -> ClaimState:
        claims = pod_claims(pod, self.handle.objects) if pod.spec.resource_claims else []
        mine = ClaimState(claims=claims, user_claims=len(claims))
        classes = self._classes() if self._extended else {}
        if not classes:
            return mine
        requests = pod_requests(pod)
        if any(requests[name] and may_be_backed(name) and name in classes for name in requests):
            mine.scalars = {name: amount for name, amount in requests.items() if is_scalar_resource_name(name)}
            special = extended.find_claim(pod, self.handle.objects.list(ResourceClaim)) or extended.special_claim(pod)
            mine.claims.append(special)
            mine.initial_extended_uid = special.uid
        return mine

    def _check_claim(self, mine: ClaimState, index: int, claim: ResourceClaim, pod: Pod) -> Status | None:
        allocation = claim.status.allocation
        if allocation is not None:
            if len(claim.status.reserved_for) >= MOST_CONSUMERS and not is_reserved_for(claim, pod):
                return IN_USE
            if allocation.node_selector is not None:
                matcher = compile_node_selector(allocation.node_selector)
                if matcher.errors:
                    return Status.as_error(aggregate(matcher.errors))
                mine.available_on[index] = matcher
            return None
        if self._tracker.pending(claim.uid) is not None:
            return Status.unresolvable(f"resource claim {claim.key} is in the process of being allocated")
        if claim is mine.extended:
            return None
        for request in claim.spec.devices.requests:
            if (status := self._check_request(claim, request)) is not None:
                return status
        return None

    def _check_request(self, claim: ResourceClaim, request: DeviceRequest) -> Status | None:
        where = f"resource claim {claim.key}, request {request.name}"
        if request.exactly is not None:
            return self._check_class(request.exactly.device_class_name, request.name)
        if not request.first_available:
            return Status.unresolvable(f"{where}: unknown request type")
        if not self._features.prioritized_list:
            return Status.unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for sub in request.first_available:
            if (status := self._check_class(sub.device_class_name, f"{request.name}/{sub.name}")) is not None:
                return status
        return None

    def _check_class(self, name: str, request: str) -> Status | None:
        if not name:
            return Status.as_error(f"request {request}: unsupported request type")
        if self._find_class(name) is None:
            return Status.unresolvable(f"request {request}: device class {name} does not exist")
        return None

    def _find_class(self, name: str) -> DeviceClass | None:
        return self.handle.objects.get(DeviceClass, "", name)

    def _classes(self) -> dict[str, DeviceClass]:
        """Extended resource → class."""
        return self._by_resource.for_classes(self.handle.objects.list(DeviceClass))

    # --- Filter -----------------------------------------------------------------------------------------------------

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        mine = state.read(STATE_KEY, ClaimState)
        if not mine.claims:
            return None
        allocation = NodeAllocation(())
        if mine.extended is not None:
            asked = self._ask_node(mine, pod, node)
            if isinstance(asked, Status):
                return asked
            allocation = asked
        if allocation.extended_claim is None and mine.user_claims == 0:
            return None
        unavailable = [i for i, claim in enumerate(mine.claims) if not self._is_available(mine, i, claim, node)]
        if mine.allocator is not None:
            found = self._allocate(mine, mine.allocator, node, allocation)
            if isinstance(found, Status):
                return found
            allocation = found
        if unavailable:
            mine.unavailable.update(unavailable)
            return NOT_ON_NODE
        if mine.allocator is not None:
            mine.by_node[node.name] = allocation
        return None

    def _ask_node(self, mine: ClaimState, pod: Pod, node: NodeInfo) -> NodeAllocation | Status:
        """The special claim as this node needs it; none when device plugins provide everything."""
        special = mine.extended
        assert special is not None
        if special.spec.devices.requests:
            return Status.unresolvable("cannot schedule extended resource claim")
        classes = self._classes()
        wanted = []
        for name, amount in mine.scalars.items():
            if amount == 0 or not may_be_backed(name):
                continue
            if name in classes and node.allocatable.get(name, 0) == 0:
                wanted.append(name)
            elif name not in node.allocatable:
                return Status.unresolvable("cannot fit resource")
        if (mine.user_claims == 0 and not wanted) or special.status.allocation is not None:
            return NodeAllocation(())
        requests, mappings = extended.requests_and_mappings(pod, wanted, classes)
        return NodeAllocation((), extended.with_requests(special, requests), tuple(mappings))

    def _is_available(self, mine: ClaimState, index: int, claim: ResourceClaim, node: NodeInfo) -> bool:
        where = mine.available_on.get(index)
        if where is not None and not (node.node and where.matches(node.node.metadata.labels, node.name)):
            return False
        if claim.status.allocation is None or not self._features.binding_conditions:
            return True
        try:
            return is_ready(claim) or not self._is_late(claim)
        except BindingFailed:
            return False

    def _is_late(self, claim: ResourceClaim) -> bool:
        late = self._late_after(claim)
        return late is not None and late < self.handle.now()

    def _late_after(self, claim: ResourceClaim) -> int | None:
        """When the time to bind the claim's devices is over; None without such a time."""
        allocation = claim.status.allocation
        if allocation is None or allocation.allocation_timestamp is None or not has_binding_conditions(claim):
            return None
        return parse_timestamp(allocation.allocation_timestamp) + self._binding_timeout

    def _allocate(
        self, mine: ClaimState, allocator: Allocator, node: NodeInfo, asked: NodeAllocation
    ) -> NodeAllocation | Status:
        assert node.node is not None
        claims = [
            asked.extended_claim if claim is mine.extended and asked.extended_claim is not None else claim
            for _, claim in mine.to_allocate()
        ]
        try:
            found = allocator.allocate(node.node, claims)
        except NoDevicesOnNode as reason:
            return Status.unresolvable(str(reason))
        except AllocationError as error:
            return Status.as_error(str(error))
        if found is None:
            return NOT_ALL
        return NodeAllocation(tuple(found), asked.extended_claim, asked.mappings)

    # --- PostFilter -------------------------------------------------------------------------------------------------

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        mine = state.read(STATE_KEY, ClaimState)
        if not mine.claims:
            return None, NOTHING_TO_DEALLOCATE
        unavailable = [mine.claims[i] for i in sorted(mine.unavailable)]
        helpful = [claim for claim in unavailable if claim is not mine.extended and _used_by_nobody_else(claim, pod)]
        if helpful:
            claim = helpful[self.handle.random_below(len(helpful))]
            if (error := self._binder.deallocate(claim)) is not None:
                return None, Status.as_error(error)
            return None, Status.unschedulable("deallocation of ResourceClaim completed")
        special = mine.extended
        if special is not None and special.name != extended.IN_MEMORY_NAME:
            if (error := self._binder.delete(special)) is not None:
                return None, Status.as_error(error)
            return None, Status.unschedulable("deletion of ResourceClaim completed")
        return None, Status.unschedulable("still not schedulable")

    # --- Score ------------------------------------------------------------------------------------------------------

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        mine = state.read(STATE_KEY, ClaimState)
        if not mine.claims or not self._features.prioritized_list:
            return Plan(_zeros, (view.eligible((), None, None),), ())
        scores = {node: _score(mine.claims, found) for node, found in mine.by_node.items()}

        def kernel(names: Codes) -> NDArray[np.int64]:
            table = np.array([scores.get(name, 0) for name in names.values], dtype=np.int64)
            return table[names.codes] if len(table) else np.zeros(len(names.codes), dtype=np.int64)

        return Plan(kernel, (view.name(),), tuple(scores.items()))

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return default_normalize(scores, highest, reverse=False)

    # --- Reserve ----------------------------------------------------------------------------------------------------

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        mine = state.read(STATE_KEY, ClaimState)
        wanted = mine.to_allocate()
        if not wanted or mine.allocator is None:
            return None
        found = mine.by_node.get(node_name)
        mine.allocator = None
        mine.by_node = {} if found is None else {node_name: found}
        if found is None or not found.results:
            if all(claim is mine.extended for _, claim in wanted):
                return None
            return Status.as_error("claim allocation not found for node")
        if len(found.results) != len(wanted):
            return Status.as_error(
                f"internal error, have {len(found.results)} allocations, {len(wanted)} claims to allocate, "
                f"want {len(wanted)} claims"
            )
        for (index, claim), allocation in zip(wanted, found.results, strict=True):
            mine.allocations[index] = allocation
            reserved = found.extended_claim if claim is mine.extended and found.extended_claim is not None else claim
            self._binder.reserve(reserved, allocation)
        return None

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[DeviceDecision, ...]:
        """Devices of all the pod's claims, those that had been allocated before included."""
        mine = state.read(STATE_KEY, ClaimState)
        return tuple(
            DeviceDecision(claim.key, each.request, each.driver, each.pool, each.device, each.admin_access is True)
            for index, claim in enumerate(mine.claims)
            for allocation in (claim.status.allocation or mine.allocations.get(index),)
            if allocation is not None
            for each in allocation.devices.results
        )

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        try:
            mine = state.read(STATE_KEY, ClaimState)
        except StateKeyNotFound:
            return
        for claim in mine.claims[: mine.user_claims]:
            self._tracker.remove(claim.uid)
            if claim.status.allocation is not None and is_reserved_for(claim, pod):
                self._binder.remove_consumer(claim, pod)
        special = mine.extended
        if special is None:
            return
        self._tracker.remove(mine.initial_extended_uid)
        if special.name != extended.IN_MEMORY_NAME:
            self._binder.delete(special)

    # --- PreBind ----------------------------------------------------------------------------------------------------

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        mine = state.read(STATE_KEY, ClaimState)
        return (None if mine.claims else SKIP), True

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | StillBinding | None:
        mine = state.read(STATE_KEY, ClaimState)
        try:
            if not self._binder.bind(mine, pod, node_name):
                return None
        except BindError as error:
            return Status.as_error(str(error))
        mine.binding_since = self.handle.now()
        return self._look(mine)

    def pre_bind_again(self, state: CycleState, pod: Pod, node_name: str, *, timed_out: bool) -> Status | StillBinding:
        mine, now = state.read(STATE_KEY, ClaimState), self.handle.now()
        if not timed_out:
            return self._wait(mine, after=now)
        if now >= mine.binding_since + self._binding_timeout:
            return Status.as_error(f"{BINDING_TIMEOUT}: context deadline exceeded")
        return self._look(mine)

    def _look(self, mine: ClaimState) -> Status | StillBinding:
        try:
            waiting_for = self._binder.first_not_ready(mine)
        except BindError as error:
            return Status.as_error(str(error))
        if waiting_for is None:
            return SUCCESS
        if self._is_late(waiting_for):
            return Status.as_error(f"{BINDING_TIMEOUT}: claim={waiting_for.name}")
        # Without a change of the cluster a look finds something new only once this claim is late.
        late = self._late_after(waiting_for)
        never = mine.binding_since + self._binding_timeout
        return self._wait(mine, after=max(self.handle.now(), never if late is None else late), asks_a_person=True)

    def _wait(self, mine: ClaimState, after: int, *, asks_a_person: bool = False) -> StillBinding:
        """For the first look after a time: upstream looks every five seconds (``PreBind``). Or for the time-out."""
        look = ((after - mine.binding_since) // LOOKS_EVERY + 1) * LOOKS_EVERY
        until = mine.binding_since + min(look, self._binding_timeout)
        return StillBinding(until - self.handle.now(), asks_a_person)


def _used_by_nobody_else(claim: ResourceClaim, pod: PodInfo) -> bool:
    users = claim.status.reserved_for
    return not users or (len(users) == 1 and users[0].uid == pod.uid)


def _zeros(nodes: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.zeros(len(nodes), dtype=np.int64)


def _score(claims: Sequence[ResourceClaim], found: NodeAllocation) -> int:
    """The earlier in its list the subrequest stands that was chosen, the better."""
    score, new = 0, iter(found.results)
    for claim in claims:
        allocation = claim.status.allocation or next(new, None)
        if allocation is None:
            raise RuntimeError(
                f"number of allocations {len(found.results)} is smaller than number of claims needing allocation"
            )
        chosen = {result.request for result in allocation.devices.results}
        for request in claim.spec.devices.requests:
            if request.exactly is not None:
                continue
            for i, sub in enumerate(request.first_available):
                if f"{request.name}/{sub.name}" in chosen:
                    # At most that many alternatives are allowed, so the last one still scores something.
                    score += FIRST_AVAILABLE_MAX_SIZE - i
    return score
