"""What became of the engine itself: told in the feed, and as the run's error when it cannot go on."""

from __future__ import annotations

import msgspec
from django.db import transaction
from django.utils import timezone

from framework.said import Content, Said, said
from schedweb.engine.times import iso
from schedweb.runs import messages
from schedweb.runs.models import FeedItem, Run
from schedweb.runs.publisher import EVERYONE, PUBLISHER, run_group
from schedweb.runs.services.batches import BatchWriter, refuse_pending
from schedweb.runs.services.lease import Lease, LeaseLost, mine


def engine_notice(writer: BatchWriter, words: Said) -> None:
    """A line in the feed. Browsers fetch the board: no difference between two batches tells of it."""
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
        FeedItem.objects.create(run=run, number=number, at=run.clock, kind="engine", item=item)
    writer.feed_number, writer.seq = number, writer.seq + 1
    PUBLISHER.publish(run_group(run.pk), messages.RunResync(run=str(run.pk)))


def run_failed(lease: Lease, run: Run, text: Content, trace: str) -> None:
    error = Said("{why}\n\n{trace}", {"why": text, "trace": trace}) if trace else text
    with transaction.atomic():
        updated = Run.objects.filter(mine(lease)).update(
            state=Run.State.FAILED, error=error, wanted=False, lease_owner="", lease_expires=None, taking_over=False
        )
        if updated:
            refuse_pending(run, said("{run} has failed and takes no commands: {why}", run=str(run), why=text))
    if updated:
        PUBLISHER.publish(run_group(run.pk), messages.RunResync(run=str(run.pk)))
        PUBLISHER.publish(EVERYONE, messages.RunsChanged(run=str(run.pk)))
