"""Which events may make room for a pod that NodeResourcesFit rejected (docs/semantics/plugins.md#noderesourcesfit)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from framework.interface.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, QueueingHint
from framework.objects import DeviceClass, KubeObject, Node, Pod
from framework.objects.devices import DEVICE_CLASS_RESOURCE_PREFIX
from framework.objects.resources import PODS, Resources, node_allocatable, placed_requests, pod_requests

Delegated = Callable[[str], bool]
"""Whether a device class backs this resource, so that DynamicResources judges nodes that do not offer it."""


def events_to_register(delegated: Delegated | None) -> Sequence[ClusterEventWithHint]:
    """``delegated`` None: the feature gate DRAExtendedResource is off."""
    pod = ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
    node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
    always = (
        ClusterEventWithHint(pod, after_pod_event, of_equal_pods=True),
        ClusterEventWithHint(node, AfterNodeChange(delegated), of_equal_pods=True),
    )
    if delegated is None:
        return always
    device_class = ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE)
    return (*always, ClusterEventWithHint(device_class, after_device_class_event, of_equal_pods=True))


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


@dataclass(frozen=True, slots=True)
class AfterNodeChange:
    delegated: Delegated | None = None

    def __call__(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        requests = {name: amount for name, amount in pod_requests(pod).items() if amount != 0}
        after = node_allocatable(new)
        if not self._fits_empty(requests, after):
            return QueueingHint.SKIP
        if not isinstance(old, Node):
            return QueueingHint.QUEUE
        before = node_allocatable(old)
        if after.get(PODS, 0) > before.get(PODS, 0):
            return QueueingHint.QUEUE
        more = (name for name in requests if after.get(name, 0) > before.get(name, 0) or self._is_left_out(name, after))
        return _hint(any(more))

    def _fits_empty(self, requests: Resources, allocatable: Resources) -> bool:
        """On a node without pods. Ignored resources are not ignored here, as upstream."""
        if allocatable.get(PODS, 0) < 1:
            return False
        return all(
            amount <= allocatable.get(name, 0) or self._is_left_out(name, allocatable)
            for name, amount in requests.items()
        )

    def _is_left_out(self, name: str, allocatable: Resources) -> bool:
        return self.delegated is not None and allocatable.get(name, 0) <= 0 and self.delegated(name)


def after_device_class_event(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, DeviceClass)
    name = new.spec.extended_resource_name
    requests = pod_requests(pod)
    if isinstance(old, DeviceClass):
        if (old.spec.extended_resource_name or "") == (name or ""):
            return QueueingHint.SKIP
    elif f"{DEVICE_CLASS_RESOURCE_PREFIX}{new.name}" in requests:
        return QueueingHint.QUEUE
    return _hint(name is not None and name in requests)
