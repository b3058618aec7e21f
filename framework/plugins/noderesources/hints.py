"""Which events may make room for a pod that NodeResourcesFit rejected (spec: plugins-intree §2, Events)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.interface.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, QueueingHint
from framework.objects import KubeObject, Node, Pod, Unstructured
from framework.objects.resources import PODS, Resources, node_allocatable, placed_requests, pod_requests

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def events_to_register() -> Sequence[ClusterEventWithHint]:
    pod = ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
    node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
    device_class = ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE)
    return (
        ClusterEventWithHint(pod, after_pod_event),
        ClusterEventWithHint(node, after_node_change),
        ClusterEventWithHint(device_class, after_device_class_event),
    )


def _hint(queue: bool) -> QueueingHint:
    return QueueingHint.QUEUE if queue else QueueingHint.SKIP


def after_pod_event(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(old, Pod)
    if not isinstance(new, Pod):
        return _hint(bool(old.spec.node_name or old.status.nominated_node_name))
    if new.metadata.uid == pod.metadata.uid:
        return QueueingHint.QUEUE
    if not new.spec.node_name:
        return QueueingHint.SKIP
    before, after = placed_requests(old), placed_requests(new)
    wanted = placed_requests(pod)
    return _hint(any(amount != 0 and before.get(name, 0) > after.get(name, 0) for name, amount in wanted.items()))


def after_node_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Node)
    requests = pod_requests(pod)
    after = node_allocatable(new)
    if not _fits_empty(requests, after):
        return QueueingHint.SKIP
    if not isinstance(old, Node):
        return QueueingHint.QUEUE
    before = node_allocatable(old)
    if after.get(PODS, 0) > before.get(PODS, 0):
        return QueueingHint.QUEUE
    return _hint(any(amount > 0 and after.get(name, 0) > before.get(name, 0) for name, amount in requests.items()))


def _fits_empty(requests: Resources, allocatable: Resources) -> bool:
    """On a node without pods. Ignored resources are not ignored here, as upstream."""
    if allocatable.get(PODS, 0) < 1:
        return False
    return all(amount <= allocatable.get(name, 0) for name, amount in requests.items())


def after_device_class_event(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Unstructured)
    name = _extended_resource(new)
    requests = pod_requests(pod)
    if isinstance(old, Unstructured):
        if _extended_resource(old) == name:
            return QueueingHint.SKIP
    elif f"{IMPLICIT_PREFIX}{new.metadata.name}" in requests:
        return QueueingHint.QUEUE
    return _hint(name is not None and name in requests)


def _extended_resource(device_class: Unstructured) -> str | None:
    spec = device_class.raw.get("spec")
    name = spec.get("extendedResourceName") if isinstance(spec, dict) else None
    return name if isinstance(name, str) else None
