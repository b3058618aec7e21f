"""NodeResourcesBalancedAllocation: points for evening out a node's use of its resources (spec: plugins-intree §3)."""

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
    StateKeyNotFound,
    Status,
    View,
)
from framework.interface.last_pod import LastPod
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects import Pod
from framework.objects.resources import pod_requests
from framework.plugins.noderesources.allocation import Amount, Share, balance, row_count, shares
from framework.plugins.noderesources.args import NodeResourcesBalancedAllocationArgs
from framework.plugins.noderesources.devices import BackedResources, with_devices

STATE_KEY: Final = "PreScoreNodeResourcesBalancedAllocation"
HALF: Final = MAX_NODE_SCORE // 2


@dataclass(frozen=True, slots=True)
class Wanted:
    amounts: tuple[Amount, ...]

    def clone(self) -> Self:
        return self


class NodeResourcesBalancedAllocation(PreScorePlugin, ColumnScorePlugin):
    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    args_type: ClassVar[type[NodeResourcesBalancedAllocationArgs]] = NodeResourcesBalancedAllocationArgs
    description: ClassVar[str] = "Prefers nodes where the pod evens out the use of cpu, memory and other resources."
    reusable: ClassVar[bool] = True

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._amounts = LastPod(self._amounts_of)
        self._backed = BackedResources(handle)

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        amounts = self._amounts(pod.pod)
        if not any(amount.request for amount in amounts):
            return SKIP
        state.write(STATE_KEY, Wanted(amounts))
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            amounts = state.read(STATE_KEY, Wanted).amounts
        except StateKeyNotFound:  # PreScore is disabled for this plugin; upstream works it out here, too
            amounts = self._amounts(pod.pod)
        asked = any(amount.request for amount in amounts)
        scored = tuple(amount for amount in amounts if amount.is_scored)

        def kernel(column: Column) -> NDArray[np.int64 | np.int8]:
            rows = row_count(column)
            if not asked:
                return np.zeros(rows, dtype=np.int8)
            return gain(shares(column, scored, non_zero=False), rows)

        names = tuple(amount.resource for amount in scored)
        counted = self._backed.counted(names)
        if not counted:
            return Plan(kernel, (view.own_rows(names),), amounts)

        def with_counted(column: Column, of_nodes: Codes) -> NDArray[np.int64 | np.int8]:
            return kernel(with_devices(column, of_nodes, counted))

        return Plan(with_counted, (view.own_rows(names), view.name()), (amounts, counted))

    def score_fragment(self, pod: PodInfo) -> Hashable:
        return self._amounts(pod.pod)

    def _amounts_of(self, pod: Pod) -> tuple[Amount, ...]:
        requests = pod_requests(pod, use_status=True)
        args: NodeResourcesBalancedAllocationArgs = self.args
        return tuple(Amount(spec.name, spec.weight, requests.get(spec.name, 0)) for spec in args.resources)


def gain(resources: Sequence[Share], rows: int) -> NDArray[np.int64 | np.int8]:
    """How much better balanced the node is with the pod than without: 50 and half of the difference."""
    after, before = (balance(resources, with_pod=with_pod, rows=rows) for with_pod in (True, False))
    if not all(share.exact for share in resources):
        return HALF + quotient(HALF + after.astype(np.int64) - before.astype(np.int64), 2)
    # Both are whole numbers from 0 to 100.
    after -= before
    after += HALF
    after /= 2
    np.trunc(after, out=after)
    after += HALF
    return after.astype(np.int8)
