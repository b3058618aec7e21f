"""What became of the engine itself: a line in the feed."""

from __future__ import annotations

import msgspec
from django.db import transaction
from django.utils import timezone

from framework.sentences import Sentence
from schedweb.engine.times import iso
from schedweb.runs.models import FeedItem, Run
from schedweb.runs.storing.batches import BatchWriter
from schedweb.runs.storing.lease import LeaseLost, mine


def store_notice(writer: BatchWriter, words: Sentence) -> None:
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
        # There already when the answer to an earlier try was lost.
        FeedItem.objects.get_or_create(
            run=run, number=number, defaults={"at": run.clock, "kind": "engine", "item": item}
        )
        updated = Run.objects.filter(mine(writer.lease)).update(seq=writer.seq + 1, worker_since=timezone.now())
        if not updated:
            raise LeaseLost(f"run {run.pk} has another holder")
    writer.feed_number, writer.seq = number, writer.seq + 1
