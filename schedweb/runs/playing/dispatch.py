"""Finding a worker for a run: a message to the broker at once, and every worker's sweep in case that is lost.

A message only says that something waits; what a worker takes is whose turn it is (schedweb/turns.py).
Nothing here locks a row for longer than one statement: whoever stands still keeps nobody else waiting.
"""

from __future__ import annotations

import datetime
import itertools
import logging
from collections import Counter
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from schedweb.engine.shapes import UntranslatedOutcome
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.wakeups import wake_holder
from schedweb.runs.storing.batches import deleted, refuse_pending, stopped
from schedweb.runs.storing.lease import held, held_by_nobody, to_be_held
from schedweb.turns import LOOKED_AT, Waits, next_in_turn

log = logging.getLogger(__name__)
PLAY = "runs.play"
UNHEARD_RENEWALS = 6
"""So many renewals after its last one, a holder is not heard of; what takes over is made ready meanwhile."""
UNTAKEN = datetime.timedelta(seconds=10)
"""So long after its lease ran out, a run of an unheard holder may be taken over at any moment."""


def run_dispatch(run: UUID) -> None:
    """After the transaction: wakes the supervisor that has the run, or asks for one."""

    def send() -> None:
        wake_holder(run)
        if Run.objects.filter(held(), pk=run).exists():
            return
        offer(run)

    transaction.on_commit(send)


def offer(run: UUID) -> None:
    """Has a worker look at what waits, this run with it."""
    try:
        current_app.send_task(PLAY)
    except (OperationalError, OSError) as error:
        # The command is stored and the run is wanted: a worker's sweep finds it when the broker is back.
        log.warning("run %s could not be offered to a worker now: %s", run, error)


def waiting_runs() -> QuerySet[Run]:
    """Runs that somebody should hold and nobody does."""
    return Run.objects.filter(to_be_held(), held_by_nobody())


def runs_unheard_of(owner: str) -> list[UUID]:
    """Those to be held whose holder missed some renewals, or whose lease ran out a moment ago; none of this owner's."""
    unheard_for = UNHEARD_RENEWALS * settings.ENGINE_RENEW_SECONDS
    left = datetime.timedelta(seconds=settings.ENGINE_LEASE_SECONDS - unheard_for)
    late = Run.objects.filter(to_be_held(), lease_expires__lt=Now() + left, lease_expires__gt=Now() - UNTAKEN)
    return list(late.exclude(lease_owner__in=("", owner)).order_by("number").values_list("pk", flat=True))


def refuse_late() -> list[tuple[Run, list[UntranslatedOutcome]]]:
    """Commands of runs that were stopped or are deleted: stored while that happened, by somebody who could not see it
    yet. Answers what is to be told of them."""
    over = Q(run__state=Run.State.STOPPED) | Q(run__deleted_at__isnull=False)
    late = JournalEntry.objects.filter(over, status=JournalEntry.Status.PENDING)
    runs = Run.every.filter(pk__in=late.values("run"))
    return [(run, refuse_pending(run, stopped(run) if run.deleted_at is None else deleted(run))) for run in runs]


def runs_held() -> Counter[int | None]:
    """How many are held by workers, by the account that started them."""
    return Counter(Run.objects.filter(held()).values_list("started_by", flat=True))


def next_run() -> UUID | None:
    """The one whose turn it is, of those that wait for a worker."""
    waiting = waiting_runs().order_by(F("worker_since").asc(nulls_first=True), "number")
    rows = waiting.values_list("pk", "started_by", "worker_since")[:LOOKED_AT]
    last_turn = dict(Run.objects.order_by().values_list("started_by").annotate(Max("worker_since")))
    return next_in_turn(itertools.starmap(Waits, rows), runs_held(), last_turn)
