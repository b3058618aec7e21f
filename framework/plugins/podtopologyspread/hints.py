"""Which events may help a pod that PodTopologySpread rejected (docs/semantics/plugins.md#podtopologyspread)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from framework.objects import KubeObject, Node, Pod
from framework.plugins.podtopologyspread.constraints import Constraint

Constraints = tuple[Constraint, ...]


def events(hard: Callable[[Pod], Constraints]) -> Sequence[ClusterEventWithHint]:
    """``hard``: a pod's DoNotSchedule constraints; when it fails, the pod is queued."""

    def after_pod_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        before = old if isinstance(old, Pod) else None
        after = new if isinstance(new, Pod) else None
        return _queue_if(_pod_change_helps(pod, before, after, hard))

    def after_node_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        before = old if isinstance(old, Node) else None
        after = new if isinstance(new, Node) else None
        return _queue_if(_node_change_helps(hard(pod), before, after))

    pod_actions = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION | ActionType.DELETE
    node_actions = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    return (
        ClusterEventWithHint(ClusterEvent(EventResource.POD, pod_actions), after_pod_change, of_equal_pods=True),
        ClusterEventWithHint(ClusterEvent(EventResource.NODE, node_actions), after_node_change, of_equal_pods=True),
    )


def _queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _involved(other: Pod, pod: Pod) -> bool:
    """Whether ``other`` counts in the spreading of ``pod``: it is that pod, or has a place in its namespace."""
    if other.metadata.uid == pod.metadata.uid:
        return True
    if not other.spec.node_name and not other.status.nominated_node_name:
        return False
    return other.metadata.namespace == pod.metadata.namespace


def _pod_change_helps(pod: Pod, before: Pod | None, after: Pod | None, hard: Callable[[Pod], Constraints]) -> bool:
    if any(other is not None and not _involved(other, pod) for other in (before, after)):
        return False
    constraints = hard(pod)
    if before is not None and after is not None:
        if (
            after.metadata.uid == pod.metadata.uid
            and after.spec.tolerations != before.spec.tolerations
            and any(constraint.honor_taints for constraint in constraints)
        ):
            return True
        old_labels, new_labels = before.metadata.labels, after.metadata.labels
        return old_labels != new_labels and any(
            constraint.selector.matches(old_labels) != constraint.selector.matches(new_labels)
            for constraint in constraints
        )
    other = after or before
    return other is not None and any(constraint.selector.matches(other.metadata.labels) for constraint in constraints)


def _has_all_keys(labels: Mapping[str, str], constraints: Constraints) -> bool:
    return all(constraint.topology_key in labels for constraint in constraints)


def _node_change_helps(constraints: Constraints, before: Node | None, after: Node | None) -> bool:
    had = before is not None and _has_all_keys(before.metadata.labels, constraints)
    has = after is not None and _has_all_keys(after.metadata.labels, constraints)
    if before is None or after is None:
        return had or has
    if had != has:
        return True
    if not has:
        return False
    moved = any(
        before.metadata.labels[constraint.topology_key] != after.metadata.labels[constraint.topology_key]
        for constraint in constraints
    )
    return moved or before.spec.taints != after.spec.taints
