"""How much more fits: pods of one kind into the cluster, and nodes of one shape until nobody is left pending.

The answers come from scheduling cycles of the configuration in question, so every plugin has its say; nobody is evicted
for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from framework.advice.scratch import (
    LastAttempts,
    is_pending,
    one_more,
    placed_and_rest,
    run_until_quiet,
    scratch,
    why_not_placed,
    with_its_own,
)
from framework.interface.status import SUCCESS, Code
from framework.objects import Node, Pod
from framework.objects.resources import node_allocatable, pod_requests
from framework.scheduler import Cluster, Scheduler
from framework.trace.attempt import AttemptTrace

MOST_PODS: Final = 1000
MOST_NODES: Final = 200


class NodeCapacity(msgspec.Struct, frozen=True):
    """``fits`` more pods; then ``plugin`` rejects the next for ``reasons`` (empty: the limit came first)."""

    node: str
    fits: int
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    can_become_free: bool = False


class Capacity(msgspec.Struct, frozen=True):
    pod: str
    """``namespace/name`` of the pod that was asked about."""
    fits: int
    at_limit: bool
    """The search ended because ``fits`` reached the limit, not because the cluster was full."""
    message: str
    """kube-scheduler's words about the first pod that did not fit, without preemption's; "" at the limit."""
    nodes: tuple[NodeCapacity, ...]
    """In the order of the scheduler's node list."""


class StuckPod(msgspec.Struct, frozen=True):
    pod: str
    message: str


class NodesNeeded(msgspec.Struct, frozen=True):
    shape: str
    """Name of the node whose shape was added."""
    nodes: int
    """The smallest number with which everybody who can be helped by this shape has a node."""
    helped: int
    """Pending pods that have a node then and would have none without new nodes."""
    with_one_less: int
    """How many pods with one node less have no place that they have with all; 0 when no node is needed."""
    never: tuple[StuckPod, ...]
    """Pods that stay pending with ``limit`` such nodes: something else keeps them."""
    limit: int


def how_many_fit(scheduler: Scheduler, template: Pod, limit: int = MOST_PODS) -> Capacity:
    """Schedules one pod after the other like ``template``, beside nobody who is pending now.

    Raises ValueError for a pod of a schedulerName without profile. The order of filling is the scheduler's own, so with
    another seed or other weights a node may get another share of the same total.
    """
    if scheduler.profiles.get(template.spec.scheduler_name) is None:
        raise ValueError(f"no profile for schedulerName {template.spec.scheduler_name}")
    outcomes = LastAttempts()
    trial = scratch(scheduler, (obj for obj in placed_and_rest(scheduler) if not is_pending(obj)), outcomes)
    placed: Counter[str] = Counter()
    last: AttemptTrace | None = None
    for number in range(limit):
        pod = trial.cluster.create_admitted(one_more(template, number))
        gate = gated_by(trial, pod)
        if gate:
            return Capacity(template.key, 0, False, gate, _nodes(trial, placed, None))
        trial.step()
        attempt = outcomes.by_pod[pod.key]
        if attempt.result == "failed":
            last = attempt
            break
        placed[attempt.selected] += 1
    message = "" if last is None else why_not_placed(last)
    return Capacity(template.key, placed.total(), last is None, message, _nodes(trial, placed, last))


def gated_by(scheduler: Scheduler, pod: Pod) -> str:
    """What a PreEnqueue plugin holds the pod for; "" when it may enter the queue."""
    for plugin in scheduler.profiles[pod.spec.scheduler_name].enabled.pre_enqueue:
        status = plugin.pre_enqueue(pod) or SUCCESS
        if not status.is_success:
            return status.message
    return ""


def _nodes(trial: Scheduler, placed: Counter[str], last: AttemptTrace | None) -> tuple[NodeCapacity, ...]:
    if last is None or last.filter is None:
        names = [info.name for info in trial.core.snapshot.list()]
        rejected = None if last is None else last.pre_filter_status
        plugin, reasons = (rejected.plugin, rejected.all_reasons) if rejected is not None else ("", ())
        return tuple(NodeCapacity(name, placed[name], plugin, reasons) for name in names)
    found = []
    for position, name in enumerate(last.filter.nodes):
        status = last.filter.status(position) or last.absent_status or last.placed_status
        if status is None or status.is_success:
            found.append(NodeCapacity(name, placed[name]))
            continue
        free = status.code is Code.UNSCHEDULABLE
        found.append(NodeCapacity(name, placed[name], status.plugin, status.all_reasons, free))
    return tuple(found)


def nodes_until_all_fit(scheduler: Scheduler, shape: Node, limit: int = MOST_NODES) -> NodesNeeded:
    """How many empty nodes like ``shape`` it takes until every pending pod that they can help has a node.

    Each number is tried from the start, all pending pods in the queue's order. The search goes upwards from the least
    that the requests allow, so no smaller number does.
    """
    objects = list(placed_and_rest(scheduler))
    pending = [obj for obj in objects if isinstance(obj, Pod) and is_pending(obj)]

    def outcome_with(count: int) -> dict[str, str]:
        outcomes = LastAttempts()
        trial = scratch(
            scheduler,
            [*objects, *(each for number in range(count) for each in with_its_own(scheduler.cluster, shape, number))],
            outcomes,
        )
        run_until_quiet(trial, outcomes)
        return _still_pending(trial, pending, outcomes)

    stuck = outcome_with(limit)

    def left_with(count: int) -> int:
        # Not only who has no node now: few new nodes may draw pods to them that others then cannot be with.
        return len(outcome_with(count).keys() - stuck.keys())

    helped = outcome_with(0).keys() - stuck.keys()
    never = tuple(StuckPod(pod, message) for pod, message in stuck.items())
    if not helped:
        return NodesNeeded(shape.metadata.name, 0, 0, 0, never, limit)
    count = max(1, _fewest(shape, [pod for pod in pending if pod.key in helped], scheduler.cluster))
    before = len(helped) if count == 1 else left_with(count - 1)
    if not before:  # what is free already takes more of them than the estimate knew
        count, before = 1, len(helped)
    while count < limit and (left := left_with(count)):
        count, before = count + 1, left
    return NodesNeeded(shape.metadata.name, count, len(helped), before, never, limit)


def _still_pending(trial: Scheduler, pods: Sequence[Pod], outcomes: LastAttempts) -> dict[str, str]:
    """``namespace/name`` → why; pods that wait on Permit have found their node."""
    waiting = {each.uid for each in trial.waiting_pods()}
    left = {}
    for pod in pods:
        now = trial.cluster.get(Pod, pod.metadata.namespace, pod.metadata.name)
        if now is None or now.spec.node_name or now.metadata.uid in waiting:
            continue
        profile = trial.profiles.get(now.spec.scheduler_name)
        if profile is None:
            left[pod.key] = f"no profile for schedulerName {now.spec.scheduler_name}"
            continue
        attempt = outcomes.by_pod.get(pod.key)
        left[pod.key] = why_not_placed(attempt) if attempt is not None else gated_by(trial, now) or "was not tried"
    return left


def _fewest(shape: Node, pods: Sequence[Pod], cluster: Cluster) -> int:
    """A number of nodes that the requests cannot do without, if all that is free now were one heap."""
    offered = node_allocatable(shape)
    wanted: Counter[str] = Counter()
    for pod in pods:
        wanted.update(pod_requests(pod))
        wanted["pods"] += 1
    free: Counter[str] = Counter()
    for node in cluster.list(Node):
        free.update(node_allocatable(node))
    for pod in cluster.list(Pod):
        if pod.spec.node_name:
            free.subtract(pod_requests(pod, use_status=True))
            free["pods"] -= 1
    fewest = 0
    for name, amount in wanted.items():
        if offered.get(name, 0) > 0:
            fewest = max(fewest, -(-(amount - max(0, free[name])) // offered[name]))
    return fewest
