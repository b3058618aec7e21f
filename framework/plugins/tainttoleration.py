"""TaintToleration: hard taints filter, soft taints cost points (docs/semantics/plugins.md#tainttoleration)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    BoundsNormalizer,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    Codes,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    Plan,
    PodInfo,
    PreScorePlugin,
    QueueingHint,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.columns import taint_table
from framework.interface.scores import default_normalize
from framework.objects import KubeObject, Node, Pod, Taint, Toleration
from framework.objects.tolerations import (
    COMPARISONS_GATE,
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    find_untolerated_taint,
    tolerates,
)
from framework.sentences import noted

HARD_EFFECTS: Final = (NO_SCHEDULE, NO_EXECUTE)
STATE_KEY: Final = "PreScoreTaintToleration"
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",)),
)


@dataclass(frozen=True, slots=True)
class SoftTolerations:
    """The pod's tolerations that reach PreferNoSchedule taints."""

    tolerations: tuple[Toleration, ...]

    def clone(self) -> Self:
        return self


def _kernel(tolerated: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.logical_not(tolerated).view(np.int8)


class TaintToleration(
    ColumnFilterPlugin, PreScorePlugin, ColumnScorePlugin, BoundsNormalizer, EnqueueExtensions, SignPlugin
):
    name: ClassVar[str] = "TaintToleration"
    description: ClassVar[str] = noted(
        "Keeps pods off nodes whose taints they do not tolerate, and prefers fewer soft taints."
    )
    repeatable: ClassVar[bool] = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._comparisons = handle.feature_gates.enabled(COMPARISONS_GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self._after_node_change, of_equal_pods=True),
            ClusterEventWithHint(pod, self._after_toleration_change, of_equal_pods=True),
        )

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        was_untolerated = not isinstance(old, Node) or self._untolerated(pod, old)
        return QueueingHint.QUEUE if was_untolerated and not self._untolerated(pod, new) else QueueingHint.SKIP

    def _untolerated(self, pod: Pod, node: Node) -> bool:
        tolerations = pod.spec.tolerations
        taint = find_untolerated_taint(node.spec.taints, tolerations, HARD_EFFECTS, comparisons=self._comparisons)
        return taint is not None

    def _after_toleration_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Pod)
        return QueueingHint.QUEUE if new.metadata.uid == pod.metadata.uid else QueueingHint.SKIP

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        return Plan(_kernel, (view.tolerating(pod.pod, HARD_EFFECTS, comparisons=self._comparisons),), (), REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.tolerations(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable:
        return pod.pod.spec.tolerations

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        soft = tuple([t for t in pod.pod.spec.tolerations if t.effect in ("", PREFER_NO_SCHEDULE)])
        state.write(STATE_KEY, SoftTolerations(soft))
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            soft = state.read(STATE_KEY, SoftTolerations).tolerations
        except StateKeyNotFound as error:  # PreScore is disabled for this plugin; upstream fails the attempt, too
            raise RuntimeError(f'failed to read "{STATE_KEY}" from cycleState: {error}') from None

        comparisons = self._comparisons

        def untolerated(taints: tuple[Taint, ...]) -> int:
            return sum(
                1
                for taint in taints
                if taint.effect == PREFER_NO_SCHEDULE and not tolerates(soft, taint, comparisons=comparisons)
            )

        def kernel(taints: Codes) -> NDArray[np.int64]:
            return taint_table(taints, untolerated, np.int64)

        return Plan(kernel, (view.taints(),), soft)

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return default_normalize(scores, highest, reverse=True)
