"""What is stored of a run, as the first message to its engine: payload, configuration, checkpoint, journal since."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from django.conf import settings

from schedweb.engine.frames import Begin, Decided, Entry
from schedweb.engine.live import Scheduling
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Attempt, Checkpoint, Followed, JournalEntry, Run

CLOCK = "clock"
LAST = sys.maxsize


def journal_since(run: Run, position: int) -> list[Entry]:
    """Entries with a place, in the order of their places; the moves of a real clock one by one."""
    rows = JournalEntry.objects.filter(run=run, position__isnull=False).order_by("position", "number")
    ordered: list[tuple[tuple[int, int], Entry]] = []
    for row in rows.iterator():
        if row.type == CLOCK:
            for at, to in row.command["moves"]:
                if at >= position:
                    command: dict[str, Any] = {"type": CLOCK, "to": to}
                    # At one position a command comes before the clock's move, which makes another position.
                    ordered.append(((at, LAST), Entry("", at, to, "", command)))
        elif row.position is not None and row.number is not None and row.position >= position:
            entry = Entry(str(row.pk), row.position, row.clock or 0, row.author_name, row.command)
            ordered.append(((row.position, row.number), entry))
    return [entry for _, entry in sorted(ordered, key=lambda item: item[0])]


def begin_of(run: Run, position: int | None = None) -> Begin:
    """Up to where the run is stored, or to an earlier position: then with the digest if one is known there."""
    until = run.position if position is None else position
    checkpoint = (
        Checkpoint.objects.filter(run=run, engine_version=ENGINE_VERSION, position__lte=until)
        .order_by("-position")
        .first()
    )
    digest = run.digest
    if until != run.position:
        digest = checkpoint.digest if checkpoint is not None and checkpoint.position == until else ""
    return Begin(
        payload=bytes(run.snapshot.payload),
        configuration=run.first_configuration_version.text,
        seed=run.seed,
        ties=run.ties,
        approvals=run.approvals,
        clock=run.clock_mode,
        start=run.clock_start,
        speed=run.first_speed,
        journal=journal_since(run, checkpoint.position if checkpoint else 0),
        position=until,
        digest=digest,
        is_stored=run.seq > 0,
        checkpoint=None if checkpoint is None else bytes(checkpoint.data),
        checkpoint_seconds=settings.ENGINE_CHECKPOINT_SECONDS,
        inherited=run.parent_position or 0,
        inherited_digest=run.parent_digest,
        played_by=run.engine_version,
        shadow=not run.own_world and Followed.objects.filter(run=run, shadow=True).exists(),
        observing=run.began_observing,
        scheduling=None if run.scheduling is None else msgspec.convert(run.scheduling, Scheduling),
        own_world=run.own_world,
        decided=None if position is None or checkpoint is not None else decided_before(run, position),
    )


def decided_before(run: Run, position: int) -> list[Decided] | None:
    """None of a run of this version, whose digests say it: those of other versions are worked out from other things."""
    if run.engine_version == ENGINE_VERSION:
        return None
    rows = Attempt.objects.filter(run=run, position__lte=position).order_by("number")
    return [
        Decided(row.number, row.pod_uid, row.node, row.position or 0) for row in rows.only(*Decided.__struct_fields__)
    ]
