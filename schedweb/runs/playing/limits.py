"""How many runs of one person may play at once, and how much is kept of all of them."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, Sum

from schedweb.api.errors import TooMany, conflict
from schedweb.runs.models import JournalEntry, Run
from schedweb.sentences import amount, say


def refuse_too_many(person: int | None, name: str) -> None:
    """Raises TooMany when that account has as many runs playing, or about to, as one person may. ``name``: theirs."""
    most = settings.PER_PERSON["runs"]
    told_to_play = JournalEntry.objects.filter(run=OuterRef("pk"), type="play", status=JournalEntry.Status.PENDING)
    about_to = ~Q(state__in=Run.AT_REST) & Exists(told_to_play)
    if Run.objects.filter(Q(state=Run.State.PLAYING) | about_to, started_by=person).count() >= most:
        raise TooMany(
            say(
                "{most} runs of {name} play already, which is the most. Pause or stop one of them, then play this one.",
                most=most,
                name=name,
            ),
            code="too_many_runs",
        )


def stored_by(person: int | None) -> int:
    """Bytes of all runs that this account started, also of those under Recently deleted."""
    return Run.every.filter(started_by=person).aggregate(bytes=Sum("stored_bytes"))["bytes"] or 0


def refuse_over_limit(person: int | None, name: str) -> None:
    """Raises an ApiError when the runs of that account use as much as is kept per person."""
    most = settings.KEEP_PER_PERSON_BYTES
    if not most or (used := stored_by(person)) < most:
        return
    raise conflict(
        say(
            "The runs of {name} use {used}, and {most} is the most that is kept of one person. Delete some of them, "
            "and remove them for good under Recently deleted, before you start another.",
            name=name,
            used=amount(used),
            most=amount(most),
        ),
        code="too_much_stored",
    )
