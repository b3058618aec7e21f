"""What an informer event does to cache and queue (docs/semantics/events.md#event-handlers).

The cache learns first and the queue second, except for a deleted node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from framework.cache import CacheError
from framework.cycle import SchedulingCore
from framework.cycle.core import Listeners
from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.interface.node_info import PodInfo
from framework.objects import KubeObject, Node, Pod
from framework.profiles import priority_of
from framework.queue.changes import (
    NODE_ADD,
    NODE_DELETE,
    POD_ADD,
    POD_DELETE,
    UNSCHEDULED_POD_ADD,
    node_update_events,
    pod_update_events,
)
from framework.scheduler.store import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated, plural_of, sides

_RESOURCES: Final = {
    "v1/PersistentVolume": EventResource.PERSISTENT_VOLUME,
    "v1/PersistentVolumeClaim": EventResource.PERSISTENT_VOLUME_CLAIM,
    "storage.k8s.io/v1/CSINode": EventResource.CSI_NODE,
    "storage.k8s.io/v1/CSIDriver": EventResource.CSI_DRIVER,
    "storage.k8s.io/v1/VolumeAttachment": EventResource.VOLUME_ATTACHMENT,
    "storage.k8s.io/v1/CSIStorageCapacity": EventResource.CSI_STORAGE_CAPACITY,
    "storage.k8s.io/v1/StorageClass": EventResource.STORAGE_CLASS,
    "resource.k8s.io/v1/ResourceClaim": EventResource.RESOURCE_CLAIM,
    "resource.k8s.io/v1/ResourceSlice": EventResource.RESOURCE_SLICE,
    "resource.k8s.io/v1/DeviceClass": EventResource.DEVICE_CLASS,
    "scheduling.k8s.io/v1alpha2/PodGroup": EventResource.POD_GROUP,
}


def resource_of(obj: KubeObject) -> str:
    """The name under which plugins register for this kind: its own, or ``<plural>.<version>.<group>``."""
    known = _RESOURCES.get(f"{obj.api_version}/{obj.kind}")
    if known is not None:
        return known
    group, _, version = obj.api_version.rpartition("/")
    return f"{plural_of(obj)}.{version}.{group}"


def handle(core: SchedulingCore, event: InformerEvent) -> None:
    if core.listeners:
        tell_plugins(core.listeners, event)
    if isinstance(event, ObjectUpdated) and isinstance(event.old, Pod) and isinstance(event.new, Pod):
        # What comes most often, before every event is taken apart.
        _pod_updated(core, event.old, event.new)
    else:
        _handle_others(core, event)
    if core.proposals.is_used:
        _tell_proposals(core, event)


def _handle_others(core: SchedulingCore, event: InformerEvent) -> None:
    match event:
        case ObjectAdded(Pod() as pod):
            _pod_added(core, pod)
        case ObjectDeleted(Pod() as pod):
            _pod_deleted(core, pod)
        case ObjectAdded(Node() as node):
            core.cache.set_node(node)
            core.queue.move_all(NODE_ADD, None, node, core.now)
        case ObjectUpdated(Node() as before, Node() as node):
            core.cache.set_node(node)
            for change in node_update_events(before, node):
                core.queue.move_all(change, before, node, core.now)
        case ObjectDeleted(Node() as node):
            core.queue.move_all(NODE_DELETE, node, None, core.now)
            _tell_cache(core, lambda: core.cache.remove_node(node.metadata.name))
        case ObjectAdded() | ObjectUpdated() | ObjectDeleted():
            was, now = sides(event)
            core.queue.move_all(change_of(was, now), was, now, core.now)


def _tell_proposals(core: SchedulingCore, event: InformerEvent) -> None:
    old, new = sides(event)
    if isinstance(old if new is None else new, Pod):
        again = core.proposals.pod_changed(cast("Pod | None", old), cast("Pod | None", new))
        core.queue.activate(again, core.now)


def change_of(old: KubeObject | None, new: KubeObject | None) -> ClusterEvent:
    """The event of an object that is neither pod nor node; None for "not there" before or after."""
    obj = old if new is None else new
    assert obj is not None
    if old is None:
        return ClusterEvent(resource_of(obj), ActionType.ADD)
    return ClusterEvent(resource_of(obj), ActionType.DELETE if new is None else ActionType.UPDATE)


def tell_plugins(listeners: Listeners, event: InformerEvent) -> None:
    old, new = sides(event)
    kind = type(old if new is None else new)
    for plugin in listeners.get(kind, ()):
        plugin.object_changed(cast(Any, old), cast(Any, new))


def _tell_cache(core: SchedulingCore, call: Callable[[], None]) -> None:
    """Cache errors are logged only; the queue is told anyway."""
    try:
        call()
    except CacheError as error:
        core.observer.logged(str(error))


def _is_ours(core: SchedulingCore, pod: Pod) -> bool:
    return pod.spec.scheduler_name in core.profiles


# --- pods -----------------------------------------------------------------------------------------------------------


def _pod_added(core: SchedulingCore, pod: Pod) -> None:
    if pod.spec.node_name:
        _assigned_pod_added(core, PodInfo(pod))
    elif _is_ours(core, pod):
        if core.cache.pod_groups is not None:
            core.cache.pod_groups.add(pod)
        core.queue.add(PodInfo(pod), core.now)
        if core.gang_scheduling:
            core.queue.move_all(UNSCHEDULED_POD_ADD, None, pod, core.now)


def _pod_updated(core: SchedulingCore, old: Pod, new: Pod) -> None:
    if old.spec.node_name and not new.spec.node_name:
        # Only a list of an etcd that was restored from a backup says so. Upstream's informers filter by the node: for
        # who hears of bound pods it went, for who hears of others it came.
        _pod_deleted(core, old)
        _pod_added(core, new)
    elif old.spec.node_name:
        _tell_cache(core, lambda: core.cache.update_pod(old, PodInfo(new)))
        for event in pod_update_events(old, new):
            core.queue.move_all(event, old, new, core.now)
    elif new.spec.node_name:
        core.repeats.forget(new.metadata.uid)
        assumed = core.cache.is_assumed(new)
        _assigned_pod_added(core, _bound_info(core, new))
        # It is in no queue, unless something else bound it.
        if not assumed and _is_ours(core, old):
            core.queue.delete(old)
    elif _is_ours(core, old):
        _pending_pod_updated(core, old, new)


def _pod_deleted(core: SchedulingCore, pod: Pod) -> None:
    core.repeats.forget(pod.metadata.uid)
    if pod.spec.node_name:
        _tell_cache(core, lambda: core.cache.remove_pod(pod))
        core.queue.move_all(POD_DELETE, pod, None, core.now)
    elif _is_ours(core, pod):
        core.queue.delete(pod)
        if core.cache.pod_groups is not None:
            core.cache.pod_groups.remove(pod)
        if core.cache.is_assumed(pod):
            _assumed_pod_deleted(core, pod)
        elif pod.status.nominated_node_name:
            _nomination_given_up(core, pod)


def _bound_info(core: SchedulingCore, pod: Pod) -> PodInfo:
    """The figures of the assumed pod, if only its node and status are new."""
    assumed = core.cache.get_pod(pod.metadata.uid)
    if assumed is not None:
        ours, theirs = assumed.pod.spec, pod.spec
        same = (
            ours.containers is theirs.containers
            and ours.init_containers is theirs.init_containers
            and ours.resources is theirs.resources
            and ours.overhead is theirs.overhead
            and ours.affinity is theirs.affinity
            and not pod.status.container_statuses
            and pod.status.resources is None
            and assumed.pod.metadata.labels == pod.metadata.labels
        )
        if same:
            return assumed.changed_to(pod)
    return PodInfo(pod)


def _assigned_pod_added(core: SchedulingCore, pod: PodInfo) -> None:
    try:
        core.cache.add_pod(pod)
    except CacheError as error:
        core.observer.logged(str(error))
    core.queue.move_all(POD_ADD, None, pod.pod, core.clock.now)


def _pending_pod_updated(core: SchedulingCore, old: Pod, new: Pod) -> None:
    if old.metadata.resource_version == new.metadata.resource_version:
        return
    if core.cache.pod_groups is not None:
        core.cache.pod_groups.update(old, new)
    if core.cache.is_assumed(new):
        if new.metadata.deletion_timestamp is not None and old.metadata.deletion_timestamp is None:
            _assumed_pod_deleted(core, new)
        return
    core.queue.update(old, PodInfo(new), core.now)
    nominated = old.status.nominated_node_name
    if nominated and nominated != new.status.nominated_node_name:
        _nomination_given_up(core, old)


def _nomination_given_up(core: SchedulingCore, pod: Pod) -> None:
    """As if the pod had been deleted from its node, for pods that had to yield to it: itself included.

    Rules: docs/semantics/queue.md#self-wake.
    """
    limit = priority_of(pod)
    core.queue.move_all(POD_DELETE, pod, None, core.now, lambda other: priority_of(other) <= limit)


def _assumed_pod_deleted(core: SchedulingCore, pod: Pod) -> None:
    """A waiting pod is rejected, and its binding cycle cleans up; any other is forgotten here and will fail to bind."""
    assumed = core.cache.get_pod(pod.metadata.uid)
    if assumed is None:
        return
    if not core.waiting_pods.reject(assumed.uid):
        _tell_cache(core, lambda: core.cache.forget_pod(assumed.pod))
    core.queue.move_all(POD_DELETE, assumed.pod, None, core.now)
