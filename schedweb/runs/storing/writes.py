"""Writes to a real cluster: stored with the batch that decided them, then sent, then their outcomes.

Both are stored under the lease's epoch, so who lost the run can neither decide a write nor say what became of one. A
write without an outcome may have been sent: whoever plays the run next looks before it sends it (schedweb/worker/
writing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from schedweb.engine.commands import WriteOutcome, WriteOutcomes, plain
from schedweb.engine.live import WriteRow
from schedweb.engine.real_rows import OtherSchedulerRow
from schedweb.runs.models import ClusterWrite, Followed, JournalEntry, Run
from schedweb.runs.storing.lease import Lease, LeaseLost
from schedweb.runs.storing.statements import answer, append, count_writes, use
from schedweb.runs.storing.upserts import upsert
from schedweb.writes.writes import Write

COLUMNS: Final = ("run", "number", "purpose", "namespace", "name", "write", "is_awaited", "stored_at")
COUNTED_ONLY: Final = frozenset(("event", "series"))
"""Purposes that the figures of a run leave out."""


def store_writes(run_key: Any, rows: Sequence[WriteRow]) -> None:
    """In the transaction of their batch."""
    if not rows:
        return
    now = timezone.now()
    made = []
    for row in rows:
        text = msgspec.json.encode(row.write)
        about = row.write.about
        who = (row.write.purpose, about.namespace, about.name)
        made.append((run_key, row.number, *who, text.decode(), row.is_awaited, now))
    upsert(ClusterWrite, COLUMNS, ("run", "number"), made)


def store_other_schedulers(run_key: Any, rows: Sequence[OtherSchedulerRow] | None) -> None:
    """As ``store_writes``. None: as before."""
    if rows is not None:
        found = [msgspec.structs.asdict(row) for row in rows]
        Followed.objects.filter(run=run_key).update(other_schedulers=found)


def unanswered(run: Run) -> list[WriteRow]:
    """In their order: what may or may not have been sent."""
    rows = ClusterWrite.objects.filter(run=run, outcome__isnull=True).order_by("number")
    return [WriteRow(row.number, msgspec.convert(row.write, Write), row.is_awaited) for row in rows]


def store_outcomes(run: Run, lease: Lease, outcomes: Sequence[WriteOutcome]) -> None:
    """Of rows, and those that the run waits for as a command that is pending: no engine of ours hears them any more.
    Raises LeaseLost."""
    while True:
        try:
            with transaction.atomic():
                now = timezone.now()
                if not use(lease, now):
                    raise LeaseLost(f"run {run.pk} has another holder")
                awaited = store_answers(run, outcomes)
                if awaited and not JournalEntry.objects.filter(run=run, type="stop").exists():
                    content = plain(WriteOutcomes(tuple(awaited)))
                    append(
                        JournalEntry(
                            run=run,
                            type=content["type"],
                            command=content,
                            author_name=run.follows[:150],
                            created_at=now,
                        )
                    )
        except IntegrityError:
            continue  # a person's command took the number
        return


def store_answers(run: Run, outcomes: Sequence[WriteOutcome]) -> list[WriteOutcome]:
    """In a transaction of the run's holder: those that the run waits for, and that nobody stored before."""
    if not outcomes:
        return []
    now = timezone.now()
    numbers = [each.number for each in outcomes]
    rows = ClusterWrite.objects.filter(run=run, number__in=numbers, outcome__isnull=True)
    known = {
        number: (awaits, purpose) for number, awaits, purpose in rows.values_list("number", "is_awaited", "purpose")
    }
    awaited: list[WriteOutcome] = []
    made: list[tuple[int, str]] = []
    done = refused = 0
    for each in outcomes:
        if (row := known.pop(each.number, None)) is None:
            continue
        is_awaited, purpose = row
        made.append((each.number, msgspec.json.encode(each.outcome).decode()))
        if is_awaited:
            awaited.append(each)
        if purpose not in COUNTED_ONLY:
            done += each.outcome.is_done
            refused += not each.outcome.is_done
    answer(run.pk, made, now)
    if done or refused:
        count_writes(run.pk, done, refused)
    return awaited
