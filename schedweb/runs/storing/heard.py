"""What an engine does without a command, as entries of the journal: what it heard of a real cluster, and moves of its
clock. In the transaction of the batch that has what follows from it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid4

import msgspec
from django.utils import timezone

from schedweb.engine.real_rows import HeardRow
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.storing.statements import count_changes
from schedweb.runs.storing.stored import CLOCK
from schedweb.runs.storing.upserts import identifier, upsert

EMPTY: Final = ("reason", "text", "traceparent")
COLUMNS: Final = (
    *("id", "run", "client_id", "position", "clock", "type", "command", "created_at", "author_name", "status"),
    *EMPTY,
)


def store_heard(run: Run, rows: Sequence[HeardRow]) -> None:
    if not rows:
        return
    now = timezone.now()
    _store(run, [(row.id, row.position, row.clock, row.type, row.command) for row in rows], now, run.follows[:150])
    changes = sum(row.changes for row in rows)
    if changes:
        count_changes(run.pk, changes, now)


def store_moves(run: Run, moves: Sequence[tuple[int, int]]) -> None:
    """Of the clock, in one entry: (position, to when) in their order."""
    command = msgspec.json.encode({"type": CLOCK, "moves": moves}).decode()
    _store(run, [(str(uuid4()), moves[0][0], moves[-1][1], CLOCK, command)], timezone.now(), "")


def _store(run: Run, entries: Sequence[tuple[str, int, int, str, str]], now: datetime.datetime, author: str) -> None:
    """``entries``: id, position, clock, type and command, as JSON."""
    of_run, status = identifier(Run, run.pk), JournalEntry.Status.APPLIED.value
    made = []
    for id_, *facts in entries:
        key = identifier(JournalEntry, UUID(id_))
        made.append((key, of_run, key, *facts, now, author, status, *("" for _ in EMPTY)))
    upsert(JournalEntry, COLUMNS, ("id",), made)
