"""What is stored of a run, as the first message to its engine: payload, configuration, checkpoint, journal since."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import msgspec
from django.conf import settings

from framework.sentences import SentenceError, sentence
from schedweb.engine.frames import Begin, Decided, Entry
from schedweb.engine.live import Scheduling
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Attempt, Checkpoint, Followed, JournalEntry, Run, RunBase

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
        elif row.position is not None and row.position >= position:
            entry = Entry(str(row.pk), row.position, row.clock or 0, row.author_name, row.command)
            # A pace is no operation, so it has the position of what follows it, which may have no number.
            ordered.append(((row.position, LAST if row.number is None else row.number), entry))
    return [entry for _, entry in sorted(ordered, key=lambda item: item[0])]


class NotKept(SentenceError):
    """A run cannot be played from there: what leads to it went, or only another version can read it."""


class Start(NamedTuple):
    """Where replay begins."""

    position: int
    digest: str
    machine: bytes | None
    """None: the snapshot."""


def begin_of(run: Run, position: int | None = None) -> Begin:
    """Up to where the run is stored, or to an earlier position: then with the digest if one is known there. Raises
    NotKept."""
    while True:
        base = base_of(run)
        begin = _begin_of(run, position, base)
        if base_of(run) == base:
            return begin
        # Its holder thinned it meanwhile, and entries after the older base may have been missing already.


def base_of(run: Run) -> int:
    """Where what is kept of the run begins, as it is stored."""
    return Run.every.values_list("base_position", flat=True).get(pk=run.pk)


def start_of(run: Run, until: int, base: int) -> Start:
    """The newest checkpoint that this version reads, or the base. Raises NotKept."""
    known = Checkpoint.objects.filter(
        run=run, engine_version=ENGINE_VERSION, position__gte=base, position__lte=until
    ).order_by("-position")
    checkpoint = known.first()
    if checkpoint is not None:
        return Start(checkpoint.position, checkpoint.digest, bytes(checkpoint.data))
    if base == 0:
        return Start(0, "", None)
    if until < base:
        raise NotKept(sentence("What led to step {position} went to make room.", position=until))
    stored = RunBase.objects.get(run=run)
    refuse_of_another_version(stored)
    return Start(base, stored.digest, bytes(stored.data))


def refuse_of_another_version(base: RunBase) -> None:
    """Raises NotKept."""
    if base.engine_version != ENGINE_VERSION:
        raise NotKept(
            sentence(
                "Its past went to make room, and what it goes on from was stored by version {version} of the engine, "
                "which version {own} cannot read. What is stored of it can be looked at.",
                version=base.engine_version,
                own=ENGINE_VERSION,
            )
        )


def _begin_of(run: Run, position: int | None, base: int) -> Begin:
    until = run.position if position is None else position
    start = start_of(run, until, base)
    digest = run.digest
    if until != run.position:
        digest = start.digest if start.position == until else ""
    return Begin(
        payload=bytes(run.snapshot.payload),
        configuration=run.first_configuration_version.text,
        seed=run.seed,
        ties=run.ties,
        approvals=run.approvals,
        clock=run.clock_mode,
        start=run.clock_start,
        speed=run.first_speed,
        journal=journal_since(run, start.position),
        position=until,
        digest=digest,
        # By a batch. `seq` counts what a worker said of a takeover, too, and a fork may begin with a digest.
        is_stored=run.counts != {},
        checkpoint=start.machine,
        checkpoint_seconds=settings.ENGINE_CHECKPOINT_SECONDS,
        inherited=run.parent_position or 0,
        inherited_digest=run.parent_digest,
        played_by=run.engine_version,
        shadow=not run.own_world and Followed.objects.filter(run=run, shadow=True).exists(),
        observing=run.began_observing,
        scheduling=None if run.scheduling is None else msgspec.convert(run.scheduling, Scheduling),
        own_world=run.own_world,
        decided=None if position is None or start.machine is not None else decided_before(run, position),
    )


def decided_before(run: Run, position: int) -> list[Decided] | None:
    """None of a run of this version, whose digests say it: those of other versions are worked out from other things."""
    if run.engine_version == ENGINE_VERSION:
        return None
    rows = Attempt.objects.filter(run=run, position__lte=position).order_by("number")
    return [
        Decided(row.number, row.pod_uid, row.node, row.position or 0) for row in rows.only(*Decided.__struct_fields__)
    ]
