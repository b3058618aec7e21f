"""Wakes a run's supervisor as soon as a command is stored.

In one process (embedded) at once, in others by PostgreSQL's NOTIFY (`schedweb/worker/listening.py` hears it).
Supervisors look for commands every ENGINE_POLL_SECONDS as well, so a lost wake-up delays a command and loses nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

log = logging.getLogger(__name__)
CHANNEL: Final = "run_wakeups"
"""Of NOTIFY; the payload is the run's id."""


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


def wake_holder(run: UUID) -> None:
    """Whichever process has the run. After the transaction: who is woken looks for what is stored."""
    WAKEUPS.wake(run)
    if connection.vendor != "postgresql":
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(run)])
    except (DatabaseError, InterfaceError) as error:
        log.warning("nobody was told that run %s has a command, it is found soon: %s", run, str(error).strip())
