"""Finding a worker for a run: a message to the broker at once, and every worker's sweep in case that is lost."""

from __future__ import annotations

import datetime
import logging
from uuid import UUID

from celery import current_app
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from schedweb.runs.models import Run
from schedweb.runs.playing.wakeups import WAKEUPS

log = logging.getLogger(__name__)
PLAY = "runs.play"
#: A run that was offered to the broker is not offered again before this has passed.
PATIENCE = datetime.timedelta(seconds=5)


def run_dispatch(run: UUID) -> None:
    """After the transaction: wakes the supervisor that has the run, or asks for one."""

    def send() -> None:
        WAKEUPS.wake(run)
        if Run.objects.filter(pk=run, lease_expires__gt=timezone.now()).exclude(lease_owner="").exists():
            return
        offer(run)

    transaction.on_commit(send)


def offer(run: UUID) -> None:
    try:
        current_app.send_task(PLAY, args=[str(run)])
    except (OperationalError, OSError) as error:
        # The command is stored and the run is wanted: a worker's sweep finds it when the broker is back.
        log.warning("run %s could not be offered to a worker now: %s", run, error)


def sweep(most: int) -> list[UUID]:
    """Offers runs that somebody should hold and nobody does: at most as many as the worker that sweeps has room for.

    Workers do this every second. Offers of those that have no room would pile up at the broker.
    """
    now = timezone.now()
    with transaction.atomic():
        lost = Run.objects.filter(
            Q(lease_expires=None) | Q(lease_expires__lt=now) | Q(lease_owner=""),
            Q(dispatched_at=None) | Q(dispatched_at__lt=now - PATIENCE),
            wanted=True,
        ).exclude(state__in=(Run.State.FAILED, Run.State.STOPPED))
        if connection.features.has_select_for_update_skip_locked:
            lost = lost.select_for_update(skip_locked=True)
        found = list(lost.values_list("pk", flat=True)[: max(0, most)])
        Run.objects.filter(pk__in=found).update(dispatched_at=now)
    for run in found:
        offer(run)
    return found
