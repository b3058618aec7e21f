"""Work with the database that waits in place while the database is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from schedweb.api.failures import noted_failure
from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
T = TypeVar("T")
PAUSE_SECONDS: Final = 0.2


def patiently(work: Callable[[], T]) -> T:
    """Tries again as long as a lease may last, and once more, as a single try on a busy machine may take as long: a
    connection that was cut is no reason to give a run away.

    ``work`` may be done twice where only the answer to a commit was lost, and must bear that. Raises what the database
    said last.
    """
    until = time.monotonic() + settings.ENGINE_LEASE_SECONDS
    is_last = False
    while True:
        try:
            return work()
        except (DatabaseError, InterfaceError) as error:
            noted_failure(error)
            if is_last or not is_away(error):
                raise
            is_last = time.monotonic() > until
            log.warning("the database does not answer, tried again: %s", str(error).strip())
            close_own_connection()
            time.sleep(PAUSE_SECONDS)


def is_away(error: Exception) -> bool:
    """Whether the connection is at fault, not what was asked: PostgreSQL also ends one whose client stood still in the
    middle of a transaction, which Django knows as an internal error."""
    return isinstance(error, OperationalError | InterfaceError) or isinstance(
        error.__cause__, psycopg.errors.IdleInTransactionSessionTimeout
    )
