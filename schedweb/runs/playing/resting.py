"""Waiting until a run rests: nothing plays, and no command is on its way.

The row is looked at, at growing intervals of at most a second, because it is the one thing that every web process
shares with whatever worker plays the run. A look is one read of one row by its key.
"""

from __future__ import annotations

import threading
import time
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef
from rest_framework import exceptions

from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.records.beginning import is_beginning
from schedweb.sentences import say
from schedweb.stopping import STOPPING

LONGEST: Final = 50
"""Seconds. Proxies give up on an answer after a minute."""
MOST: Final = 64
"""Requests that wait at once in a process: each holds a thread."""
FIRST_PAUSE: Final = 0.05
LAST_PAUSE: Final = 1.0
RESTING: Final = (*Run.AT_REST, Run.State.CREATED, Run.State.PAUSED, Run.State.FINISHED, Run.State.WAITING_FOR_PERSON)

_places = threading.BoundedSemaphore(MOST)


def rests(run: UUID) -> bool:
    """Also of a run that is not there (any more). The journal has a command as applied before it is done; until what it
    leads to is stored, the run is `obeying`. One statement reads both: of two, the first could see the run as it was
    before a batch and the second the journal as it is after it."""
    waiting = JournalEntry.objects.filter(run=OuterRef("pk"), status=JournalEntry.Status.PENDING)
    fields = ("state", "seq", "error", "unwritten", "obeying", Exists(waiting))
    found = Run.objects.filter(pk=run).values_list(*fields).first()
    if found is None:
        return True
    state, seq, error, unwritten, obeying, has_waiting = found
    # Lists do not have all pods while some are unwritten, and none before the first batch.
    lists_all = not unwritten and not is_beginning(state, seq, error)
    return state in Run.AT_REST or (state in RESTING and not has_waiting and lists_all and not obeying)


def wait_for_rest(run: UUID, seconds: float) -> bool:
    """Whether it rests, at once or after so many seconds at most. Raises Throttled when too many wait already."""
    if rests(run):
        return True
    if not _places.acquire(blocking=False):
        raise exceptions.Throttled(1, say("{most} requests wait for runs already. Ask again in a second.", most=MOST))
    try:
        return _wait(run, time.monotonic() + seconds)
    finally:
        _places.release()


def _wait(run: UUID, deadline: float) -> bool:
    pause = FIRST_PAUSE
    while (left := deadline - time.monotonic()) > 0:
        # Others need it more than somebody who sleeps.
        connection.close()
        is_ending = STOPPING.wait(min(pause, left))
        if rests(run):
            return True
        if is_ending:
            return False
        pause = min(pause * 1.5, LAST_PAUSE)
    return False
