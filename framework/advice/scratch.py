"""Schedulers to try things out on: made from the objects of another one, which they never touch.

Nobody is evicted on them: incoming pods do not preempt. Pods that were assumed count as placed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from framework.interface.status import Status
from framework.objects import CSINode, KubeObject, Node, ObjectMeta, Pod, ResourceSlice
from framework.objects.pod import PodStatus
from framework.objects.timestamps import SECOND
from framework.scheduler import Cluster, Observer, Scheduler
from framework.scheduler.controllers import OF_CHANGES, OF_STORAGE
from framework.scheduler.stillness import WAITS_IN_VAIN, Stillness
from framework.trace.attempt import AttemptTrace

QUIET: Final = 1800 * SECOND
"""A scratch run ends when this long (virtual) nothing was placed: errors are retried for ever."""
HOSTNAME: Final = "kubernetes.io/hostname"
MORE: Final = re.compile(r"-more-(\d+)$")
"""How the name of a node ends that was made after another one, whose name comes before."""
CONDITION_TAINTS: Final = "node.kubernetes.io/"
"""Taints that controllers put on a node for its state; a new node starts without them."""


class LastAttempts(Observer):
    """The newest attempt of every pod, and when one last found a node."""

    def __init__(self) -> None:
        self.by_pod: dict[str, AttemptTrace] = {}
        """``namespace/name`` → attempt."""
        self.last_progress = 0
        self.in_vain = ""
        """Who had a node and lost it so often before it was bound, and nobody was bound meanwhile, that there is no end
        to it: members of a group that is one short call each other back (docs/semantics/runs.md#the-end-of-a-run)."""
        self._lost: dict[str, int] = {}

    def attempt(self, trace: AttemptTrace) -> None:
        self.by_pod[trace.pod] = trace
        if trace.result != "failed":
            self.last_progress = trace.at
        if trace.result == "bound":
            self._lost.clear()

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        if signal.is_success:
            self._lost.clear()
            return
        self._lost[trace.uid] = self._lost.get(trace.uid, 0) + 1
        if self._lost[trace.uid] >= WAITS_IN_VAIN:
            self.in_vain = trace.pod


def placed_and_rest(scheduler: Scheduler) -> Iterator[KubeObject]:
    """Every object of the cluster; pods that are assumed have their node."""
    cache = scheduler.core.cache
    for obj in scheduler.cluster.all():
        if isinstance(obj, Pod) and not obj.spec.node_name:
            assumed = cache.get_pod(obj.metadata.uid)
            if assumed is not None:
                yield replace(obj, spec=replace(obj.spec, node_name=assumed.pod.spec.node_name))
                continue
        yield obj


def is_pending(obj: KubeObject) -> bool:
    return isinstance(obj, Pod) and not obj.spec.node_name


def scratch(like: Scheduler, objects: Iterable[KubeObject], observer: Observer | None = None) -> Scheduler:
    """A scheduler over these objects with the configuration, clock and seed of ``like``."""
    cluster = Cluster()
    # Whoever is evicted here is tried again by hand.
    cluster.set_controllers(OF_STORAGE, OF_CHANGES)
    for obj in objects:
        cluster.put(without_preemption(obj) if isinstance(obj, Pod) and not obj.spec.node_name else obj)
    return Scheduler(
        # A trial asks nobody outside: what extenders would say of it is not known.
        replace(like.configuration, extenders=()),
        like.registry,
        start=like.now,
        seed=like.seed,
        ties=like.core.ties.rule,
        observer=observer or Observer(),
        cluster=cluster,
    )


def without_preemption(pod: Pod) -> Pod:
    """A pod that waits for room instead of making some; its nomination, if it had one, is forgotten."""
    status = replace(pod.status, nominated_node_name="") if pod.status.nominated_node_name else pod.status
    return replace(pod, spec=replace(pod.spec, preemption_policy="Never"), status=status)


def why_not_placed(attempt: AttemptTrace) -> str:
    """kube-scheduler's message without the end that PostFilter wrote: that nobody may be evicted is our doing."""
    messages = ", ".join(outcome.status.message for outcome in attempt.post_filter)
    return attempt.message.removesuffix(f" {messages}")


def one_more(template: Pod, number: int) -> Pod:
    """A new pod like ``template``, without its node, its gates and its history."""
    name = f"{template.metadata.name or template.metadata.generate_name.rstrip('-') or 'pod'}-more-{number}"
    metadata = replace(
        template.metadata,
        name=name,
        generate_name="",
        uid=f"one-more-{number}",
        resource_version="",
        deletion_timestamp=None,
    )
    spec = replace(template.spec, node_name="", scheduling_gates=())
    return without_preemption(Pod(metadata=metadata, spec=spec, status=PodStatus(phase="Pending")))


def node_like(shape: Node, number: int) -> Node:
    """A new, empty and schedulable node with the labels, taints and resources of ``shape``."""
    name = f"{shape.metadata.name}-more-{number}"
    labels = dict(shape.metadata.labels)
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    metadata = replace(shape.metadata, name=name, uid=f"node-like-{number}", labels=labels, resource_version="")
    taints = tuple(taint for taint in shape.spec.taints if not taint.key.startswith(CONDITION_TAINTS))
    return replace(shape, metadata=metadata, spec=replace(shape.spec, unschedulable=False, taints=taints))


def with_its_own(cluster: Cluster, shape: Node, number: int) -> list[KubeObject]:
    """``node_like``, and what a node of that shape brings: its CSINode and the devices that only it publishes."""
    node, old = node_like(shape, number), shape.metadata.name
    made: list[KubeObject] = [node]
    for known in cluster.list(CSINode):
        if known.metadata.name == old:
            made.append(replace(known, metadata=_renamed(known.metadata, node.metadata.name, number)))
    for known_slice in cluster.list(ResourceSlice):
        if known_slice.spec.node_name == old:
            pool = replace(known_slice.spec.pool, name=f"{known_slice.spec.pool.name}-more-{number}")
            spec = replace(known_slice.spec, node_name=node.metadata.name, pool=pool)
            name = f"{known_slice.metadata.name}-more-{number}"
            made.append(replace(known_slice, metadata=_renamed(known_slice.metadata, name, number), spec=spec))
    return made


def _renamed(metadata: ObjectMeta, name: str, number: int) -> ObjectMeta:
    return replace(metadata, name=name, uid=f"{metadata.uid}-more-{number}", resource_version="")


def run_until_quiet(scheduler: Scheduler, outcomes: LastAttempts) -> None:
    """Cycles and timers until nothing more can be placed."""
    outcomes.last_progress, outcomes.in_vain = scheduler.now, ""
    stillness = Stillness()
    while True:
        while not outcomes.in_vain and not stillness.holds(scheduler) and scheduler.step() is not None:
            for trace in scheduler.cycle_traces:
                stillness.ended(trace, scheduler)
        if outcomes.in_vain or stillness.holds(scheduler):
            return
        due = scheduler.next_timer(wakes_only=True)
        if due is None or due - outcomes.last_progress > QUIET:
            return
        scheduler.advance(due)
