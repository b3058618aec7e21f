"""What keeps a worker of the replaced database from writing into the restored one.

Its lease is an epoch of its run, and what is restored may have the very same. So every run gets an epoch that no worker
can have, and no holder: the worker is told at its next write that it lost the lease, and another one takes over.
"""

from __future__ import annotations

import datetime
from typing import Final

BEGINNING: Final = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def fence() -> str:
    """SQL for both databases, also as older versions had them: only columns that were there from the first release on.

    Takeovers count epochs up by one, and there is less than one a second: the seconds since the beginning of this
    product are beyond all that were given out, also after an earlier restore.
    """
    now = int((datetime.datetime.now(datetime.UTC) - BEGINNING).total_seconds())
    return (
        f"UPDATE runs_run SET epoch = CASE WHEN epoch < {now} THEN {now} ELSE epoch + 1 END, "
        "lease_owner = '', lease_expires = NULL"
    )
