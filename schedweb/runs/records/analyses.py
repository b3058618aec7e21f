"""A question about a moment of a run: stored, given to a worker; a known answer is given at once."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import logging
from collections import Counter
from typing import Any, Final
from uuid import UUID

import msgspec
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.db.models.functions import Now
from django.utils import timezone
from kombu.exceptions import OperationalError

from framework.sentences import Content, sentence
from schedweb.api.errors import ApiError, TooMany, not_found
from schedweb.database.clock import database_now
from schedweb.engine.questions import MOMENT, AnyQuestion
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Analysis, Attempt, Run
from schedweb.runs.records.thinned import refuse_before_base
from schedweb.sentences import say
from schedweb.turns import LOOKED_AT, Waits, next_in_turn

log = logging.getLogger(__name__)
ANALYSE: Final = "runs.analyse"
#: How long a question may wait for a worker before it may be asked again.
PATIENCE: Final = datetime.timedelta(seconds=60)
ASK_AGAIN_SECONDS: Final = 5
KEPT_MOMENTS: Final = 40
KEPT_ANSWERS: Final = 200
OPEN: Final = (Analysis.Status.PENDING, Analysis.Status.RUNNING)


def checked_position(run: Run, position: int | None) -> int:
    """Where the run is when none is named. A position before what is kept or beyond the run is refused."""
    if position is None:
        position = run.position
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
    refuse_before_base(run, position)
    if position > 0 and counts_otherwise(run):
        raise ApiError(
            say(
                "Version {version} of the engine played {run} and counted its steps in another way: it can be read as "
                "it is stored, and a fork at step 0 plays it again.",
                version=run.engine_version,
                run=run,
            ),
            code="other_version",
            status_code=422,
            path="position",
        )
    return position


def refuse_too_many(asked_by: str) -> None:
    """Raises TooMany when that person has as many questions under way as one person may. What nobody asked is free."""
    most = settings.PER_PERSON["questions"]
    if asked_by and Analysis.objects.filter(being_answered(), asked_by=asked_by).count() > most:
        raise TooMany(
            say(
                "{most} questions of yours are being answered, which is the most. Ask again when one is answered, or "
                "cancel one.",
                most=most,
            ),
            code="too_many_questions",
            wait=ASK_AGAIN_SECONDS,
        )


def being_answered() -> Q:
    """Questions that wait for a worker or have one that is heard of."""
    return Q(status__in=OPEN, expires__gt=Now())


def next_question() -> UUID | None:
    """The one whose turn it is, of those that wait for a worker."""
    open_ = Analysis.objects.filter(being_answered()).order_by("created_at")
    waiting = open_.filter(status=Analysis.Status.PENDING).values_list("pk", "asked_by", "created_at")
    under_way = Counter(open_.filter(status=Analysis.Status.RUNNING).values_list("asked_by", flat=True))
    # Whoever takes a question up writes when it ends at the latest, and that stays.
    begun = Analysis.objects.exclude(status=Analysis.Status.PENDING).order_by().values_list("asked_by")
    last_turn = dict(begun.annotate(Max("expires")))
    return next_in_turn(itertools.starmap(Waits, waiting[:LOOKED_AT]), under_way, last_turn)


def questions_wait() -> None:
    """Says that there is a worker, whose places are all taken: those that wait are not lost."""
    waiting = Analysis.objects.filter(being_answered(), status=Analysis.Status.PENDING)
    waiting.update(expires=Now() + PATIENCE)


def counts_otherwise(run: Run) -> bool:
    """Versions before 6 did not store where an attempt ended, and had other operations."""
    return (
        run.engine_version != ENGINE_VERSION
        and Attempt.objects.filter(run=run, ended__isnull=False, position=None).exists()
    )


def analysis_ask(*, run: Run, asked_by: str, question: AnyQuestion, position: int) -> tuple[Analysis, bool]:
    """(the analysis, whether it is new). One that failed, was cancelled or lost its worker is begun again.

    Raises TooMany, for a question that is to be answered yet.
    """
    content: dict[str, Any] = msgspec.to_builtins(question)
    name = content.pop("question")
    digest = hashlib.sha256(msgspec.json.encode([ENGINE_VERSION, name, content], order="deterministic")).hexdigest()
    now = database_now()
    until = now + PATIENCE
    with transaction.atomic():
        found, is_new = Analysis.objects.select_for_update().get_or_create(
            run=run,
            position=position,
            key=digest,
            defaults={"name": name, "arguments": content, "asked_by": asked_by, "expires": until},
        )
        again = not is_new and (
            found.status in (Analysis.Status.FAILED, Analysis.Status.CANCELLED)
            or (found.status in OPEN and found.expires < now)
        )
        if again:
            found.status, found.error, found.expires = Analysis.Status.PENDING, "", until
            found.asked_by, found.created_at = asked_by, timezone.now()
            found.save(update_fields=["status", "error", "expires", "asked_by", "created_at"])
        if is_new or again:
            refuse_too_many(asked_by)
            transaction.on_commit(lambda: offer(found.pk))
    return found, is_new or again


def offer(analysis: UUID) -> None:
    """Has a worker look at what waits."""
    try:
        current_app.send_task(ANALYSE)
    except (OperationalError, OSError) as error:
        log.warning("analysis %s could not be given to a worker: %s", analysis, error)
        text = sentence("No worker can be reached now. Try again.")
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
    until = Now() + (datetime.timedelta(seconds=settings.ANALYSIS_SECONDS) + PATIENCE)
    claimed = Analysis.objects.filter(pk=analysis, status=Analysis.Status.PENDING).update(
        status=Analysis.Status.RUNNING, expires=until
    )
    if not claimed:
        return None
    return Analysis.objects.select_related("run__snapshot", "run__first_configuration_version").get(pk=analysis)


def hand_back(analysis: Analysis) -> None:
    """To whoever takes it next."""
    again = Analysis.objects.filter(pk=analysis.pk, status=Analysis.Status.RUNNING)
    if again.update(status=Analysis.Status.PENDING, expires=Now() + PATIENCE):
        offer(analysis.pk)


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
