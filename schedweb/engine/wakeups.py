"""Wakes a run's supervisor as soon as a command is stored.

In one process (embedded) by an event. Supervisors of other processes look for commands every POLL_SECONDS, so a lost
wake-up delays a command and loses nothing.
"""

from __future__ import annotations

import threading
from typing import Final
from uuid import UUID

POLL_SECONDS: Final = 0.1


class Wakeups:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[UUID, threading.Event] = {}

    def register(self, run: UUID) -> threading.Event:
        with self._lock:
            return self._events.setdefault(run, threading.Event())

    def forget(self, run: UUID) -> None:
        with self._lock:
            self._events.pop(run, None)

    def wake(self, run: UUID) -> None:
        with self._lock:
            event = self._events.get(run)
        if event is not None:
            event.set()


WAKEUPS: Final = Wakeups()
