"""NodeResourcesFit: the node must have room for what the pod requests (docs/semantics/plugins.md#noderesourcesfit)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import le
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    Code,
    Codes,
    Column,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    Handle,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.columns import everywhere
from framework.interface.events import ClusterEventWithHint
from framework.interface.last_pod import LastPod
from framework.interface.node_info import NodeInfo
from framework.interface.plugin import PlacementScorePlugin
from framework.interface.pod_groups import PlacementAssignments, PodGroupCycle
from framework.kernels.amounts import (
    FREE,
    Amount,
    Ints,
    Share,
    least_allocated,
    most_allocated,
    ratio_score,
    row_count,
    scored_of,
    shares,
    weighted_mean,
)
from framework.objects import Pod
from framework.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    NON_MISSING_DEFAULTS,
    is_extended_resource_name,
    pod_requests,
)
from framework.plugins.noderesources.args import NodeResourcesFitArgs
from framework.plugins.noderesources.devices import BackedResources, signed_requests, with_devices
from framework.plugins.noderesources.hints import events_to_register
from framework.plugins.noderesources.whole import is_whole, mean_utilization
from framework.sentences import noted

FILTER_KEY: Final = "PreFilterNodeResourcesFit"
SCORE_KEY: Final = "PreScoreNodeResourcesFit"
MILLI_SCALE: Final = 10
"""Shapes give scores from 0 to 10; nodes score from 0 to 100."""

TOO_MANY_PODS: Final = 1
UNRESOLVABLE: Final = 2
FIRST_RESOURCE: Final = 4
"""Verdict codes are sets of bits: these three and one more per resource from FIRST_RESOURCE up."""

NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
_NATIVE: Final = frozenset(NATIVE)

NO_STATE: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.ERROR, (f'error reading "{FILTER_KEY}" from cycleState: not found',)),
)


@dataclass(frozen=True, slots=True)
class Requests:
    """What the filter checks, in the order of its reasons. ``nothing``: not even a scalar is named."""

    checked: tuple[tuple[str, int], ...]

    def clone(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Scored:
    amounts: tuple[Amount, ...]

    def clone(self) -> Self:
        return self


class NodeResourcesFit(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ColumnScorePlugin,
    PlacementScorePlugin,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "NodeResourcesFit"
    args_type: ClassVar[type[NodeResourcesFitArgs]] = NodeResourcesFitArgs
    description: ClassVar[str] = noted(
        "Keeps pods off nodes without room for their requests, and prefers by the strategy."
    )
    repeatable: ClassVar[bool] = True

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._checked = LastPod(self._checked_of)
        self._amounts = LastPod(self._amounts_of)
        self._backed = BackedResources(handle)
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        strategy = args.scoring_strategy
        self._strategy = strategy.type
        self._resources = tuple((spec.name, spec.weight) for spec in strategy.resources)
        ratio = strategy.requested_to_capacity_ratio
        self._shape = tuple((point.utilization, point.score * MILLI_SCALE) for point in ratio.shape) if ratio else ()

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return events_to_register(self._backed.is_backed if self._backed.enabled else None)

    # --- filter -----------------------------------------------------------------------------------------------------

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        state.write(FILTER_KEY, Requests(self._checked(pod.pod)))
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            checked = state.read(FILTER_KEY, Requests).checked
        except StateKeyNotFound:
            return Plan(_without_state, (view.own_rows(()),), "no state", NO_STATE)
        names = tuple([name for name, _ in checked])
        amounts = [amount for _, amount in checked]
        delegated = self._delegated(names)

        def kernel(column: Column) -> NDArray[np.int64 | np.int8]:
            return _verdicts(column, amounts, delegated)

        return Plan(kernel, (view.own_rows(names),), (checked, delegated), _reasons(names))

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signed_requests(pod.pod, self._backed)

    def fragment(self, pod: PodInfo) -> Hashable:
        checked = self._checked(pod.pod)
        return checked, self._delegated(tuple([name for name, _ in checked])), self._amounts(pod.pod)

    def _delegated(self, names: tuple[str, ...]) -> tuple[bool, ...]:
        """Per resource whether nodes that do not offer it are left to DynamicResources; () when there are none."""
        if _NATIVE.issuperset(names):
            return ()
        found = tuple(name not in NATIVE and self._backed.is_backed(name) for name in names)
        return found if any(found) else ()

    def _checked_of(self, pod: Pod) -> tuple[tuple[str, int], ...]:
        requests = pod_requests(pod)
        found = [(name, requests[name]) for name in NATIVE if requests.get(name, 0)]
        if not _NATIVE.issuperset(requests):
            scalars = sorted(name for name in requests if name not in NATIVE and not self._is_ignored(name))
            found += [(name, requests[name]) for name in scalars if requests[name]]
        return tuple(found)

    def _is_ignored(self, name: str) -> bool:
        if not is_extended_resource_name(name):
            return False
        return name in self._ignored or name.split("/", 1)[0] in self._ignored_groups

    # --- score ------------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        state.write(SCORE_KEY, Scored(self._amounts(pod.pod)))
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            amounts = state.read(SCORE_KEY, Scored).amounts
        except StateKeyNotFound:  # PreScore is disabled for this plugin; upstream works it out here, too
            amounts = self._amounts(pod.pod)
        scored = scored_of(amounts)
        kernel = self._kernel(scored)

        names = tuple([amount.resource for amount in scored])
        counted = self._backed.counted(names)
        if not counted:
            return Plan(kernel, (view.own_rows(names),), amounts)

        def with_counted(column: Column, of_nodes: Codes) -> NDArray[np.int64 | np.int8]:
            return kernel(with_devices(column, of_nodes, counted))

        return Plan(with_counted, (view.own_rows(names), view.name()), (amounts, counted))

    def _kernel(self, scored: tuple[Amount, ...]) -> Callable[[Column], NDArray[np.int64 | np.int8]]:
        if self._strategy == "RequestedToCapacityRatio":
            shape = self._shape
            return lambda column: ratio_score(shares(column, scored, non_zero=True), shape, row_count(column))
        most = self._strategy == "MostAllocated"

        def kernel(column: Column) -> NDArray[np.int64 | np.int8]:
            if is_whole(column, scored):
                return mean_utilization(column, scored, most=most)
            score = most_allocated if most else least_allocated
            return weighted_mean(shares(column, scored, non_zero=True), score, row_count(column))

        return kernel

    def score_placement(self, group: PodGroupCycle, placed: PlacementAssignments) -> tuple[int, Status | None]:
        """MostAllocated over all nodes of the placement taken together, whatever the strategy for single nodes is."""
        wanted = [0] * len(self._resources)
        for pod, _ in placed.assignments:
            for i, amount in enumerate(self._amounts(pod)):
                wanted[i] += amount.request
        parts: list[Share] = []
        nodes = [self.handle.snapshot.get(name) for name in placed.placement.nodes]
        infos = [info for info in nodes if info is not None]
        for (name, weight), request in zip(self._resources, wanted, strict=True):
            if not Amount(name, weight, request).is_scored:
                continue
            allocatable = sum(info.allocatable.get(name, 0) for info in infos)
            allocated = sum(_allocated(info, name) for info in infos)
            offered, wanted_too = (np.array([each], dtype=np.int64) for each in (allocatable, allocated + request))
            parts.append(Share(weight, np.array([allocatable != 0]), offered, wanted_too, exact=False))
        return int(weighted_mean(parts, most_allocated, 1)[0]), None

    def _amounts_of(self, pod: Pod) -> tuple[Amount, ...]:
        # Upstream's scorer never turns pod-level requests on.
        requests = pod_requests(pod, pod_level=False, non_missing=NON_MISSING_DEFAULTS)
        return tuple([Amount(name, weight, requests.get(name, 0)) for name, weight in self._resources])


def _allocated(info: NodeInfo, name: str) -> int:
    """As scoring counts it: with defaults for containers that request no cpu or memory."""
    if name == CPU:
        return info.non_zero_cpu
    return info.non_zero_memory if name == MEMORY else info.requested.get(name, 0)


def _without_state(column: Column) -> Ints:
    return np.ones(row_count(column), dtype=np.int64)


def _verdicts(column: Column, amounts: Sequence[int], delegated: Sequence[bool]) -> NDArray[np.int64 | np.int8]:
    """``delegated`` () means none."""
    lowest = column.lowest(FREE, slice(None))
    if lowest[-1] and all(map(le, amounts, lowest)):
        return everywhere(0, row_count(column))
    free = column.worked_out(FREE)
    codes: Ints = TOO_MANY_PODS - free[-1]
    bit = FIRST_RESOURCE
    for i, (amount, elsewhere) in enumerate(zip(amounts, delegated or repeat(False), strict=False)):
        if lowest[i] < amount:
            allocatable = column.allocatable[i]
            too_little = free[i] < amount
            if elsewhere:
                too_little &= allocatable > 0
            codes[too_little] |= bit
            codes[too_little & (allocatable < amount)] |= UNRESOLVABLE
        bit <<= 1
    return codes


@lru_cache(maxsize=1024)
def _reasons(names: tuple[str, ...]) -> Callable[[int], Reason]:
    """How verdict codes read for these resources. The same function for the same resources."""

    def reason(code: int) -> Reason:
        texts = ["Too many pods"] if code & TOO_MANY_PODS else []
        texts += [f"Insufficient {name}" for i, name in enumerate(names) if code & (FIRST_RESOURCE << i)]
        status = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if code & UNRESOLVABLE else Code.UNSCHEDULABLE
        return Reason(status, tuple(texts))

    return reason
