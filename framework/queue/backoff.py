"""Pods that wait out their backoff: one heap for rejected pods, one for pods whose attempt ended in an error.

Expirations are cut to whole seconds, and a pod is free at the first whole second strictly after its expiration
(docs/semantics/queue.md#backoff). Without the gate SchedulerPopFromBackoffQ nothing is cut, no order is kept among pods
that are free at one instant, and the seconds are counted from the start of the queue.
"""

from __future__ import annotations

from typing import Any, Final

from framework.objects.timestamps import SECOND
from framework.queue.heap import KeyedHeap
from framework.queue.queued_pod import QueuedPodInfo, QueueOrder

NOT_BACKING_OFF: Final = -(1 << 62)
"""Upstream's zero time: before every instant."""


def whole_second(time: int) -> int:
    """Pods whose backoff ends within one second leave by priority instead of by nanoseconds."""
    return time - time % SECOND


class BackoffQueue:
    def __init__(
        self, initial: int, maximum: int, order: QueueOrder, *, start: int = 0, pops_early: bool = True
    ) -> None:
        """``start``: when the queue was made; ``pops_early``: the gate SchedulerPopFromBackoffQ."""
        self._start = start
        self.pops_early = pops_early
        self.initial = initial
        self.maximum = maximum
        self._active_order = order
        self._rejected: KeyedHeap[QueuedPodInfo] = KeyedHeap(self._rejected_order)
        self._errors: KeyedHeap[QueuedPodInfo] = KeyedHeap(self._error_order)

    def duration(self, count: int) -> int:
        """Doubles from ``initial`` with every failure, up to ``maximum``.

        A pod that nothing helps soon costs little, and the maximum bounds how late one that was helped is tried.
        """
        shift = count - 1
        return self.maximum if self.initial > self.maximum >> shift else self.initial << shift

    def expiration(self, pod: QueuedPodInfo) -> int:
        # A maximum of 0 switches backoff off altogether.
        count = pod.consecutive_errors_count or pod.unschedulable_count
        if self.maximum == 0 or count == 0:
            return NOT_BACKING_OFF
        if pod.backoff_expiration is None:
            pod.backoff_expiration = self._aligned(pod.timestamp + self.duration(count))
        return pod.backoff_expiration

    def is_backing_off(self, pod: QueuedPodInfo, now: int) -> bool:
        return self.expiration(pod) >= self._aligned(now)

    def _aligned(self, time: int) -> int:
        return whole_second(time) if self.pops_early else time

    def _error_order(self, pod: QueuedPodInfo) -> Any:
        return (self.expiration(pod), pod.sequence)

    def _rejected_order(self, pod: QueuedPodInfo) -> Any:
        return (self.expiration(pod), self._active_order(pod) if self.pops_early else pod.sequence)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._errors)

    def __contains__(self, key: str) -> bool:
        return key in self._rejected or key in self._errors

    def get(self, key: str) -> QueuedPodInfo | None:
        return self._rejected.get(key) or self._errors.get(key)

    def add(self, pod: QueuedPodInfo) -> None:
        mine, other = (self._rejected, self._errors) if pod.has_rejectors else (self._errors, self._rejected)
        mine.add_or_update(pod.key, pod)
        other.delete(pod.key)

    def reorder(self, pod: QueuedPodInfo) -> None:
        """The pod inside was updated."""
        heap = self._rejected if pod.key in self._rejected else self._errors
        heap.add_or_update(pod.key, pod)

    def delete(self, key: str) -> bool:
        return self._rejected.delete(key) is not None or self._errors.delete(key) is not None

    @property
    def has_rejected(self) -> bool:
        return self.pops_early and len(self._rejected) > 0

    def pop_rejected(self) -> QueuedPodInfo | None:
        """Pop may take a rejected pod before its time; never one from the error heap.

        Rules: docs/semantics/queue.md#operations.
        """
        return self._rejected.pop() if self.pops_early else None

    def pop_completed(self, now: int) -> list[QueuedPodInfo]:
        completed: list[QueuedPodInfo] = []
        for heap in (self._rejected, self._errors):
            while (pod := heap.peek()) is not None and not self.is_backing_off(pod, now):
                heap.pop()
                completed.append(pod)
        return completed

    def next_completion(self, now: int) -> int | None:
        """The first flush after ``now`` at which a pod is free; None when nothing backs off."""
        heads = [pod for heap in (self._rejected, self._errors) if (pod := heap.peek()) is not None]
        if not heads:
            return None
        expiration = min(self.expiration(pod) for pod in heads)
        origin = 0 if self.pops_early else self._start
        return origin + ((max(expiration, now) - origin) // SECOND + 1) * SECOND

    def rejected_in_pop_order(self) -> list[QueuedPodInfo]:
        return self._rejected.in_pop_order()

    def errors_in_pop_order(self) -> list[QueuedPodInfo]:
        return self._errors.in_pop_order()

    def reconfigure(self, initial: int, maximum: int, order: QueueOrder, *, pops_early: bool) -> None:
        self.pops_early = pops_early
        self.initial, self.maximum, self._active_order = initial, maximum, order
        self._rejected.rebuild(self._rejected_order)
        self._errors.rebuild(self._error_order)
