"""Creating runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from schedweb.engine.times import nanoseconds
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Run
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.limits import refuse_over_limit, refuse_too_many
from schedweb.runs.playing.playable import playable_version
from schedweb.snapshots.selectors import snapshot_get

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
    found = snapshot_get(snapshot)
    version = playable_version(configuration_version)
    begin = nanoseconds(start or found.taken_at)
    if not paused:
        refuse_too_many(user.pk, user.get_username())

    def fill(run: Run) -> None:
        if not paused:
            command_insert(run=run, user=user, content={"type": "play"})

    return run_insert(
        fill,
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


def run_insert(fill: Callable[[Run], None], **facts: Any) -> Run:
    """A run with the next number, offered to a worker. ``fill`` adds to it in the same transaction."""
    refuse_over_limit(facts["started_by"].pk, facts["started_by_name"])
    for attempt in range(TRIES):
        try:
            with transaction.atomic():
                # No number is given twice, also not that of a deleted run.
                newest = Run.every.aggregate(newest=Max("number"))["newest"] or 0
                run = Run.objects.create(number=newest + 1, engine_version=ENGINE_VERSION, wanted=True, **facts)
                fill(run)
        except IntegrityError:
            # Two creations at once took one number.
            if attempt == TRIES - 1:
                raise
            continue
        run_dispatch(run.pk)
        return run
    raise AssertionError("the loop above returns or raises")
