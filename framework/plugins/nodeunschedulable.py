"""NodeUnschedulable: cordoned nodes take only pods that tolerate it (docs/semantics/plugins.md#nodeunschedulable)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Plan,
    PodInfo,
    QueueingHint,
    Reason,
    SignPlugin,
    View,
    signing,
)
from framework.objects import KubeObject, Node, Pod, Taint
from framework.objects.tolerations import NO_SCHEDULE, tolerates
from framework.sentences import noted

UNSCHEDULABLE_TAINT: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) were unschedulable",)),
)


def _kernel(unschedulable: NDArray[np.bool_]) -> NDArray[np.int8]:
    return unschedulable.astype(np.int8)


class NodeUnschedulable(ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "NodeUnschedulable"
    description: ClassVar[str] = noted("Keeps pods off cordoned nodes, unless they tolerate it.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self._after_node_change, of_equal_pods=True),
            ClusterEventWithHint(pod, self._after_toleration_change, of_equal_pods=True),
        )

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        was_closed = not isinstance(old, Node) or old.spec.unschedulable
        return QueueingHint.QUEUE if was_closed and not new.spec.unschedulable else QueueingHint.SKIP

    def _after_toleration_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Pod)
        own = new.metadata.uid == pod.metadata.uid
        return QueueingHint.QUEUE if own and _tolerated_by(new) else QueueingHint.SKIP

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        if _tolerated_by(pod.pod):
            return None
        return Plan(_kernel, (view.unschedulable(),), (), REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.tolerations(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable:
        return _tolerated_by(pod.pod)


def _tolerated_by(pod: Pod) -> bool:
    return tolerates(pod.spec.tolerations, UNSCHEDULABLE_TAINT)
