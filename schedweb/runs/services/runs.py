"""Creating and deleting runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from schedweb.api.errors import conflict, not_found
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Run
from schedweb.runs.services.commands import command_insert
from schedweb.runs.services.dispatch import run_dispatch
from schedweb.runs.services.playable import playable_version
from schedweb.runs.times import nanoseconds
from schedweb.sentences import say
from schedweb.snapshots.models import Snapshot

TRIES = 5


def run_create(
    *,
    user: Any,
    snapshot: UUID,
    configuration_version: UUID,
    seed: int = 0,
    clock: str = "virtual",
    speed: str = "10",
    approvals: str = "hold",
    ties: str = "seeded",
    paused: bool = True,
    start: datetime.datetime | None = None,
) -> Run:
    found = Snapshot.objects.defer("payload").filter(pk=snapshot).first()
    if found is None:
        raise not_found(say("There is no such snapshot."))
    version = playable_version(configuration_version)
    begin = nanoseconds(start or found.taken_at)

    def begun(run: Run) -> None:
        if not paused:
            command_insert(run=run, user=user, content={"type": "play"})

    return run_insert(
        begun,
        snapshot=found,
        configuration_version=version,
        first_configuration_version=version,
        started_by=user,
        started_by_name=user.get_username(),
        seed=seed,
        ties=ties,
        approvals=approvals,
        clock_mode=clock,
        clock_start=begin,
        clock=begin,
        speed=speed,
        first_speed=speed,
    )


def run_insert(begun: Callable[[Run], None], **facts: Any) -> Run:
    """A run with the next number, offered to a worker. `begun` adds to it in the same transaction."""
    for attempt in range(TRIES):
        try:
            with transaction.atomic():
                newest = Run.objects.aggregate(newest=Max("number"))["newest"] or 0
                run = Run.objects.create(number=newest + 1, engine_version=ENGINE_VERSION, wanted=True, **facts)
                begun(run)
        except IntegrityError:
            # Two creations at once took one number.
            if attempt == TRIES - 1:
                raise
            continue
        run_dispatch(run.pk)
        return run
    raise AssertionError("the loop above returns or raises")


def run_delete(*, run: Run) -> None:
    """A run that a worker holds has to be stopped first, so that nothing is written into nothing."""
    if run.state in (Run.State.PLAYING, Run.State.WAITING_FOR_PERSON):
        raise conflict(say("{run} is playing. Stop it before deleting it.", run=run), code="playing")
    with transaction.atomic():
        # A new epoch keeps a worker that still holds the lease from writing.
        Run.objects.filter(pk=run.pk).update(epoch=run.epoch + 1, wanted=False)
        run.delete()
