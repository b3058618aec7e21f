"""Runs beside real clusters that were to go on until a time, and are stopped then by whichever worker looks first."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from framework.sentences import sentence
from schedweb.engine.commands import Stop, plain
from schedweb.engine.times import wall
from schedweb.runs.models import Followed, JournalEntry, Run
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.storing.statements import append

log = logging.getLogger(__name__)


def stops_of(run: Run) -> QuerySet[JournalEntry]:
    """What told the run to stop and was not refused, the first before others."""
    return JournalEntry.objects.filter(run=run, type="stop").exclude(status="refused").order_by("number")


def end_due() -> list[Run]:
    """Those that were told to stop now: by a command of the journal, so that it is done once, also by a worker that
    takes over or begins after the time."""
    due = Followed.objects.filter(ends_at__lte=timezone.now(), run__deleted_at=None)
    rows = due.exclude(run__state=Run.State.STOPPED).values_list("run", flat=True)
    return [run for each in rows if (run := _end(each)) is not None]


def _end(key: UUID) -> Run | None:
    """None where it goes on, or is told already."""
    try:
        with transaction.atomic():
            row = Followed.objects.select_for_update().select_related(None).get(run=key)
            run = Run.objects.defer("columns").get(pk=row.run_id)
            if row.ends_at is None or row.ends_at > timezone.now() or stops_of(run).exists():
                return None
            append(JournalEntry(run=run, type="stop", command=plain(Stop()), created_at=timezone.now()))
            row.ended = sentence("It was to go on until {time}, and ended then.", time=wall(row.ends_at))
            row.save(update_fields=["ended"])
            run_dispatch(run.pk)
    except (IntegrityError, Followed.DoesNotExist, Run.DoesNotExist):
        return None  # somebody's command took the number, so it is tried at the next look; or the run is gone
    log.info("%s was to go on until now, and is stopped", run)
    return run
