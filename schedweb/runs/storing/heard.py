"""What an engine heard of a real cluster, as entries of the journal that are done: in the transaction of the batch that
has what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.utils import timezone

from schedweb.engine.real_rows import HeardRow
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.storing.statements import count_changes
from schedweb.runs.storing.upserts import identifier, upsert

EMPTY: Final = ("reason", "text", "traceparent")
COLUMNS: Final = (
    *("id", "run", "client_id", "position", "clock", "type", "command", "created_at", "author_name", "status"),
    *EMPTY,
)


def store_heard(run: Run, rows: Sequence[HeardRow]) -> None:
    if not rows:
        return
    now, of_run = timezone.now(), identifier(Run, run.pk)
    status = JournalEntry.Status.APPLIED.value
    made = []
    for row in rows:
        key = identifier(JournalEntry, UUID(row.id))
        place = (row.position, row.clock, row.type, row.command)
        made.append((key, of_run, key, *place, now, run.follows[:150], status, *("" for _ in EMPTY)))
    upsert(JournalEntry, COLUMNS, ("id",), made)
    changes = sum(row.changes for row in rows)
    if changes:
        count_changes(run.pk, changes, now)
