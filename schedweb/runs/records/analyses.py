"""A question about a moment of a run: stored, given to a worker; a known answer is given at once."""

from __future__ import annotations

import datetime
import hashlib
import logging
from typing import Any, Final
from uuid import UUID

import msgspec
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from kombu.exceptions import OperationalError

from framework.said import Content, said
from schedweb.api.errors import ApiError, not_found
from schedweb.engine.questions import MOMENT, AnyQuestion
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Analysis, Attempt, Run
from schedweb.sentences import say

log = logging.getLogger(__name__)
ANALYSE: Final = "runs.analyse"
#: How long a question may wait for a worker before it may be asked again.
PATIENCE: Final = datetime.timedelta(seconds=60)
KEPT_MOMENTS: Final = 40
KEPT_ANSWERS: Final = 200
OPEN: Final = (Analysis.Status.PENDING, Analysis.Status.RUNNING)


def checked_position(run: Run, position: int | None) -> int:
    """Where the run is when none is named. A position before the beginning or beyond the run is refused."""
    if position is None:
        return run.position
    if position > run.position:
        raise ApiError(
            say(
                "Position {position:,} is beyond {run}, which is at {reached:,}.",
                position=position,
                run=run,
                reached=run.position,
            ),
            code="beyond_the_run",
            status_code=422,
            path="position",
        )
    return position


def analysis_ask(*, run: Run, asked_by: str, question: AnyQuestion, position: int) -> tuple[Analysis, bool]:
    """(the analysis, whether it is new). One that failed, was cancelled or lost its worker is begun again."""
    content: dict[str, Any] = msgspec.to_builtins(question)
    name = content.pop("question")
    digest = hashlib.sha256(msgspec.json.encode([ENGINE_VERSION, name, content], order="deterministic")).hexdigest()
    until = timezone.now() + PATIENCE
    with transaction.atomic():
        found, is_new = Analysis.objects.select_for_update().get_or_create(
            run=run,
            position=position,
            key=digest,
            defaults={"name": name, "arguments": content, "asked_by": asked_by, "expires": until},
        )
        again = not is_new and (
            found.status in (Analysis.Status.FAILED, Analysis.Status.CANCELLED)
            or (found.status in OPEN and found.expires < timezone.now())
        )
        if again:
            found.status, found.error, found.expires = Analysis.Status.PENDING, "", until
            Analysis.objects.filter(pk=found.pk).update(status=found.status, error="", expires=until)
        if is_new or again:
            transaction.on_commit(lambda: offer(found.pk))
    return found, is_new or again


def offer(analysis: UUID) -> None:
    try:
        current_app.send_task(ANALYSE, args=[str(analysis)])
    except (OperationalError, OSError) as error:
        log.warning("analysis %s could not be given to a worker: %s", analysis, error)
        text = said("No worker can be reached now. Try again.")
        Analysis.objects.filter(pk=analysis).update(status=Analysis.Status.FAILED, error=text)


def analysis_cancel(*, run: UUID, analysis: UUID) -> Analysis:
    """What has ended already stays as it is. The worker sees it and ends the process."""
    Analysis.objects.filter(run=run, pk=analysis, status__in=OPEN).update(status=Analysis.Status.CANCELLED)
    found = Analysis.objects.filter(run=run, pk=analysis).first()
    if found is None:
        raise not_found(say("This run has no such analysis."))
    return found


def attempts_before(run: Run, position: int) -> int:
    """The number of the last attempt whose cycle had ended there; 0 for none."""
    rows = Attempt.objects.filter(run=run, position__lte=position)
    return rows.aggregate(last=Max("number"))["last"] or 0


def claim(analysis: UUID) -> Analysis | None:
    """None when somebody else works on it, or nobody has to."""
    until = timezone.now() + datetime.timedelta(seconds=settings.ANALYSIS_SECONDS) + PATIENCE
    claimed = Analysis.objects.filter(pk=analysis, status=Analysis.Status.PENDING).update(
        status=Analysis.Status.RUNNING, expires=until
    )
    if not claimed:
        return None
    return Analysis.objects.select_related("run__snapshot", "run__first_configuration_version").get(pk=analysis)


def finish(analysis: Analysis, content: bytes = b"", *, blob: bytes = b"", error: Content = "", seconds: float) -> None:
    """Nothing is written over a cancellation, nor over the answer of another worker."""
    Analysis.objects.filter(pk=analysis.pk, status=Analysis.Status.RUNNING).update(
        status=Analysis.Status.FAILED if error else Analysis.Status.DONE,
        error=error,
        result=content.decode(),
        blob=blob or None,
        seconds=seconds,
    )
    forget_old(analysis)


def forget_old(newest: Analysis) -> None:
    """A run keeps its newest answers; moments are large, so fewer of them."""
    known = Analysis.objects.filter(run=newest.run_id).exclude(status__in=OPEN)
    for rows, kept in ((known.filter(name=MOMENT), KEPT_MOMENTS), (known.exclude(name=MOMENT), KEPT_ANSWERS)):
        old = list(rows.order_by("-created_at").values_list("pk", flat=True)[kept : kept + 100])
        Analysis.objects.filter(pk__in=old).delete()


def is_cancelled(analysis: Analysis) -> bool:
    return not Analysis.objects.filter(pk=analysis.pk, status=Analysis.Status.RUNNING).exists()
