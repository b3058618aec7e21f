"""Which queued pods hear of an event at all, and telling of those that no plugin is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from framework.interface.events import ClusterEvent
from framework.objects import KubeObject, Pod
from framework.queue.hints import HintMap, matches
from framework.queue.queued_pod import EventForPod, IgnoredEvent, QueuedPodInfo, QueueObserver


def hears_of(pod: QueuedPodInfo, event: ClusterEvent) -> bool:
    """A gated pod hears of what its gating plugin registered for, every other pod of everything."""
    return not pod.gated or any(matches(registered, event) for registered in pod.gating_events)


def tell_ignored(
    observer: QueueObserver,
    hints: Mapping[str, HintMap],
    event: ClusterEvent,
    old: KubeObject | None,
    new: KubeObject | None,
    pods: list[QueuedPodInfo],
) -> None:
    """``hints``: of each profile."""
    asked = {name: each.plugins_hearing(event) for name, each in hints.items()}
    observer.event_ignored(IgnoredEvent(event, old, new, pods, asked))


def tell_others(
    observer: QueueObserver,
    asked: Sequence[QueuedPodInfo],
    waiting: Iterable[QueuedPodInfo],
    told: EventForPod,
    is_meant: Callable[[Pod], bool] | None = None,
) -> None:
    """``told`` of those among ``waiting`` whose rejectors wait for nothing of the kind: they are not ``asked``.

    ``is_meant``: which pods the event is for at all; None for all.
    """
    keys = {pod.key for pod in asked}
    for pod in waiting:
        if pod.key not in keys and hears_of(pod, told.event) and (is_meant is None or is_meant(pod.pod)):
            observer.event_for_pod(replace(told, pod=pod))
