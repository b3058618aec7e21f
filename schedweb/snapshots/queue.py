"""Imports that wait for a worker: whose turn it is, and how many one person may have."""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from typing import Final
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Max, QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from framework.sentences import sentence
from schedweb.api.errors import TooMany
from schedweb.sentences import say
from schedweb.snapshots.models import Import
from schedweb.snapshots.services import PATIENCE, import_unread
from schedweb.turns import LOOKED_AT, Waits, next_in_turn

log = logging.getLogger(__name__)
READ: Final = "snapshots.read_import"
ASK_AGAIN_SECONDS: Final = 5


def announce() -> None:
    """Has a worker look at what waits."""
    current_app.send_task(READ)


def offer(row: Import) -> None:
    """To a worker; when none can be reached the import has failed, and says so."""
    try:
        announce()
    except (OperationalError, OSError) as error:
        log.warning("import %s could not be given to a worker: %s", row.pk, error)
        import_unread(row=row, why=sentence("No worker can be reached now. Try again."))


def untaken() -> QuerySet[Import]:
    return Import.objects.filter(state=Import.State.READING, lease_expires=None)


def next_import() -> UUID | None:
    """The one whose turn it is, of those that no worker reads."""
    waiting = untaken().order_by("created_at").values_list("pk", "created_by", "created_at")[:LOOKED_AT]
    taken = Import.objects.exclude(lease_expires=None).order_by()
    reading = taken.filter(state=Import.State.READING, lease_expires__gt=Now())
    under_way = Counter(reading.values_list("created_by", flat=True))
    last_turn = dict(taken.values_list("created_by").annotate(Max("lease_expires")))
    return next_in_turn(itertools.starmap(Waits, waiting), under_way, last_turn)


def imports_wait() -> None:
    """Says that there is a worker, whose places are all taken: those that wait are not lost."""
    untaken().update(waits_until=Now() + PATIENCE)


def refuse_too_many(user: User) -> None:
    """Raises TooMany when that person has as many files being read as one person may."""
    most = settings.PER_PERSON["imports"]
    if Import.objects.filter(created_by=user, state=Import.State.READING).count() >= most:
        raise TooMany(
            say("{most} files of yours are being read, which is the most. Send this one when one is read.", most=most),
            code="too_many_imports",
            wait=ASK_AGAIN_SECONDS,
        )
