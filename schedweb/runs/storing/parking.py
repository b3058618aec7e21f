"""What becomes of a run whose engine does not live: a command that ends it is set aside, or the run is parked.

A parked run keeps its pending commands and takes further ones; nobody plays it until a person tries again
(schedweb/runs/playing/commands.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from django.db import transaction
from django.utils import timezone

from framework.sentences import Content, Sentence
from schedweb.engine.times import wall
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.storing.batches import BatchWriter
from schedweb.runs.storing.lease import Lease, LeaseLost, mine
from schedweb.runs.storing.stored import CLOCK


@dataclass(frozen=True)
class Seen:
    """What was seen of an engine that ended."""

    ended: Content = ""
    """By which signal, or with which exit status; "" where it told by itself why it cannot go on."""
    lines: str = ""
    """The last ones that it wrote to its standard error, or a traceback."""


def store_parked(lease: Lease, run: Run, why: Content, seen: Seen) -> bool:
    """False when somebody else holds the run; then nothing was stored."""
    facts = {
        "at": wall(timezone.now()),
        "state": run.state,
        "ended": msgspec.to_builtins(seen.ended) if isinstance(seen.ended, Sentence) else seen.ended,
        "lines": seen.lines,
    }
    return bool(
        Run.objects.filter(mine(lease)).update(
            state=Run.State.PARKED,
            error=why,
            parked=facts,
            wanted=False,
            lease_owner="",
            lease_expires=None,
            taking_over=False,
        )
    )


def entry_under_way(run: Run) -> JournalEntry | None:
    """The command that the journal has as applied and whose outcome is not stored: nothing that follows from it is
    stored either."""
    if not run.obeying:
        return None
    placed = JournalEntry.objects.filter(run=run, status=JournalEntry.Status.APPLIED, position=run.position)
    return placed.exclude(type=CLOCK).order_by("-number").first()


def set_aside(writer: BatchWriter, entry: JournalEntry, text: Content) -> None:
    """Refuses a command that is pending, or under way: it loses its place, so replay does without it.

    Raises LeaseLost; then nothing was stored.
    """
    with transaction.atomic():
        JournalEntry.objects.filter(pk=entry.pk).update(
            status=JournalEntry.Status.REFUSED, position=None, clock=None, text=text
        )
        if not Run.objects.filter(mine(writer.lease)).update(obeying=False):
            raise LeaseLost(f"run {writer.run.pk} has another holder")
    writer.obeying = False
