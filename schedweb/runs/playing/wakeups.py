"""Wakes a run's supervisor as soon as a command is stored.

In one process (embedded) at once. Supervisors of other processes look for commands every ENGINE_POLL_SECONDS, so a lost
wake-up delays a command and loses nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final
from uuid import UUID


class Wakeups:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: dict[UUID, Callable[[], None]] = {}

    def register(self, run: UUID, wake: Callable[[], None]) -> None:
        with self._lock:
            self._wakes[run] = wake

    def forget(self, run: UUID, wake: Callable[[], None]) -> None:
        with self._lock:
            if self._wakes.get(run) == wake:
                del self._wakes[run]

    def wake(self, run: UUID) -> None:
        with self._lock:
            wake = self._wakes.get(run)
        if wake is not None:
            wake()


WAKEUPS: Final = Wakeups()
