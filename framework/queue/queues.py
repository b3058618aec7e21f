"""The places in which pods wait for the scheduler: the heap of active pods, backoff, unschedulable, and in flight."""

from __future__ import annotations

import hashlib
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from framework.interface.events import ClusterEvent
from framework.interface.signature import signature
from framework.objects import KubeObject, Pod
from framework.objects.timestamps import SECOND
from framework.queue.queued_pod import QueuedPodInfo, QueueOrder

T = TypeVar("T")
STALE_AT_LEAST: Final = 64
"""Fewer stale entries are not worth sweeping."""


class KeyedHeap(Generic[T]):
    """A priority queue of keyed items from whose middle one can be taken or changed (upstream ``backend/heap``).

    At most one item per key. ``order`` gives what items are compared by, once, when the item comes or changes.
    ``heapq`` over (order, number of the entry, key): an item that was taken out or changed leaves a stale entry behind,
    which is skipped when it comes up, and swept out when stale entries are in the majority.
    """

    __slots__ = ("_entries", "_items", "_number", "_order")

    def __init__(self, order: Callable[[T], Any]) -> None:
        self._order = order
        self._entries: list[tuple[Any, int, str]] = []
        self._items: dict[str, tuple[int, T]] = {}
        """Key → (number of the entry that counts, item)."""
        self._number = 0

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def get(self, key: str) -> T | None:
        found = self._items.get(key)
        return None if found is None else found[1]

    def peek(self) -> T | None:
        entries, items = self._entries, self._items
        while entries:
            _, number, key = entries[0]
            found = items.get(key)
            if found is not None and found[0] == number:
                return found[1]
            heapq.heappop(entries)
        return None

    def add_or_update(self, key: str, item: T) -> None:
        self._number += 1
        self._items[key] = (self._number, item)
        heapq.heappush(self._entries, (self._order(item), self._number, key))
        self._sweep()

    def pop(self) -> T | None:
        entries, items = self._entries, self._items
        while entries:
            _, number, key = heapq.heappop(entries)
            found = items.get(key)
            if found is not None and found[0] == number:
                del items[key]
                return found[1]
        return None

    def delete(self, key: str) -> T | None:
        """The item that was removed, or None."""
        found = self._items.pop(key, None)
        if found is None:
            return None
        self._sweep()
        return found[1]

    def __iter__(self) -> Iterator[T]:
        """In no order."""
        return (item for _, item in self._items.values())

    def in_pop_order(self) -> list[T]:
        return [self._items[key][1] for _, _, key in sorted(self._current())]

    def rebuild(self, order: Callable[[T], Any]) -> None:
        """Takes another order; of items that it does not tell apart, those that came first stay first."""
        self._order = order
        self._entries = [(order(item), number, key) for key, (number, item) in self._items.items()]
        heapq.heapify(self._entries)

    def _current(self) -> list[tuple[Any, int, str]]:
        items = self._items
        return [entry for entry in self._entries if entry[2] in items and items[entry[2]][0] == entry[1]]

    def _sweep(self) -> None:
        if len(self._entries) - len(self._items) > max(len(self._items), STALE_AT_LEAST):
            self._entries = self._current()
            heapq.heapify(self._entries)


NOT_BACKING_OFF: Final = -(1 << 62)
"""Upstream's zero time: before every instant."""


def whole_second(time: int) -> int:
    """Pods whose backoff ends within one second leave by priority instead of by nanoseconds."""
    return time - time % SECOND


class BackoffQueue:
    """Pods that wait out their backoff: one heap for rejected pods, one for pods whose attempt ended in an error.

    Expirations are cut to whole seconds, and a pod is free at the first whole second strictly after its expiration
    (docs/semantics/queue.md#backoff). Without the gate SchedulerPopFromBackoffQ nothing is cut, no order is kept among
    pods that are free at one instant, and the seconds are counted from the start of the queue.
    """

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

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """In no order."""
        yield from self._rejected
        yield from self._errors

    def rejected_in_pop_order(self) -> list[QueuedPodInfo]:
        return self._rejected.in_pop_order()

    def errors_in_pop_order(self) -> list[QueuedPodInfo]:
        return self._errors.in_pop_order()

    def reconfigure(self, initial: int, maximum: int, order: QueueOrder, *, pops_early: bool) -> None:
        self.pops_early = pops_early
        self.initial, self.maximum, self._active_order = initial, maximum, order
        self._rejected.rebuild(self._rejected_order)
        self._errors.rebuild(self._error_order)


class UnschedulablePods:
    """Pods that were rejected and wait for something to change, and gated pods (docs/semantics/queue.md#structures).

    Indexed by rejecting plugin, so that an event looks only at the pods whose rejectors registered for it.
    """

    __slots__ = ("_ages", "_by_plugin", "_digests", "_indexed", "_sequence", "_without_rejectors", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, tuple[int, QueuedPodInfo]] = {}
        """Key → (its turn, the pod)."""
        self._indexed: dict[str, list[str]] = {}
        self._by_plugin: dict[str, dict[str, None]] = {}
        self._without_rejectors: dict[str, None] = {}
        self._ages: list[tuple[int, int, str]] = []
        self._sequence = 0
        self._digests: dict[str, tuple[Pod, bytes]] = {}

    def __len__(self) -> int:
        return len(self.pods)

    def __contains__(self, key: str) -> bool:
        return key in self.pods

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """In order of entry."""
        return (pod for _, pod in self.pods.values())

    def get(self, key: str) -> QueuedPodInfo | None:
        found = self.pods.get(key)
        return None if found is None else found[1]

    def add_or_update(self, pod: QueuedPodInfo) -> None:
        """Also called for a pod that is inside and whose rejectors may have changed; it keeps its turn."""
        known = self.pods.get(pod.key)
        if known is None:
            self._sequence += 1
            sequence = self._sequence
        else:
            sequence = known[0]
            self._forget(pod.key)
        self.pods[pod.key] = (sequence, pod)
        rejectors = pod.rejectors()
        self._indexed[pod.key] = rejectors
        for plugin in rejectors:
            self._by_plugin.setdefault(plugin, {})[pod.key] = None
        if not rejectors:
            self._without_rejectors[pod.key] = None
        if known is None and not pod.gated:
            heapq.heappush(self._ages, (pod.timestamp, sequence, pod.key))

    def delete(self, key: str) -> QueuedPodInfo | None:
        found = self.pods.pop(key, None)
        if found is None:
            return None
        self._forget(key)
        self._digests.pop(key, None)
        return found[1]

    def likeness(self, pod: QueuedPodInfo) -> bytes:
        """The same of pods that differ in nothing but what no hint for equal pods may look at."""
        known = self._digests.get(pod.key)
        if known is None or known[0] is not pod.pod:
            digest = hashlib.blake2b(signature(pod.pod_info), digest_size=16).digest()
            known = self._digests[pod.key] = (pod.pod, digest)
        return known[1]

    def _forget(self, key: str) -> None:
        for plugin in self._indexed.pop(key):
            pods = self._by_plugin[plugin]
            del pods[key]
            if not pods:
                del self._by_plugin[plugin]
        self._without_rejectors.pop(key, None)

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedPodInfo]:
        """Pods that one of the plugins rejected, and pods that nobody did, in order of entry."""
        keys = dict(self._without_rejectors)
        for plugin in plugins:
            keys.update(self._by_plugin.get(plugin, {}))
        return [pod for _, pod in sorted((self.pods[key] for key in keys), key=lambda found: found[0])]

    def oldest(self, *, gated: bool) -> int | None:
        """The earliest timestamp of a pod that is (or is not) gated."""
        if gated:
            return min((pod.timestamp for _, pod in self.pods.values() if pod.gated), default=None)
        ages = self._ages
        while ages:
            timestamp, sequence, key = ages[0]
            found = self.pods.get(key)
            if found is not None and found[0] == sequence and not found[1].gated:
                return timestamp
            # Gone, or gated since: a gated pod that loses its gate leaves this pool at once.
            heapq.heappop(ages)
        return None


class InFlightEvent(msgspec.Struct, frozen=True):
    sequence: int
    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


class InFlight:
    """In-flight pods and the events that arrived meanwhile (docs/semantics/queue.md#operations; upstream
    ``inFlightEvents``).

    One sequence numbers pods and events in order of arrival; a pod's events are those with a higher number.
    """

    __slots__ = ("_events", "_sequence", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, int] = {}
        """Uid → its number, in order of their Pop."""
        self._events: deque[InFlightEvent] = deque()
        self._sequence = 0

    def __len__(self) -> int:
        return len(self.pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self.pods

    @property
    def size(self) -> int:
        return len(self.pods) + len(self._events)

    def uids(self) -> list[str]:
        """In order of their Pop."""
        return list(self.pods)

    def newest_pod(self) -> int:
        """The sequence number of the pod that was popped last; 0 without one."""
        return next(reversed(self.pods.values()), 0)

    def add_pod(self, uid: str) -> None:
        self._sequence += 1
        self.pods[uid] = self._sequence

    def add_event(self, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None) -> int:
        self._sequence += 1
        self._events.append(InFlightEvent(self._sequence, event, old, new))
        return self._sequence

    def events_since(self, uid: str) -> list[InFlightEvent]:
        """The events that arrived after the pod was popped, oldest first."""
        since = self.pods[uid]
        events: list[InFlightEvent] = []
        for event in reversed(self._events):
            if event.sequence < since:
                break
            events.append(event)
        events.reverse()
        return events

    def done(self, uid: str) -> None:
        """Idempotent. Events that no pod in flight has to look at are dropped."""
        if self.pods.pop(uid, None) is None:
            return
        if not self.pods:
            self._events.clear()
            return
        oldest = next(iter(self.pods.values()))
        while self._events and self._events[0].sequence < oldest:
            self._events.popleft()
