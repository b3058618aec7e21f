"""What is done by itself, every hour, by one worker at a time."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from schedweb.keeping.deleted import remove_overdue
from schedweb.keeping.retention import measure_others, pruned
from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
LOCK: Final = 0x6B656570
"""Of PostgreSQL's advisory locks: "keep"."""


@contextlib.contextmanager
def one_at_a_time() -> Iterator[bool]:
    """Whether this process has the turn. SQLite's only worker always has it."""
    if connection.vendor != "postgresql":
        yield True
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        [mine] = cursor.fetchone() or (False,)
    try:
        yield bool(mine)
    finally:
        if mine:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def keep_house() -> None:
    with one_at_a_time() as mine:
        if mine:
            remove_overdue()
            measure_others()
            pruned()


def keep_house_until(stop: threading.Event) -> None:
    """Soon after the start, then as often as the setting says."""
    try:
        pause = settings.HOUSEKEEPING_FIRST_SECONDS
        while not stop.wait(pause):
            pause = settings.HOUSEKEEPING_SECONDS
            try:
                close_old_connections()
                keep_house()
            except (DatabaseError, OSError) as error:
                log.warning("housekeeping has to wait: %s", error)
            except Exception:
                log.exception("housekeeping failed; it is tried again")
    finally:
        close_own_connection()
