"""Work with the database that waits in place while the database is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError

from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
T = TypeVar("T")
PAUSE_SECONDS: Final = 0.2


def patiently(work: Callable[[], T]) -> T:
    """Tries again as long as a lease may last: a connection that was cut is no reason to give a run away.

    ``work`` may be done twice where only the answer to a commit was lost, and must bear that. Raises what the database
    said last.
    """
    until = time.monotonic() + settings.ENGINE_LEASE_SECONDS
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > until:
                raise
            log.warning("the database does not answer, tried again: %s", str(error).strip())
            close_own_connection()
            time.sleep(PAUSE_SECONDS)
