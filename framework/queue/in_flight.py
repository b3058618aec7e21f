"""In-flight pods and the events that arrived meanwhile.

Rules: docs/semantics/queue.md#structures, docs/semantics/queue.md#operations; upstream ``inFlightEvents``.
"""

from __future__ import annotations

from collections import deque

import msgspec

from framework.interface.events import ClusterEvent
from framework.objects import KubeObject


class InFlightEvent(msgspec.Struct, frozen=True):
    sequence: int
    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


class InFlight:
    """One sequence numbers pods and events in order of arrival; a pod's events are those with a higher number."""

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
        oldest = next(iter(self.pods.values()), None)
        if oldest is None:
            self._events.clear()
            return
        while self._events and self._events[0].sequence < oldest:
            self._events.popleft()
