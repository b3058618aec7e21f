"""What became of the engine itself: a line in the feed, and the run's error when it cannot go on."""

from __future__ import annotations

import msgspec
from django.db import transaction
from django.utils import timezone

from framework.said import Content, Said, said
from schedweb.engine.shapes import UntranslatedOutcome
from schedweb.engine.times import iso
from schedweb.runs.models import FeedItem, Run
from schedweb.runs.storing.batches import BatchWriter, refuse_pending
from schedweb.runs.storing.lease import Lease, LeaseLost, mine


def store_notice(writer: BatchWriter, words: Said) -> None:
    """Raises LeaseLost; then nothing was stored."""
    run = writer.run
    number = writer.feed_number + 1
    item = {
        "id": number,
        "at": iso(run.clock),
        "kind": "engine",
        "state": None,
        "pods": [],
        "count": 1,
        "parts": msgspec.to_builtins(words),
        "highlight": True,
    }
    with transaction.atomic():
        updated = Run.objects.filter(mine(writer.lease)).update(seq=writer.seq + 1, worker_since=timezone.now())
        if not updated:
            raise LeaseLost(f"run {run.pk} has another holder")
        # There already when the answer to an earlier try was lost.
        FeedItem.objects.get_or_create(
            run=run, number=number, defaults={"at": run.clock, "kind": "engine", "item": item}
        )
    writer.feed_number, writer.seq = number, writer.seq + 1


def store_failure(lease: Lease, run: Run, text: Content, trace: str) -> list[UntranslatedOutcome] | None:
    """The commands that were pending. None when somebody else holds the run; then nothing was stored."""
    error = Said("{why}\n\n{trace}", {"why": text, "trace": trace}) if trace else text
    with transaction.atomic():
        updated = Run.objects.filter(mine(lease)).update(
            state=Run.State.FAILED, error=error, wanted=False, lease_owner="", lease_expires=None, taking_over=False
        )
        if not updated:
            return None
        return refuse_pending(run, said("{run} has failed and takes no commands: {why}", run=str(run), why=text))
