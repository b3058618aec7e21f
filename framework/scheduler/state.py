"""Where a scheduler stands, as data: its queue, its waiting pods, the point of a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from framework.cycle import SchedulingCore
from framework.queue import QueuedPodInfo
from framework.trace.attempt import AttemptTrace


class MidCycle(RuntimeError):
    """The call is only allowed between cycles."""


class PointReached(NamedTuple):
    """An extension point is done; the cycle stands between it and the next."""

    point: str
    pod: str
    """``namespace/name``."""
    uid: str
    trace: AttemptTrace
    """Filled in up to here."""


@dataclass(frozen=True, slots=True)
class QueuedPodState:
    key: str
    """``namespace/name``."""
    uid: str
    attempts: int
    since: int
    """Last entry into the queue, nanoseconds."""
    unschedulable_plugins: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    gating_plugin: str = ""
    backoff_until: int | None = None
    """The pod is free at the first whole second after it."""
    after_error: bool = False
    """In the heap of pods whose attempt ended in an error."""


@dataclass(frozen=True, slots=True)
class WaitingPodState:
    key: str
    uid: str
    node_name: str
    deadlines: dict[str, int]
    """Pending plugin → when it times out."""
    waits: dict[str, int]
    """Plugin → the time-out it was given, nanoseconds."""
    asks_a_person: tuple[str, ...]
    """Pending plugins whose wait is for a person."""
    decided: bool


@dataclass(frozen=True, slots=True)
class QueueState:
    active: tuple[QueuedPodState, ...]
    """In pop order."""
    backoff: tuple[QueuedPodState, ...]
    """Rejected pods in pop order, then those after an error."""
    unschedulable: tuple[QueuedPodState, ...]
    gated: tuple[QueuedPodState, ...]
    in_flight: tuple[str, ...]
    """Uids in order of their Pop."""
    waiting: tuple[WaitingPodState, ...]
    nominated: dict[str, str]
    """Uid → node, as the scheduler remembers it."""


def queued_pod_state(core: SchedulingCore, pod: QueuedPodInfo, *, backing_off: bool = False) -> QueuedPodState:
    return QueuedPodState(
        key=pod.key,
        uid=pod.pod.metadata.uid,
        attempts=pod.attempts,
        since=pod.timestamp,
        unschedulable_plugins=tuple(sorted(pod.unschedulable_plugins)),
        pending_plugins=tuple(sorted(pod.pending_plugins)),
        gating_plugin=pod.gating_plugin,
        backoff_until=core.queue.backoff_expiration(pod) if backing_off else None,
        after_error=backing_off and not pod.has_rejectors,
    )


def waiting_pod_states(core: SchedulingCore) -> list[WaitingPodState]:
    """In order of arrival."""
    states = []
    for entry in core.waiting_pods.entries():
        pending = dict(entry.pending_plugins())
        profile = core.profiles.get(entry.pod.spec.scheduler_name)
        people = profile.enabled.asking if profile is not None else frozenset[str]()
        states.append(
            WaitingPodState(
                key=entry.pod.key,
                uid=entry.pod.metadata.uid,
                node_name=entry.node_name,
                deadlines=pending,
                waits=dict(entry.waits()),
                asks_a_person=tuple(plugin for plugin in pending if plugin in people),
                decided=entry.done,
            )
        )
    return states


def queue_state(core: SchedulingCore) -> QueueState:
    queue = core.queue
    waiting = queue.unschedulable()
    return QueueState(
        active=tuple(queued_pod_state(core, pod) for pod in queue.active()),
        backoff=tuple(queued_pod_state(core, pod, backing_off=True) for pod in queue.backoff()),
        unschedulable=tuple(queued_pod_state(core, pod) for pod in waiting if not pod.gated),
        gated=tuple(queued_pod_state(core, pod) for pod in waiting if pod.gated),
        in_flight=tuple(queue.in_flight()),
        waiting=tuple(waiting_pod_states(core)),
        nominated=queue.nominator.nominations(),
    )
