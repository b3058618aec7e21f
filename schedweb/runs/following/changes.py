"""What a followed cluster told, as entries of the journal: stored before the engine hears that it has a place.

Only who holds the run stores them. Those that were stored and not yet done when a worker ended are done first by the
next one, before it looks at what it lists itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from schedweb.engine.commands import ClusterChanges, ObservedChange, plain
from schedweb.runs.following.scheduling import Lacking, SchedulingState
from schedweb.runs.models import Followed, JournalEntry, Run
from schedweb.runs.storing.lease import Lease, LeaseLost
from schedweb.runs.storing.statements import append, count_changes, use

MOST: Final = 500
"""Changes in one entry."""


def store_changes(run: Run, lease: Lease, changes: Sequence[ObservedChange]) -> None:
    """As commands that are pending. Raises LeaseLost."""
    for first in range(0, len(changes), MOST):
        _store(run, lease, changes[first : first + MOST], uuid4())


def _store(run: Run, lease: Lease, changes: Sequence[ObservedChange], client_id: UUID) -> None:
    content = plain(ClusterChanges(time.time_ns(), tuple(changes)))
    while True:
        try:
            with transaction.atomic():
                now = timezone.now()
                if not use(lease, now):
                    raise LeaseLost(f"run {run.pk} has another holder")
                append(
                    JournalEntry(
                        run=run,
                        client_id=client_id,
                        type=str(content["type"]),
                        command=content,
                        author_name=run.follows[:150],
                        created_at=now,
                    )
                )
                count_changes(run.pk, len(changes), now)
        except IntegrityError:
            if JournalEntry.objects.filter(run=run, client_id=client_id).exists():
                return
            continue  # a person's command took the number
        return


def store_state(lease: Lease, encoded: str) -> None:
    held = Followed.objects.filter(run=lease.run, run__epoch=lease.epoch)
    held.update(state=encoded, state_at=timezone.now())


def store_scheduling(lease: Lease, encoded: str) -> None:
    Followed.objects.filter(run=lease.run, run__epoch=lease.epoch).update(scheduling=encoded)


def known_lacks(run: Run) -> tuple[Lacking, ...]:
    """What the holder before found missing; nothing where there was none, or one of another version."""
    encoded = Followed.objects.filter(run=run).values_list("scheduling", flat=True).first()
    try:
        return msgspec.json.decode(encoded, type=SchedulingState).lacks if encoded else ()
    except msgspec.DecodeError:
        return ()
