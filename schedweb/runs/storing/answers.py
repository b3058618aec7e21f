"""What extenders answered, as entries of the journal: stored before the engine hears of it, so it is asked once.

Whoever plays the run later, here or in a fork, reads the answer and calls nobody.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.db.models import Max

from schedweb.engine.commands import ExtenderAnswers, plain
from schedweb.runs.models import JournalEntry, Run

TYPE: Final = "extender_answers"


def entry_id(run: Run, position: int) -> UUID:
    """One answer to what was asked at a position, whichever worker asked; another one after it was set aside."""
    aside = JournalEntry.objects.filter(
        run=run, type=TYPE, command__asked=position, status=JournalEntry.Status.REFUSED
    ).count()
    return uuid5(run.pk, f"extenders at {position}, {aside}")


def answers_wait(run: Run, position: int) -> bool:
    """Whether the journal has them, so that nobody needs to be asked."""
    return JournalEntry.objects.filter(run=run, client_id=entry_id(run, position)).exists()


def store_answers(run: Run, command: ExtenderAnswers) -> None:
    """As a command that is pending. Another worker's answer to the same stays."""
    content = plain(command)
    while not answers_wait(run, command.asked):
        newest = JournalEntry.objects.filter(run=run).aggregate(newest=Max("number"))["newest"] or 0
        try:
            with transaction.atomic():
                JournalEntry.objects.create(
                    run=run,
                    number=newest + 1,
                    client_id=entry_id(run, command.asked),
                    type=content["type"],
                    command=content,
                    author_name=command.answers[0].extender[:150] if command.answers else "",
                )
        except IntegrityError:
            # A person's command took the number, or another worker's answer came first.
            continue
