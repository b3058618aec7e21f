"""Which events an update of a pod or node is (docs/semantics/queue.md#events)."""

from __future__ import annotations

from typing import Final

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.objects import Node, Pod
from framework.objects.resources import placed_requests

POD_ADD: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
POD_DELETE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD: Final = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)
NODE_ADD: Final = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE: Final = ClusterEvent(EventResource.NODE, ActionType.DELETE)


def pod_update_events(old: Pod, new: Pod) -> list[ClusterEvent]:
    """One event per changed aspect, in upstream's order; a general Update when none of them changed."""
    resource = EventResource.ASSIGNED_POD if new.spec.node_name else EventResource.UNSCHEDULED_POD
    actions = []
    if new.metadata.labels != old.metadata.labels:
        actions.append(ActionType.UPDATE_POD_LABEL)
    if _scaled_down(old, new):
        actions.append(ActionType.UPDATE_POD_SCALE_DOWN)
    if not new.spec.scheduling_gates and old.spec.scheduling_gates:
        actions.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(new.spec.tolerations) != len(old.spec.tolerations):
        actions.append(ActionType.UPDATE_POD_TOLERATION)
    if new.status.resource_claim_statuses != old.status.resource_claim_statuses:
        actions.append(ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [ClusterEvent(resource, action) for action in actions or [ActionType.UPDATE]]


def _scaled_down(old: Pod, new: Pod) -> bool:
    same = (
        new.spec.containers is old.spec.containers
        and new.spec.init_containers is old.spec.init_containers
        and new.spec.resources is old.spec.resources
        and new.status.container_statuses is old.status.container_statuses
        and new.status.resources is old.status.resources
    )
    if same:
        return False
    before, after = placed_requests(old), placed_requests(new)
    return any(name not in after or amount > after[name] for name, amount in before.items())


def node_update_events(old: Node, new: Node) -> list[ClusterEvent]:
    """One event per changed aspect, in upstream's order; none when nothing that matters changed."""
    actions = []
    if old.spec.unschedulable and not new.spec.unschedulable:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if old.status.allocatable != new.status.allocatable:
        actions.append(ActionType.UPDATE_NODE_ALLOCATABLE)
    if old.metadata.labels != new.metadata.labels:
        actions.append(ActionType.UPDATE_NODE_LABEL)
    if old.spec.taints != new.spec.taints:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        actions.append(ActionType.UPDATE_NODE_CONDITION)
    if old.metadata.annotations != new.metadata.annotations:
        actions.append(ActionType.UPDATE_NODE_ANNOTATION)
    if old.status.declared_features != new.status.declared_features:
        actions.append(ActionType.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(EventResource.NODE, action) for action in actions]


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}
