"""NodeResourcesBalancedAllocation: points for evening out a node's use of its resources.

Rules: docs/semantics/plugins.md#noderesourcesbalancedallocation.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    Codes,
    Column,
    ColumnScorePlugin,
    CycleState,
    Handle,
    Plan,
    PodInfo,
    PreScorePlugin,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.scores import quotient
from framework.kernels.amounts import Amount, balance, balance_before, row_count, scored_of, shares
from framework.plugins.noderesources.args import NodeResourcesBalancedAllocationArgs
from framework.plugins.noderesources.devices import BackedResources, signed_requests, with_devices
from framework.plugins.noderesources.whole import HALF, gain_of_two, is_whole
from framework.sentences import noted

STATE_KEY: Final = "PreScoreNodeResourcesBalancedAllocation"


@dataclass(frozen=True, slots=True)
class Wanted:
    amounts: tuple[Amount, ...]

    def clone(self) -> Self:
        return self


class NodeResourcesBalancedAllocation(PreScorePlugin, ColumnScorePlugin, SignPlugin):
    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    args_type: ClassVar[type[NodeResourcesBalancedAllocationArgs]] = NodeResourcesBalancedAllocationArgs
    description: ClassVar[str] = noted(
        "Prefers nodes where the pod evens out the use of cpu, memory and other resources."
    )

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._resources = tuple((spec.name, spec.weight) for spec in args.resources)
        self._backed = BackedResources(handle)

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        amounts = self._amounts(pod)
        for amount in amounts:
            if amount.request:
                state.write(STATE_KEY, Wanted(amounts))
                return None
        return SKIP

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            amounts = state.read(STATE_KEY, Wanted).amounts
        except StateKeyNotFound:  # PreScore is disabled for this plugin; upstream works it out here, too
            amounts = self._amounts(pod)
        asked = any(amount.request for amount in amounts)
        scored = scored_of(amounts)

        def kernel(column: Column) -> NDArray[np.int64 | np.int8]:
            rows = row_count(column)
            if not asked:
                return np.zeros(rows, dtype=np.int8)
            return gain(column, scored)

        names = tuple([amount.resource for amount in scored])
        counted = self._backed.counted(names)
        if not counted:
            return Plan(kernel, (view.own_rows(names),), amounts)

        def with_counted(column: Column, of_nodes: Codes) -> NDArray[np.int64 | np.int8]:
            return kernel(with_devices(column, of_nodes, counted))

        return Plan(with_counted, (view.own_rows(names), view.name()), (amounts, counted))

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signed_requests(pod.pod, self._backed)

    def fragment(self, pod: PodInfo) -> Hashable:
        return self._amounts(pod)

    def _amounts(self, pod: PodInfo) -> tuple[Amount, ...]:
        # Resources reported by the kubelet count, as they do for placed pods.
        requests = pod.requests
        return tuple([Amount(name, weight, requests.get(name, 0)) for name, weight in self._resources])


def gain(column: Column, amounts: Sequence[Amount]) -> NDArray[np.int64 | np.int8]:
    """How much better balanced the node is with the pod than without: 50 and half of the difference.

    Balances with and without lie up to 50 apart, so this is 50..100, the range that scores had when upstream looked at
    the balance afterwards alone: 75 where the pod changes nothing.
    """
    if len(amounts) == 2 and is_whole(column, amounts):
        return gain_of_two(column, amounts)
    resources = shares(column, amounts, non_zero=False)
    after, before = balance(resources, row_count(column)), balance_before(column)
    # Sums of amounts wrap as in Go, so a node may seem used a negative number of times; Go converts silently, too.
    with np.errstate(invalid="ignore"):
        return HALF + quotient(HALF + after.astype(np.int64) - before.astype(np.int64), 2)
