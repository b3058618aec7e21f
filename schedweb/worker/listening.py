"""Hears which runs have something to do, and wakes their supervisors: PostgreSQL's LISTEN, in a thread of a worker.

What is missed while the connection is away is found by the supervisors themselves (ENGINE_POLL_SECONDS).
"""

from __future__ import annotations

import logging
import threading
from typing import Final
from uuid import UUID

import psycopg
from django.db import DatabaseError, InterfaceError, connection

from schedweb.database.silence import SILENCE
from schedweb.runs.playing.wakeups import CHANNEL, WAKEUPS
from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 1.0
"""So often is looked whether it is to end, and whether the connection lives."""
SILENT_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 1.0


def listen_until(stopping: threading.Event) -> None:
    """Returns soon after it is set; at once without PostgreSQL, where all supervisors are in one process."""
    if connection.vendor != "postgresql":
        return
    SILENCE.set(SILENT_SECONDS)
    try:
        while not stopping.is_set():
            try:
                listen(stopping)
            except (DatabaseError, InterfaceError, psycopg.Error) as error:
                log.warning("wake-ups are not heard, commands are looked for: %s", str(error).strip())
                close_own_connection()
                stopping.wait(AGAIN_SECONDS)
    finally:
        close_own_connection()


def listen(stopping: threading.Event) -> None:
    """Raises DatabaseError, InterfaceError or psycopg's Error when the connection is lost."""
    connection.ensure_connection()
    raw: psycopg.Connection[object] = connection.connection
    raw.execute(f"LISTEN {CHANNEL}")
    while not stopping.is_set():
        for told in raw.notifies(timeout=LOOK_SECONDS):
            WAKEUPS.wake(UUID(told.payload))
        # Nothing else is ever said on it, so a connection that is dead would not be known to be.
        raw.execute("SELECT 1")
