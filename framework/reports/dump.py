"""What kube-scheduler writes into its log on SIGUSR2: cache and queue held against the cluster, then both in words.

Upstream: pkg/scheduler/backend/cache/debugger (1.36.2). Nodes come in the order of their names, pods in that of the
queue; upstream's orders are random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from framework.objects import Node, Pod
from framework.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    Resources,
    node_allocatable,
    placed_requests,
)
from framework.queue.queued_pod import QueuedPodInfo, QueuePlace
from framework.reports import klog
from framework.scheduler import Scheduler

_NAMED: Final = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)


def debugger_log(scheduler: Scheduler) -> Iterator[str]:
    """The entries in their order, each without a line break at its end."""
    yield from comparison(scheduler)
    at = scheduler.now
    yield klog.line(at, "dumper.go:52", "Dump of cached NodeInfo", nodes=nodes_text(scheduler))
    summary, pods = queue_text(scheduler)
    yield klog.line(at, "dumper.go:62", "Dump of scheduling queue", summary=summary, pods=pods)


def comparison(scheduler: Scheduler) -> Iterator[str]:
    """What the cluster has and the cache (with the queue) has not, and the reverse."""
    at, cache, cluster = scheduler.now, scheduler.core.cache, scheduler.cluster
    yield klog.line(at, "comparer.go:42", "Cache comparer started")
    nodes = {node.metadata.name for node in cluster.list(Node)}
    cached = set(cache.all_node_names())
    if nodes != cached:
        missed, redundant = sorted(nodes - cached), sorted(cached - nodes)
        yield klog.line(at, "comparer.go:60", "Cache mismatch", missedNodes=missed, redundantNodes=redundant)
    pods = {pod.metadata.uid for pod in cluster.list(Pod) if not _has_ended(pod)}
    known = {each.uid for name in cached for each, _ in cache.pods_on(name)}
    known |= {each.pod_info.uid for each in _queued(scheduler)}
    if scheduler.mid_cycle:
        # A pod whose cycle is under way is in neither; upstream's comparer misses it, too.
        known |= set(scheduler.core.queue.in_flight())
    ours = {pod.metadata.uid for pod in cluster.list(Pod) if pod.spec.node_name or _is_ours(scheduler, pod)}
    missed, redundant = sorted((pods & ours) - known), sorted(known - pods)
    if missed or redundant:
        yield klog.line(at, "comparer.go:64", "Cache mismatch", missedPods=missed, redundantPods=redundant)
    yield klog.line(at, "comparer.go:67", "Cache comparer finished")


def nodes_text(scheduler: Scheduler) -> str:
    return "\n\n".join(_node_text(scheduler, name) for name in sorted(scheduler.core.cache.all_node_names()))


def queue_text(scheduler: Scheduler) -> tuple[str, str]:
    """(how many are where, a line per pod)."""
    counts = scheduler.core.queue.counts()
    unschedulable = counts[QueuePlace.UNSCHEDULABLE] + counts[QueuePlace.GATED]
    active, backoff = counts[QueuePlace.ACTIVE], counts[QueuePlace.BACKOFF]
    summary = f"activeQ:{active}; backoffQ:{backoff}; unschedulablePods:{unschedulable}"
    return summary, "".join(_pod_line(each.pod) for each in _queued(scheduler))


def _queued(scheduler: Scheduler) -> list[QueuedPodInfo]:
    queue = scheduler.core.queue
    return [*queue.active(), *queue.backoff(), *queue.unschedulable()]


def _has_ended(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


def _is_ours(scheduler: Scheduler, pod: Pod) -> bool:
    return pod.spec.scheduler_name in scheduler.profiles


def _node_text(scheduler: Scheduler, name: str) -> str:
    cache = scheduler.core.cache
    node = cache.node(name)
    pods = [each.pod for each, _ in cache.pods_on(name)]
    requested: Resources = {}
    for pod in pods:
        for resource, amount in placed_requests(pod).items():
            requested[resource] = requested.get(resource, 0) + amount
    known = cache.gone_node(name) if node is None else node
    allocatable = {} if known is None else node_allocatable(known)
    text = (
        f"Node name: {name}\nDeleted: {str(node is None).lower()}\n"
        f"Requested Resources: {_amounts(requested)}\nAllocatable Resources:{_amounts(allocatable)}\n"
        f"Scheduled Pods(number: {len(pods)}):\n{_pod_lines(pods)}"
    )
    nominated = [each.pod for each in scheduler.core.queue.nominated_pods_for_node(name)]
    if nominated:
        text += f"Nominated Pods(number: {len(nominated)}):\n{_pod_lines(nominated)}"
    return text


def _amounts(found: Resources) -> str:
    """As Go prints a pointer to ``framework.Resource`` with ``%+v``."""
    cpu, memory, storage, pods = (found.get(name, 0) for name in _NAMED)
    others = " ".join(f"{name}:{amount}" for name, amount in sorted(found.items()) if name not in _NAMED)
    return (
        f"&{{MilliCPU:{cpu} Memory:{memory} EphemeralStorage:{storage} AllowedPodNumber:{pods} "
        f"ScalarResources:map[{others}]}}"
    )


def _pod_lines(pods: Iterable[Pod]) -> str:
    return "".join(_pod_line(pod) for pod in pods)


def _pod_line(pod: Pod) -> str:
    metadata, status = pod.metadata, pod.status
    # An API server says Pending where a file says nothing.
    phase = status.phase or "Pending"
    return (
        f"name: {metadata.name}, namespace: {metadata.namespace}, uid: {metadata.uid}, phase: {phase}, "
        f"nominated node: {status.nominated_node_name}\n"
    )
